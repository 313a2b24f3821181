package ui_test

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/uitest"
)

// eager is a side pane that asks for work whenever it may.
type eager struct {
	fake
	blurs int
	woken int
}

func (p *eager) Focus(on bool) {
	if !on {
		p.blurs++
	}
}

func (p *eager) Wake() tea.Cmd {
	p.woken++
	return nil
}

func withEager(t *testing.T) (*driven, *eager) {
	t.Helper()
	opt, _ := options(t)
	p := &eager{fake: fake{id: "sessions"}}
	opt.Side[0] = p
	return model(t, opt, 160, 44), p
}

// A pane that asks for the focus that it has must not lose what is typed in it.
func TestFocusOfTheFocusedPaneEndsNothing(t *testing.T) {
	d, p := withEager(t)
	d.send(ui.FocusPane{Pane: "sessions"})
	before := p.blurs
	d.send(ui.FocusPane{Pane: "sessions"})
	if p.blurs != before {
		t.Error("the pane was told that it lost the focus")
	}
}

func TestPanesMayReadMoreInAnotherSize(t *testing.T) {
	d, p := withEager(t)
	before := p.woken
	d.send(uitest.Key("alt+z"))
	if p.woken == before {
		t.Error("nobody asked the pane after it got another size")
	}
	before = p.woken
	d.send(uitest.Key("x"))
	if p.woken != before {
		t.Error("every key asks the panes for work")
	}
}

// What shows a session that is gone would write into nothing: a new conversation takes its place.
func TestDeletedSessionLeavesTheScreen(t *testing.T) {
	opt, _ := options(t)
	opt.Session = "doomed"
	s := uitest.Start(t, opt, 160, 44)
	s.WaitFor("conversation:doomed")
	s.Program.Send(ui.OpenSession{UID: "other", Where: ui.Right})
	s.WaitFor("conversation:other")
	opt.Bus.Publish(event.Header{Session: "doomed"}, event.SessionDeleted{})
	s.WaitGone("conversation:doomed")
	if view := s.Settle(); !strings.Contains(view, "conversation:other") || !strings.Contains(view, "conversation:s3") {
		t.Errorf("the other conversation went too, or no new one came:\n%s", view)
	}
}

// One out of sight is kept with what it showed; not so when its session is gone.
func TestDeletedSessionDoesNotComeBackFromOutOfSight(t *testing.T) {
	opt, convs := options(t)
	opt.Session = "doomed"
	s := uitest.Start(t, opt, 160, 44)
	s.Program.Send(ui.OpenSession{UID: "other"})
	s.WaitFor("conversation:other")
	opt.Bus.Publish(event.Header{Session: "doomed"}, event.SessionDeleted{})
	s.Settle()
	s.Program.Send(ui.OpenSession{UID: "doomed"})
	s.WaitFor("conversation:doomed")
	s.Settle()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(*convs) != 3 {
		t.Errorf("%d panes were made, 3 were needed: the one of the deleted session came back", len(*convs))
	}
}
