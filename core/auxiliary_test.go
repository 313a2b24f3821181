package core

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/provider/modeltest"
	"hermes/core/testwait"
)

// aided is a place whose settings name servers beside the conversation's.
func aided(t *testing.T, more string, servers map[string]*modeltest.Server) place {
	t.Helper()
	p := newPlace(t)
	text := "model: main/m\nproviders:\n"
	for name, s := range servers {
		text += fmt.Sprintf("  %s: {base_url: %q}\n", name, s.URL)
	}
	p.write(text + more)
	return p
}

func (p place) openWith(model string) *program {
	return p.open(func(o *Options) {
		o.Config, _ = config.Load(config.Options{Home: p.home, Env: []string{"HOME=" + p.home}})
		o.Reload, o.Model = nil, model
	})
}

func (x *program) talk(uid, text string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := x.Submit(ctx, uid, agent.Input{From: chat.Person(), Text: text}); err != nil {
		x.t.Fatal(err)
	}
	if err := x.Wait(ctx, uid); err != nil {
		x.t.Fatal(err)
	}
	x.titles.work.Wait()
}

// A session is named by the model for titles, by its first prompt only; an equal prompt is not
// asked about again within an hour.
func TestTitlesByTheAuxiliaryModel(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	titles := modeltest.NewScript(t, modeltest.Script{
		Turns: []modeltest.Turn{{Text: "\n\"Mending the **gate**\".\nIgnore me", Usage: &modeltest.Usage{Input: 9, Output: 4}}}, Loop: true,
	})
	down := modeltest.NewScript(t, modeltest.Script{})
	p := aided(t, "auxiliary: {title: {model: down/x, fallback: [titles/t]}}\n", map[string]*modeltest.Server{"main": main, "titles": titles, "down": down})
	x := p.openWith("")
	defer x.close()
	x.talk("a", "please mend the gate")
	info, err := x.Sessions.Get(context.Background(), "a")
	if err != nil || info.Title != "Mending the gate" {
		t.Errorf("%q %v", info.Title, err)
	}
	if info.Usage.Input < 9 || len(down.Requests()) == 0 {
		t.Errorf("%+v, %d requests to the first", info.Usage, len(down.Requests()))
	}
	if q := titles.Requests()[0]; strings.Contains(string(q.Body), `"tools"`) || !strings.Contains(string(q.Body), "mend the gate") {
		t.Errorf("%s", q.Body)
	}
	x.talk("a", "and the door")
	x.talk("b", "please mend the gate")
	if info, _ = x.Sessions.Get(context.Background(), "b"); info.Title != "Mending the gate" || len(titles.Requests()) != 1 {
		t.Errorf("%q after %d requests", info.Title, len(titles.Requests()))
	}
	x.answers.now = func() time.Time { return time.Now().Add(answerTime) }
	x.talk("c", "please mend the gate")
	if len(titles.Requests()) != 2 {
		t.Errorf("an answer of an hour ago still counts: %d requests", len(titles.Requests()))
	}
	if err := x.Sessions.Rename(context.Background(), "d", "mine"); err == nil {
		t.Error("a session that is not there was named")
	}
}

// Without a model for titles nobody is asked, and what is no words for a model is not sent to one.
func TestNoTitleWithoutAModel(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	titles := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "T"}}, Loop: true})
	servers := map[string]*modeltest.Server{"main": main, "titles": titles}
	x := aided(t, "", servers).openWith("")
	x.talk("a", "mend the gate")
	x.close()
	if n := len(main.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	x = aided(t, "auxiliary: {title: {model: titles/t}}\n", servers).openWith("")
	defer x.close()
	x.titles.beginNaming("b", chat.Person(), "$ cat secrets")
	x.titles.beginNaming("b", chat.Author{Kind: "peer"}, "hello")
	x.titles.work.Wait()
	if n := len(titles.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// A verdict comes from the model for approvals, else from the session's own; it is never kept.
func TestTheModelForApprovals(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "own"}}, Loop: true})
	judges := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "yes"}, {Text: "no"}, {Status: 401, Message: "no key"}}})
	x := aided(t, "auxiliary: {approval: {provider: judges, model: j}}\n", map[string]*modeltest.Server{"main": main, "judges": judges}).openWith("")
	defer x.close()
	if err := x.Ensure(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"yes", "no", "own"} {
		if said, err := (approvalModel{x.App}).Answer(context.Background(), "a", "judge", "rm x"); err != nil || said != want {
			t.Errorf("%q %v, want %q", said, err, want)
		}
	}
}

// A verdict survives what a turn survives: a connection that breaks, a server that is down, and in
// the end the session's model and its fallbacks.
func TestAVerdictSurvivesFaults(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Status: 402, Message: "no credit"}}, Loop: true})
	spare := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "spare"}}, Loop: true})
	judges := modeltest.New(t, modeltest.Turn{Text: "one two three four", Fault: modeltest.FaultCutRST, After: 2}, modeltest.Turn{Text: "yes"})
	more := "auxiliary: {approval: {provider: judges, model: j}}\nfallback_providers: [spare/s]\n"
	x := aided(t, more, map[string]*modeltest.Server{"main": main, "judges": judges, "spare": spare}).openWith("")
	defer x.close()
	if err := x.Ensure(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"yes", "spare"} {
		if said, err := (approvalModel{x.App}).Answer(context.Background(), "a", "judge", "rm x"); err != nil || said != want {
			t.Errorf("%q %v, want %q", said, err, want)
		}
	}
	if n := len(main.Requests()); n != 1 {
		t.Errorf("the session's own was asked %d times", n)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	var a answers
	for i := range maxAnswers + 50 {
		a.keepAnswer([32]byte{byte(i), byte(i >> 8)}, "x")
	}
	if len(a.kept) > maxAnswers {
		t.Errorf("%d answers are kept", len(a.kept))
	}
	a.now = func() time.Time { return time.Now().Add(2 * answerTime) }
	if a.keepAnswer([32]byte{1, 2, 3}, "y"); len(a.kept) != 1 {
		t.Errorf("%d answers, though all but one are old", len(a.kept))
	}
}

func TestCleanTitle(t *testing.T) {
	for said, want := range map[string]string{
		"Fix the gate.": "Fix the gate", "\n\n# Title: The gate\nmore": "The gate", "«Tor»": "Tor", "": "", "\"\"\n": "", "修理大门": "修理大门",
	} {
		if got := cleanTitle(said); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}

// The next model that sees is asked when one fails.
func TestVisionHasFallbacks(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	down := modeltest.NewScript(t, modeltest.Script{})
	eyes := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "A gate."}}, Loop: true})
	servers := map[string]*modeltest.Server{"main": main, "down": down, "eyes": eyes}
	x := aided(t, "auxiliary: {vision: {model: down/x, fallback: [eyes/e]}}\n", servers).openWith("")
	defer x.close()
	if err := x.Ensure(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	p := chat.Part{Kind: chat.PartImage, Name: "x.png", Media: "image/png", Data: []byte("\x89PNG")}
	said, model, err := x.askSeeingModel(context.Background(), "a", p, "what is it?")
	if said != "A gate." || model != "eyes/e" || err != nil || len(down.Requests()) == 0 {
		t.Errorf("%q of %s, %v", said, model, err)
	}
}
