package agent

import (
	"context"
	"errors"
	"fmt"

	"hermes/core/chat"
	"hermes/core/event"
)

// Summariser is another program that sums conversations up in the model's place. What it may
// replace is the words of a summary: where a conversation is cut, and what the person said in it,
// stays ours.
type Summariser struct {
	Name string
	Sum  func(ctx context.Context, task SummaryTask) (string, error)
}

// SummaryTask is what is to be summed up.
type SummaryTask struct {
	Session  string
	Messages []chat.Message
	Focus    string // what must not get lost; may be empty
	Tokens   int    // that the summary should have at most
}

// askEngine is the summary of another program. When it has none to give, the model is asked: "".
func (t *turn) askEngine(old []chat.Message, focus string) string {
	if t.a.d.Engine == nil {
		return ""
	}
	engine := t.a.d.Engine()
	if engine == nil {
		return ""
	}
	window, _ := t.contextWindow()
	most := mostOfSummary(old, window)
	text, err := engine.Sum(t.ctx, SummaryTask{t.w.uid, old, focus, most})
	switch n := countTokens(text); {
	case t.ctx.Err() != nil:
		return ""
	case err == nil && text == "":
		err = errors.New("it said nothing")
	case err == nil && n > 2*most:
		err = fmt.Errorf("it wrote %d tokens, more than a summary of this conversation may have", n)
	}
	if err != nil {
		t.w.publish(event.Notice{
			Level: event.Warn, Text: "The context engine " + engine.Name + " gave no summary (" + err.Error() + "); the model is asked for it.",
			Hint: "`hermes plugins logs " + engine.Name + "` shows what it said",
		})
		return ""
	}
	why := "the plugin " + engine.Name + " has summed the conversation up"
	t.noteForeignText(why)
	t.w.strange.CompareAndSwap(nil, &why)
	t.a.d.Log.Info("the context engine summed up", "session", t.w.uid, "plugin", engine.Name, "messages", len(old), "tokens", countTokens(text))
	t.summer = engine.Name
	return text
}
