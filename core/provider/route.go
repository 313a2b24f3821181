package provider

import (
	"context"
	"strings"
	"time"

	"hermes/core/nearest"
)

// Route is where the calls of one turn go: the model that was asked for, with each key of its
// provider, then the fallbacks in their order. Whoever has it calls what Leg says, and tells how
// that went: Worked or Failed. It is for one goroutine.
type Route struct {
	set  *Set
	refs []string // as they were asked for: the model, then the fallbacks
	most int

	at      int
	leg     Leg
	skipped *Step

	attempt  int  // failures of this leg since a call worked
	whole    bool // the next call of an errand asks for the answer in one piece
	probe    bool
	filtered bool            // a content filter sent it on once
	failing  time.Time       // since when no call worked
	spent    map[string]bool // keys that were given up since a call worked
	missing  map[string]bool // models whose server could not be found
	offline  int             // waits for the network
}

// Leg is one stop of a Route.
type Leg struct {
	Provider  Provider
	Model     Model
	Key, Keys int    // which key of the provider, from 1, of how many; 0 of 0 when it has one or none
	KeyFrom   string // where the key stands: the name of a variable or of a setting

	name, key string
	all       []Credential
}

// Ref is "provider/model".
func (l Leg) Ref() string {
	if l.Provider == nil {
		return ""
	}
	return l.Provider.Name() + "/" + l.Model.ID
}

// Step is what to do after a failed call.
type Step struct {
	Again bool          // call Leg, after Wait
	Wait  time.Duration // what the server asked for at least
	Whole bool          // ask for the answer in one piece
	// Moved says that Leg is another one now; From is the one that failed. The same model with
	// another key is another leg.
	Moved bool
	From  Leg
	// Offline says that no server can be found: this machine has no network.
	Offline bool
	Cause   *Error
}

// budget is how long after the first failure a turn waits for what failed. What it moves to then
// gets one call.
const budget = 5 * time.Minute

// soon is a wait that is shorter than another key would be worth.
const soon = 5 * time.Second

// Direct is a Route with one leg and without Health.
func Direct(p Provider, m Model, most int) *Route {
	return &Route{leg: Leg{Provider: p, Model: m}, most: most, refs: []string{""}}
}

// Route begins the calls of a turn to the model that ref means. A model that rests after failures
// is left out while a fallback does not: Skipped tells. Most bounds the tries after a failure at
// one leg: 0 is as many as the failure is worth, less is none.
func (s *Set) Route(ctx context.Context, ref string, most int) (*Route, error) {
	p, m, err := s.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	r := s.newRoute([]string{p.Name() + "/" + m.ID}, most)
	for _, f := range s.settings.Fallbacks {
		if f != r.refs[0] {
			r.refs = append(r.refs, f)
		}
	}
	if p.Name() == Offline {
		r.refs = r.refs[:1]
	}
	if err := r.openStop(ctx, 0); err != nil {
		return nil, err
	}
	if len(r.refs) == 1 {
		return r, nil
	}
	first := r.leg
	ok, probe := s.health.enterModel(first.Ref())
	if r.probe = probe; ok {
		return r, nil
	}
	if r.moveToNext(ctx, nil) {
		r.skipped = &Step{
			Again: true, Moved: true, From: first,
			Wait: time.Until(s.health.restOf(restOfModel(first.Ref()))),
			Cause: &Error{
				Class: s.health.whyResting(first.Ref()), Provider: first.name,
				Model: first.Model.ID,
			},
		}
		return r, nil
	}
	return r, r.openStop(ctx, 0) // all of them rest: the first is as good as any
}

func (s *Set) newRoute(refs []string, most int) *Route {
	return &Route{set: s, refs: refs, most: most, spent: map[string]bool{}, missing: map[string]bool{}}
}

// Leg is what the next call goes to.
func (r *Route) Leg() Leg { return r.leg }

// Skipped tells that the route began at a fallback, because the model that was asked for rests: for
// Wait from then on.
func (r *Route) Skipped() (Step, bool) {
	if r.skipped == nil {
		return Step{}, false
	}
	return *r.skipped, true
}

