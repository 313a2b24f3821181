package pool

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"hermes/core/event"
)

// change is what the settings say about a back end by now.
type change struct {
	spec    Spec
	backend Backend // nil: as it was
	err     error   // why it cannot be used any more
}

// Configure makes c the settings from now on. What nobody uses changes at once: it is taken down,
// and the next use brings it up as c says. What is in use changes when nobody uses it any more.
// Nothing is destroyed before its session ends, so that a name that was taken away by mistake finds
// its files again. Errors are those of names; then nothing changed.
func (p *Pool) Configure(c Config) error {
	c, err := c.withDefaults(p.kinds)
	if err != nil {
		return err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	before := p.config()
	p.conf.Store(&c)
	machines := slices.Collect(maps.Values(p.machines))
	lost := map[string]string{}
	for uid, s := range p.sessions {
		for name := range s.dirs {
			if isOtherMachine(before.Backends[name], c.Backends[name]) {
				delete(s.dirs, name)
			}
		}
		if _, ok := c.Backends[s.selected]; !ok && s.selected != "" {
			lost[uid] = s.selected
		}
	}
	p.mu.Unlock()
	for _, m := range machines {
		m.takeChange(p.changeFor(m.key, c))
	}
	for uid, name := range lost {
		n := event.Notice{Level: event.Warn, Text: notFound(name, c.backendNames()), Hint: "it was this session's back end; choose another one"}
		p.bus.Publish(event.Header{Session: uid}, n)
	}
	for _, name := range c.backendNames() {
		if _, had := before.Backends[name]; !had {
			p.announceBackend(name)
		}
	}
	return nil
}

// isOtherMachine says that a name means another machine by now, where a directory of the old one
// means nothing.
func isOtherMachine(before, now Spec) bool {
	return before.Kind != now.Kind || before.about.At != now.about.At
}

// announceBackend tells about a back end that nothing was known of.
func (p *Pool) announceBackend(name string) {
	s := p.showBackend("", name)
	p.bus.Publish(event.Header{}, event.BackendChanged{
		Name: name, Kind: s.Kind, Image: s.Image, From: s.State, To: s.State, Cause: "configured",
	})
}

// changeFor is what c says about the back end at k.
func (p *Pool) changeFor(k key, c Config) change {
	s, ok := c.Backends[k.name]
	if !ok || p.keyOf(k.owner, s) != k {
		return change{err: errors.New("it is not configured any more")}
	}
	b, err := p.buildDriver(k, s)
	return change{spec: s, backend: b, err: err}
}

// takeChange takes new settings, now or when nobody uses the back end any more.
func (m *machine) takeChange(c change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.spec.Name == "" {
		c.spec = m.spec
	}
	switch {
	case c.err == nil && m.broken == nil && reflect.DeepEqual(m.spec.creationSettings(), c.spec.creationSettings()):
		m.spec, m.next = c.spec, nil
	case c.err != nil && m.broken != nil && m.broken.Error() == c.err.Error():
		m.next = nil
	default:
		m.next = &c
	}
	m.applyWaiting()
}

// creationSettings is what a back end is made of: the rest of its settings can change while it is
// up.
func (s Spec) creationSettings() Spec {
	s.IdleTTL, s.Timeout, s.Keep = 0, 0, 0
	return s
}

// applyChange makes the settings that waited those of the back end. It is the work of a job.
func (m *machine) applyChange(j *job) {
	m.mu.Lock()
	next, cause := m.next, "its configuration changed"
	m.next = nil
	m.mu.Unlock()
	if next == nil { // taken back meanwhile
		return
	}
	c := *next
	if c.err != nil {
		cause = c.err.Error()
	}
	j.err = m.stopReady(cause)
	m.mu.Lock()
	old := m.backend
	m.mu.Unlock()
	if r, ok := old.(Releaser); ok && c.backend != nil {
		r.Release()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spec, m.broken, m.err = c.spec, c.err, c.err
	m.tries, m.retry = 0, time.Time{}
	if c.backend != nil {
		m.backend = c.backend
	}
	switch {
	case c.err != nil:
		m.moveTo(event.BackendFailed, cause)
	case m.state == event.BackendFailed && m.touched:
		m.moveTo(event.BackendStopped, cause)
	case m.state == event.BackendFailed:
		m.moveTo(event.BackendAbsent, cause)
	}
}

// buildDriver makes the driver of a back end. Without one the error says why the back end cannot be
// used.
func (p *Pool) buildDriver(k key, s Spec) (Backend, error) {
	if s.Invalid != "" {
		return nil, errors.New(s.Invalid)
	}
	kind, ok := p.kinds[s.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %s is not available in this version (there is: %s)", s.Kind, joinNames(slices.Sorted(maps.Keys(p.kinds))))
	}
	return kind.Open(k.owner, s)
}
