package agent

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/provider"
)

const (
	// assumedWindow is the context window, in tokens, of a model that nobody knows one of.
	assumedWindow = 128_000
	smallWindow   = 128_000 // below it a summary comes a little earlier

	summaryShare, smallSummaryShare = 0.8, 0.75 // of the window, when the settings name no share
	hardShare                       = 0.95      // of the window: what is older than that leaves goes, worth it or not
	reserveTokens                   = 16_000    // of a window for the answer, at most a quarter of it
)

// contextWindow is the context window of the turn's model: what it is said to be, unless its server
// said less.
func (t *turn) contextWindow() (tokens int, known bool) {
	if n := t.a.Window(t.modelRef(), t.model.Window); n > 0 {
		return n, true
	}
	return assumedWindow, false
}

// Window is the context window of a model, "provider/model": what it is said to be, unless its
// server said less, or said it where nobody else did; 0: not known.
func (a *Agent) Window(ref string, said int) int {
	if n, ok := a.windows.Load(ref); ok && (said <= 0 || n.(int) < said) {
		return n.(int)
	}
	return max(said, 0)
}

func (t *turn) modelRef() string { return t.via.Name() + "/" + t.model.ID }

// learnWindow takes the window from an overflow error that names it.
func (t *turn) learnWindow(failed *provider.Error) {
	if old, known := t.contextWindow(); failed.Window > 0 && (!known || failed.Window < old) {
		t.a.windows.Store(t.modelRef(), failed.Window)
		t.a.d.Log.Info("a server told its context window", "model", t.modelRef(), "tokens", failed.Window)
	}
}

// askTime bounds how long a server may take to list its models.
const askTime = 5 * time.Second

// askWindow has a server list its models when nobody knows the window of the turn's: once, beside
// the answer. What it tells counts from then on.
func (t *turn) askWindow() {
	ref, via, id := t.modelRef(), t.via, t.model.ID
	if _, known := t.contextWindow(); known || via.Name() == provider.Offline {
		return
	}
	if _, asked := t.a.asked.LoadOrStore(ref, true); asked {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(t.ctx), askTime)
	if !t.a.beginAsk(stop) {
		stop()
		return
	}
	crash.Go("window of "+ref, func() {
		defer t.a.asks.Done()
		defer stop()
		list, err := via.Models(ctx)
		if err != nil {
			t.a.d.Log.Info("a server did not list its models", "model", ref, "err", err)
			return
		}
		for _, m := range list {
			if m.ID != id || m.Window <= 0 {
				continue
			}
			if _, told := t.a.windows.LoadOrStore(ref, m.Window); !told {
				t.publish(event.ModelChanged{Provider: via.Name(), Model: id, Window: m.Window})
			}
		}
	})
}

// beginAsk notes what stops an ask when the agent closes; false when it is closed.
func (a *Agent) beginAsk(stop context.CancelFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.asks.Add(1)
	a.stopAsks = append(a.stopAsks, stop)
	return true
}

// limits are the tokens of a call from which on old results are shortened, older messages are
// summed up, and whatever is oldest goes.
type limits struct{ prune, sum, hard int }

func (t *turn) windowLimits() limits {
	w, known := t.contextWindow()
	l := limits{hard: int(hardShare * float64(w)), sum: int(t.settings.CompressAt * float64(w))}
	if t.settings.CompressAt <= 0 {
		share := summaryShare
		if w < smallWindow {
			share = smallSummaryShare
		}
		reserve := min(max(min(reserveTokens, w/4), t.settings.MaxTokens), w/2)
		l.sum = min(int(share*float64(w)), w-reserve)
	}
	l.prune, l.hard = l.sum*7/8, max(l.sum, l.hard)
	if !known && t.requestTokens() > w/2 {
		t.sayOnce(fmt.Sprintf("The context window of %s is not known: %d tokens are assumed.", t.modelRef(), w),
			"set its context_length in the settings (model, or providers) when it is another one")
	}
	return l
}

// sayOnce tells a person something once a session.
func (t *turn) sayOnce(text, hint string) {
	if _, told := t.w.warned.LoadOrStore(text, true); !told {
		t.publish(event.Notice{Level: event.Info, Text: text, Hint: hint})
	}
}

// requestTokens is the tokens of the next model call: what the provider counted at the last one,
// and an estimate of what came since. Some servers count only what they had not kept from the call
// before: a third of our estimate is the least.
func (t *turn) requestTokens() int {
	return max(t.countedTokens(), t.measureRequest()/3)
}

func (t *turn) countedTokens() int {
	for i := len(t.history) - 1; i >= 0; i-- {
		m := t.history[i]
		if m.ID < t.history[0].ID {
			break // older than the summary before it: counted with what that replaced
		}
		if m.Role == chat.RoleAssistant && m.Usage.Input > 0 {
			return m.Usage.Input + m.Usage.Output + estimateTokens(t.history[i+1:])
		}
	}
	return t.measureRequest()
}

// measureRequest estimates the tokens of the next model call, whatever the provider counted.
func (t *turn) measureRequest() int {
	n := countTokens(t.system)
	for _, s := range t.specs {
		n += countTokens(s.Name) + countTokens(s.Description) + len(s.Schema)/4
	}
	return n + estimateTokens(t.shownHistory())
}

// estimateTokens counts tokens, envelopes and reasoning included.
func estimateTokens(messages []chat.Message) int {
	n := 0
	for _, m := range messages {
		n += envelopeTokens + countTokens(m.Text) + countTokens(m.Reasoning)
		for _, c := range m.Calls {
			n += envelopeTokens + countTokens(c.Name) + countTokens(string(c.Args)) + countTokens(c.Invalid)
		}
		m.EachPart(func(p *chat.Part) { n += p.Tokens() })
		if m.Result != nil {
			n += countTokens(m.Result.Text)
		}
	}
	return n
}

// countTokens counts about what a text costs: a token for four bytes of ASCII, and for each Chinese
// or Japanese character.
func countTokens(s string) int {
	quarters := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			quarters++
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		quarters += min(4, 2*size-2) // two bytes: half a token
		i += size
	}
	return (quarters + 3) / 4
}
