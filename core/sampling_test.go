package core

import (
	"strings"
	"testing"
	"time"

	"hermes/core/event"
	"hermes/core/mcp"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
)

// A server's question for the model goes to the person first, once or for the conversation, and
// nowhere when nobody sits there.
func TestAServerAsksTheModel(t *testing.T) {
	model := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "4", Usage: &modeltest.Usage{Input: 9, Output: 4}}}, Loop: true})
	x := aided(t, "", map[string]*modeltest.Server{"main": model}).openWith("")
	defer x.close()
	info, err := x.Sessions.Create(t.Context(), session.NewSession{Source: "tui", Cwd: t.TempDir(), Provider: "main", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	q := mcp.Sample{Server: "srv", Session: info.UID, System: "Be short.", Text: strings.Repeat("What is 2+2? ", 1000), MaxTokens: 500, Limit: 10 * time.Second}
	ask := func(answer string) (shown string, got mcp.Sampled, err error) {
		box := x.Bus.Subscribe(event.Limits{})
		defer box.Close()
		type outcome struct {
			got mcp.Sampled
			err error
		}
		done := make(chan outcome, 1)
		go func() {
			got, err := x.sampleForServer(t.Context(), q)
			done <- outcome{got, err}
		}()
		for {
			select {
			case o := <-done:
				return shown, o.got, o.err
			case <-box.Ready():
			}
			for _, e := range box.Drain() {
				if asked, ok := e.Event.(event.QuestionAsked); ok {
					if shown = asked.Text; asked.Server != "srv" {
						t.Errorf("the question is said to be of %q", asked.Server)
					}
					if err := x.AnswerQuestion(asked.ID, answer); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	if shown, got, err := ask(sayNo); err == nil || !strings.Contains(shown, "srv wants your model to answer") || len(shown) > 2*shownOfAsk {
		t.Errorf("%+v %v %q", got, err, shown)
	}
	for i, answer := range []string{sampleOnce, sampleHere, ""} {
		shown, got, err := ask(answer)
		if err != nil || got.Text != "4" || got.Model != "main/m" || (shown == "") != (i == 2) {
			t.Errorf("%q: %+v %v %q", answer, got, err, shown)
		}
	}
	if body := string(model.Requests()[0].Body); strings.Contains(body, `"tools"`) || !strings.Contains(body, "Be short.") {
		t.Error(body[:200])
	}
	if info, err := x.Sessions.Get(t.Context(), info.UID); err != nil || info.Usage.Input != 27 {
		t.Errorf("it was not counted: %+v %v", info.Usage, err)
	}
	for _, p := range x.parts {
		p.Forget(info.UID)
	}
	if err := x.OpenWith(info.UID, session.Config{Source: "run", Unattended: true}); err != nil {
		t.Fatal(err)
	}
	if shown, got, err := ask(""); err == nil || shown != "" {
		t.Errorf("nobody was there: %+v %v", got, err)
	}
}

// A question of a server says whose it is, so that a screen does not show it as the agent's.
func TestAServersQuestionNamesTheServer(t *testing.T) {
	model := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "4"}}, Loop: true})
	x := aided(t, "", map[string]*modeltest.Server{"main": model}).openWith("")
	defer x.close()
	info, err := x.Sessions.Create(t.Context(), session.NewSession{Source: "tui", Cwd: t.TempDir(), Provider: "main", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	box := x.Bus.Subscribe(event.Limits{})
	defer box.Close()
	done := make(chan mcp.Answer, 1)
	go func() {
		a, err := x.askForServer(t.Context(), mcp.Question{Server: "srv", Session: info.UID, Text: "Sure?"})
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	for {
		select {
		case a := <-done:
			if a.Action != "accept" {
				t.Errorf("%+v", a)
			}
			return
		case <-box.Ready():
		}
		for _, e := range box.Drain() {
			asked, ok := e.Event.(event.QuestionAsked)
			if !ok {
				continue
			}
			if asked.Server != "srv" {
				t.Errorf("the question is said to be of %q", asked.Server)
			}
			if err := x.AnswerQuestion(asked.ID, "yes"); err != nil {
				t.Error(err)
			}
		}
	}
}