// Close ends the route. It may be called twice.
func (r *Route) Close() {
	if r.probe {
		r.probe = false
		r.set.health.leaveProbe(r.leg.Ref())
	}
}

// Worked says that a call to Leg was answered.
func (r *Route) Worked() {
	r.attempt, r.offline, r.probe, r.failing = 0, 0, false, time.Time{}
	clear(r.spent)
	clear(r.missing)
	if r.set != nil {
		r.set.health.noteWorked(r.leg.name, r.leg.key, r.leg.Ref())
	}
}

// Hurried says that a person ended the wait before the call: it is not one of those that a failure
// is worth.
func (r *Route) Hurried() { r.attempt = max(0, r.attempt-1) }

// Failed says that a call to Leg failed, and tells what to do.
func (r *Route) Failed(ctx context.Context, failed *Error) Step {
	if r.failing.IsZero() {
		r.failing = time.Now()
	}
	r.attempt++
	failed.Key = r.leg.KeyFrom
	wait, again := r.waitWithin(failed)
	if again && !r.hasBetter(ctx, failed, wait) {
		return Step{Again: true, Wait: wait, Whole: WithoutStream(failed, r.attempt), From: r.leg, Cause: failed}
	}
	return r.Leave(ctx, failed)
}

// waitWithin is Next within the bounds of the route.
func (r *Route) waitWithin(failed *Error) (time.Duration, bool) {
	wait, again := Next(failed, r.attempt)
	switch {
	case r.most != 0 && r.attempt > r.most, r.probe && r.lastStop() > r.at:
		return 0, false
	case time.Since(r.failing)+wait > budget:
		return 0, false
	}
	return wait, again
}

// hasBetter reports whether another key or a fallback is worth more than to wait for this leg.
func (r *Route) hasBetter(ctx context.Context, failed *Error, wait time.Duration) bool {
	switch failed.Class {
	case ClassRateLimit:
		return (r.attempt > 1 || wait > soon) && r.otherKey() >= 0
	case ClassOverloaded:
		return r.attempt > 1 && r.lastStop() > r.at
	default:
		return ctx.Err() != nil
	}
}

// lastStop is the number of the last stop.
func (r *Route) lastStop() int { return len(r.refs) - 1 }

// Leave gives Leg up after a failure that is not worth another try there: another key when the
// failure is the key's, else a fallback, else nothing.
func (r *Route) Leave(ctx context.Context, failed *Error) Step {
	from := r.leg
	if r.set == nil || ctx.Err() != nil {
		return Step{From: from, Cause: failed}
	}
	switch failed.Class {
	case ClassCancelled, ClassFormat, ClassContextOverflow:
		return Step{From: from, Cause: failed}
	case ClassRateLimit, ClassAuth, ClassBilling:
		r.spent[from.key] = true
		r.set.health.benchKey(from.name, from.key, failed)
		if at := r.otherKey(); at >= 0 && r.useKey(at) == nil {
			return Step{Again: true, Moved: true, From: from, Cause: failed}
		}
	case ClassContentFilter:
		if r.filtered {
			return Step{From: from, Cause: failed}
		}
		r.filtered = true
	case ClassModelNotFound:
		failed.Hint = r.set.suggestNames(from, failed.Hint)
	default:
	}
	if failed.unreachable {
		r.missing[from.Ref()] = true
	}
	if r.moveToNext(ctx, nil) {
		r.restLeft(from, failed)
		return Step{Again: true, Moved: true, From: from, Cause: failed}
	}
	return r.waitForNetwork(ctx, failed)
}

// restLeft lets the model that was left rest, when the failure says something about the model.
func (r *Route) restLeft(from Leg, failed *Error) {
	switch failed.Class {
	case ClassContentFilter, ClassTooLarge:
		r.set.health.leaveProbe(from.Ref())
	default:
		r.set.health.benchModel(from.Ref(), failed)
	}
}

// Larger moves to a fallback that can hold more than this leg.
func (r *Route) Larger(ctx context.Context, failed *Error) Step {
	from := r.leg
	window := max(from.Model.Window, failed.Window)
	if r.set != nil && window > 0 &&
		r.moveToNext(ctx, func(m Model) bool { return m.Window > window }) {
		return Step{Again: true, Moved: true, From: from, Cause: failed}
	}
	return Step{From: from, Cause: failed}
}

