package ui_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest"

	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestKeyProblemsNameTheActionThatWasMeant(t *testing.T) {
	pane := []ui.Action{{ID: "session.fork", Keys: []string{"f"}}, {ID: "session.find", Keys: []string{"/"}}}
	changed := map[string][]string{"session.frok": {"x"}, "session.find": {"f"}, "palette": {"ctrl+k"}}
	unknown, conflicts := ui.KeyProblems(changed, ui.FrameActions(), pane)
	if want := []string{`keys: there is no action "session.frok", did you mean "session.fork"?`}; !slices.Equal(unknown, want) {
		t.Errorf("unknown: %q", unknown)
	}
	if want := []string{`keys: "f" is on both session.fork and session.find; session.fork wins`}; !slices.Equal(conflicts, want) {
		t.Errorf("conflicts: %q", conflicts)
	}
	if unknown, conflicts = ui.KeyProblems(nil, ui.FrameActions()); len(unknown)+len(conflicts) > 0 {
		t.Errorf("the frame's own keys: %q, %q", unknown, conflicts)
	}
}

func TestConfiguredKeysReplaceTheDefaults(t *testing.T) {
	opt, _ := options(t)
	opt.Keys = map[string][]string{"palette": {"alt+k"}}
	d := model(t, opt, 120, 40)
	d.send(uitest.Key("ctrl+p"))
	if strings.Contains(d.m.View(), "what do you want to do?") {
		t.Error("the old key still opens the palette")
	}
	d.send(uitest.Key("alt+k"))
	if !strings.Contains(d.m.View(), "what do you want to do?") {
		t.Error("the new key does not open the palette")
	}
}

func TestKeysMarkdownListsEveryAction(t *testing.T) {
	doc := ui.KeysMarkdown(ui.FrameActions())
	for _, a := range ui.FrameActions() {
		if !strings.Contains(doc, "`"+a.ID+"`") || a.Title == "" {
			t.Errorf("%s is missing", a.ID)
		}
		if a.Run != nil {
			t.Errorf("%s must be for reading only", a.ID)
		}
	}
	if !strings.Contains(doc, "## everywhere") || !strings.Contains(doc, "| `ctrl+p` |") {
		t.Errorf("%s", doc)
	}
}

func TestEveryKeyCanBeTyped(t *testing.T) {
	for _, a := range ui.FrameActions() {
		for _, k := range a.Keys {
			if got := uitest.Key(k).String(); got != k {
				t.Errorf("%s: the key %q is called %q by bubbletea", a.ID, k, got)
			}
		}
	}
}

// BenchmarkFrame measures from a message to the painted frame. hit: nothing changed. key: a
// character in the composer. miss: every pane shows something else.
func BenchmarkFrame(b *testing.B) {
	full := style.True
	setup := func(b *testing.B) (*driven, []*fake) {
		opt, convs := options(b)
		opt.Level = &full
		d := model(b, opt, 160, 44)
		all := append([]*fake(nil), *convs...)
		for _, p := range opt.Side {
			all = append(all, p.(*fake))
		}
		for _, p := range all {
			for i := range 60 {
				p.said = append(p.said, fmt.Sprintf("line %d with some words 容器 and more of them", i))
			}
		}
		return d, all
	}
	b.Run("hit", func(b *testing.B) {
		d, _ := setup(b)
		for b.Loop() {
			d.m.View()
		}
	})
	b.Run("key", func(b *testing.B) {
		d, convs := setup(b)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			convs[0].typed = ""
			d.m.Update(uitest.Key([]string{"a", "b"}[i%2]))
		}
	})
	b.Run("miss", func(b *testing.B) {
		d, all := setup(b)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			for _, p := range all {
				p.said = append(p.said[:60], fmt.Sprintf("%d", i), fmt.Sprintf("line %d", i))
			}
			d.m.Update(uitest.Key("a"))
			all[0].typed = ""
		}
	})
}

func TestDraftAndPlaceSurviveASessionSwitch(t *testing.T) {
	opt, convs := options(t)
	d := model(t, opt, 120, 40)
	d.send(uitest.Key("draft"))
	d.send(ui.OpenSession{UID: "other"})
	if strings.Contains(ansi.Strip(d.m.View()), "❯ draft") {
		t.Error("the other session shows the draft")
	}
	d.send(ui.OpenSession{UID: "s1"})
	if !strings.Contains(ansi.Strip(d.m.View()), "❯ draft") || len(*convs) != 2 {
		t.Errorf("the draft is lost; %d panes were made", len(*convs))
	}
}

// catching is a fake with an open completion.
type catching struct {
	*fake
	woken int
}

func (c *catching) Catches(key string) bool { return key == "tab" }

func (c *catching) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyMsg); ok && k.Type == tea.KeyTab {
		c.said = append(c.said, "completed")
		return nil
	}
	return c.fake.Update(msg)
}

func (c *catching) Wake() tea.Cmd {
	c.woken++
	if c.woken > 1 {
		return nil
	}
	return func() tea.Msg { return told{"woken"} }
}

func TestAPaneCanCatchKeysAndHaveWorkAfterEvents(t *testing.T) {
	opt, _ := options(t)
	p := &catching{fake: &fake{id: "conversation:c", uid: "c", typing: true}}
	opt.Conversation = func(string) ui.Pane { return p }
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Type("\t")
	s.WaitFor("completed")
	opt.Bus.Publish(event.Header{Session: "c"}, event.HistoryChanged{Why: "undo"})
	s.WaitFor("woken")
}

func TestAnEditedThemeShowsAtOnce(t *testing.T) {
	opt, _ := options(t)
	full := style.True
	opt.Level, opt.ThemeDir, opt.Theme = &full, t.TempDir(), "mine"
	write := func(accent string) {
		body := "name: mine\ndark: true\ncolours:\n  accent: \"" + accent + "\"\n  border_focus: \"" + accent + "\"\n"
		if err := os.WriteFile(filepath.Join(opt.ThemeDir, "mine.yaml"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("#112233")
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	var want text.Pen
	want.Scan("\x1b[38;2;170;187;204m")
	// The watcher has no signal of its own: write until it hears.
	for deadline := time.Now().Add(testwait.Hang); s.Term.Rows()[0][0].Pen != want; {
		if time.Now().After(deadline) {
			t.Fatalf("the border is still %+v", s.Term.Rows()[0][0].Pen)
		}
		write("#aabbcc")
		select {
		case <-s.Term.Changed():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestUnderTeatest(t *testing.T) {
	opt, _ := options(t)
	opt.Output, opt.Input, opt.Getenv = discard{}, strings.NewReader(""), func(string) string { return "" }
	p := ui.New(opt)
	t.Cleanup(p.Close)
	tm := teatest.NewTestModel(t, p.Model(), teatest.WithInitialTermSize(120, 40))
	tm.Type("hello")
	tm.Send(uitest.Key("enter"))
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return bytes.Contains(out, []byte("you: hello")) },
		teatest.WithDuration(testwait.Hang))
	if err := tm.Quit(); err != nil {
		t.Error(err)
	}
	tm.WaitFinished(t, teatest.WithFinalTimeout(testwait.Hang))
}
