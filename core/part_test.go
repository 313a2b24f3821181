package core

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hermes/core/config"
)

// recordingPart notes what is asked of it.
type recordingPart struct {
	quiet
	name   string
	closed *[]string
	err    error

	forgot  string
	changes int
}

func (p *recordingPart) Forget(session string) { p.forgot = session }
func (p *recordingPart) Changed(config.Change) { p.changes++ }

func (p *recordingPart) Close(context.Context) error {
	*p.closed = append(*p.closed, p.name)
	return p.err
}

// Parts close in the reverse of the order in which they started, whatever one of them says.
func TestPartsCloseInReverse(t *testing.T) {
	var closed []string
	broken := errors.New("stuck")
	a := &App{parts: []part{
		&recordingPart{name: "first", closed: &closed},
		&recordingPart{name: "second", closed: &closed, err: broken},
		&recordingPart{name: "third", closed: &closed},
	}}
	if err := a.Close(t.Context()); !errors.Is(err, broken) {
		t.Errorf("said %v", err)
	}
	if want := []string{"third", "second", "first"}; !slices.Equal(closed, want) {
		t.Errorf("closed %q", closed)
	}
}

// Edited settings reach every part.
func TestPartsHearOfEditedSettings(t *testing.T) {
	x := newPlace(t).open(nil)
	var closed []string
	part := &recordingPart{closed: &closed}
	x.parts = append(x.parts, part)
	x.applySettings(config.Change{Config: x.Config()})
	if x.close(); part.changes != 1 || len(closed) != 1 {
		t.Errorf("heard of %d changes, closed %d times", part.changes, len(closed))
	}
}
