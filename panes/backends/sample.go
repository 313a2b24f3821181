package backends

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
)

const (
	// sampleEvery is how often what a back end uses is measured, while somebody looks.
	sampleEvery = 2 * time.Second
	// sampleTimeout bounds one measurement: an engine that hangs must not collect them.
	sampleTimeout = 10 * time.Second
)

// sampler measures one back end at a time: the one under the cursor, while it is up and can be
// seen. It asks for a refresh when the next measurement is due, so that nothing runs between.
type sampler struct {
	name    string    // measured last
	last    time.Time // when
	running bool
	deaf    map[string]bool // back ends that cannot be measured, until they change
}

func (s *sampler) forget(name string) { delete(s.deaf, name) }

// sampledMsg is one measurement.
type sampledMsg struct {
	name  string
	stats event.BackendStats
	err   error
}

// backendToMeasure is the back end to measure, or "".
func (p *Pane) backendToMeasure() string {
	r := p.currentRow()
	if r == nil || p.w <= 0 || p.h <= 0 || p.session == "" || p.pool == nil {
		return ""
	}
	if r.State != event.BackendReady || r.Traits.Local || p.sample.deaf[r.Name] {
		return ""
	}
	if p.pool.Can() != "" {
		return ""
	}
	return r.Name
}

// sampleAt is when the next measurement is due; zero for never.
func (p *Pane) sampleAt(now time.Time) time.Time {
	name := p.backendToMeasure()
	switch {
	case name == "" || p.sample.running:
		return time.Time{}
	case name != p.sample.name || p.sample.last.IsZero():
		return now
	default:
		return p.sample.last.Add(sampleEvery)
	}
}

// Wake implements ui.Waker: it measures when that is due.
func (p *Pane) Wake() tea.Cmd {
	now := p.now()
	at := p.sampleAt(now)
	if at.IsZero() || now.Before(at) {
		return nil
	}
	name, session, pool := p.backendToMeasure(), p.session, p.pool
	p.sample.name, p.sample.last, p.sample.running = name, now, true
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), sampleTimeout)
		defer cancel()
		stats, err := pool.Sample(ctx, session, name)
		return sampledMsg{name, stats, err}
	}
}

func (p *Pane) takeSample(m sampledMsg) {
	p.sample.running = false
	if m.err != nil {
		if p.sample.deaf == nil {
			p.sample.deaf = map[string]bool{}
		}
		p.sample.deaf[m.name] = true // asking again every two seconds would not help; a change of its state will
		return
	}
	for i := range p.rows {
		if r := &p.rows[i]; r.Name == m.name && r.State == event.BackendReady && r.Stats != m.stats {
			r.Stats, p.memoOK = m.stats, false
		}
	}
}
