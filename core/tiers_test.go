package core

import (
	"context"
	"strings"
	"testing"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/provider/modeltest"
	"hermes/core/tier"
)

func TestTierModel(t *testing.T) {
	m := config.ModelTiers{Small: "s", Standard: "n", Strong: "g", Code: "c"}
	for _, c := range []struct {
		e    tier.Estimate
		want string
	}{
		{tier.Estimate{Complexity: 0.29}, "s"},
		{tier.Estimate{Complexity: 0.3}, "n"},
		{tier.Estimate{Complexity: 0.69}, "n"},
		{tier.Estimate{Complexity: 0.7}, "g"},
		{tier.Estimate{Complexity: 0.1, Code: true}, "c"},
	} {
		if _, got := TierModel(m, c.e); got != c.want {
			t.Errorf("%+v: %s, want %s", c.e, got, c.want)
		}
	}
	m.Code = ""
	if name, got := TierModel(m, tier.Estimate{Complexity: 0.8, Code: true}); got != "g" || name != tier.Strong {
		t.Errorf("code without a model of its own: %s %s", name, got)
	}
}

// A new session begins with the model that is enough for its first request, says so, and keeps it;
// a model that the person chose stays, and so does everything while the setting is off.
func TestTiersChooseTheFirstModel(t *testing.T) {
	main := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Sure."}}, Loop: true})
	servers := map[string]*modeltest.Server{"main": main}
	const names = "small: main/little, standard: main/usual, strong: main/great, code: main/coder"
	model := func(x *program, uid string) string {
		info, err := x.Sessions.Get(context.Background(), uid)
		if err != nil {
			t.Fatal(err)
		}
		return info.Provider + "/" + info.Model
	}
	x := aided(t, "model_tiers: {enabled: true, "+names+"}\n", servers).openWith("")
	x.talk("a", "what is the time?")
	x.talk("a", "fix the bug in parse.go")
	x.talk("b", "fix the bug in parse.go")
	if err := x.Ensure(context.Background(), "c"); err != nil {
		t.Fatal(err)
	}
	if err := x.SetModel(context.Background(), "c", "main/mine"); err != nil {
		t.Fatal(err)
	}
	x.talk("c", "what is the time?")
	for uid, want := range map[string]string{"a": "main/little", "b": "main/coder", "c": "main/mine"} {
		if got := model(x, uid); got != want {
			t.Errorf("%s: %s, want %s", uid, got, want)
		}
	}
	var asked []string
	for _, q := range main.Requests() {
		asked = append(asked, q.Model)
	}
	if got := strings.Join(asked, " "); got != "little little coder mine" {
		t.Errorf("asked %s", got)
	}
	said := ""
	for _, e := range x.box.Drain() {
		if n, ok := e.Event.(event.Notice); ok {
			said += n.Text
		}
	}
	if !strings.Contains(said, "small model main/little (complexity 0") {
		t.Errorf("said %q", said)
	}
	x.close()
	x = aided(t, "model_tiers: {"+names+"}\n", servers).openWith("")
	x.talk("a", "what is the time?")
	if got := model(x, "a"); got != "main/m" {
		t.Errorf("off: %s", got)
	}
	x.close()
	x = aided(t, "model_tiers: {enabled: true, "+names+"}\n", servers).openWith("main/flag")
	defer x.close()
	x.talk("a", "what is the time?")
	if got := model(x, "a"); got != "main/flag" {
		t.Errorf("with --model: %s", got)
	}
}