// waitForNetwork is for a machine without network: when no server of at least two can be found it
// begins again, and waits longer each time.
func (r *Route) waitForNetwork(ctx context.Context, failed *Error) Step {
	from := r.leg
	wait := min(30*time.Second, 5*time.Second<<min(r.offline, 3))
	if len(r.missing) < 2 || !failed.unreachable || time.Since(r.failing)+wait > budget || r.openStop(ctx, 0) != nil {
		return Step{From: from, Cause: failed}
	}
	r.offline++
	return Step{Again: true, Moved: r.leg.Ref() != from.Ref(), From: from, Wait: wait, Offline: true, Cause: failed}
}

// moveToNext moves to the next stop that does not rest and can be used.
func (r *Route) moveToNext(ctx context.Context, fits func(Model) bool) bool {
	was, at := r.leg, r.at
	for i := at + 1; i <= r.lastStop(); i++ {
		if r.openStop(ctx, i) != nil || fits != nil && !fits(r.leg.Model) || r.leg.Ref() == was.Ref() {
			continue
		}
		if ok, probe := r.set.health.enterModel(r.leg.Ref()); ok {
			r.probe = probe
			return true
		}
	}
	r.leg, r.at = was, at
	return false
}

// openStop makes a stop the leg, with the key whose turn it is.
func (r *Route) openStop(ctx context.Context, at int) error {
	leg, err := r.set.resolveLeg(ctx, r.refs[at])
	if err != nil {
		return err
	}
	r.leg, r.at, r.attempt = leg, at, 0
	return nil
}

// otherKey is the number of another key of the leg's provider that does not rest, or -1.
func (r *Route) otherKey() int {
	if r.set == nil {
		return -1
	}
	for _, i := range r.set.health.awakeKeys(r.leg.name, r.leg.all) {
		if key := r.leg.all[i].Key; key != r.leg.key && !r.spent[key] {
			return i
		}
	}
	return -1
}

func (r *Route) useKey(at int) error {
	leg, err := r.set.legWith(r.leg.name, r.leg.Model.ID, r.leg.all, at)
	if err == nil {
		r.leg, r.attempt = leg, 0
	}
	return err
}

// resolveLeg resolves a reference to a leg, with the key whose turn it is.
func (s *Set) resolveLeg(ctx context.Context, ref string) (Leg, error) {
	p, m, err := s.Resolve(ctx, ref)
	if err != nil {
		return Leg{}, err
	}
	s.mu.Lock()
	e, err := s.endpointFor(p.Name(), m.ID)
	s.mu.Unlock()
	if err != nil {
		return Leg{}, err
	}
	all := e.allCredentials()
	return s.legWith(p.Name(), m.ID, all, s.health.takeKey(e.Name, e.Strategy, all))
}

func (s *Set) legWith(name, model string, all []Credential, key int) (Leg, error) {
	e, p, err := s.resolveProvider(name, model, key)
	if err != nil {
		return Leg{}, err
	}
	leg := Leg{Provider: p, Model: s.describeModel(e, model), name: name, all: all, key: e.Key, KeyFrom: e.KeyFrom}
	if n := len(leg.all); n > 1 {
		leg.Key, leg.Keys = key+1, n
	}
	return leg, nil
}

// suggestNames adds the names of models that are near to one that is not there.
func (s *Set) suggestNames(l Leg, hint string) string {
	var names []string
	s.mu.Lock()
	for ref := range s.learned {
		if id, ok := strings.CutPrefix(ref, l.name+"/"); ok {
			names = append(names, id)
		}
	}
	e := s.settings.Providers[l.name]
	s.mu.Unlock()
	if names = append(names, e.Models...); len(names) == 0 && e.vendorOwn() {
		for _, m := range s.settings.catalogueOf().Models {
			names = append(names, m.ID)
		}
	}
	if near, ok := nearest.Name(l.Model.ID, names); ok && near != l.Model.ID {
		return "did you mean " + l.name + "/" + near + "? " + hint
	}
	return hint
}
