package provider

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Credential is one key of a provider.
type Credential struct {
	Key  string // never shown
	From string // where it stands, for people: the name of a variable or of a setting
}

// Strategy says which of several keys a turn takes.
type Strategy string

// The strategies. A turn stays with its key while that works: what a server cached belongs to it.
const (
	FillFirst  Strategy = "fill_first"  // the first one that does not rest
	RoundRobin Strategy = "round_robin" // the next one each time
	LeastUsed  Strategy = "least_used"  // the one that was taken least often
	RandomKey  Strategy = "random"
)

// allCredentials are the keys of an endpoint without repetition; one that has none has one empty
// key.
func (e Endpoint) allCredentials() []Credential {
	var out []Credential
	for _, c := range append([]Credential{{Key: e.Key, From: e.KeyFrom}}, e.Keys...) {
		if c.Key != "" && !slices.ContainsFunc(out, func(o Credential) bool { return o.Key == c.Key }) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		out = []Credential{{}}
	}
	return out
}

// awakeKeys are the numbers of the keys that do not rest.
func (h *Health) awakeKeys(name string, all []Credential) []int {
	var out []int
	for i, c := range all {
		if h.restOf(restOfKey(name, c.Key)).IsZero() {
			out = append(out, i)
		}
	}
	return out
}

// peekKey is the key that a call takes which is no turn's: the first that does not rest, else the
// one whose rest ends first. A key that is the only one is always taken.
func (h *Health) peekKey(name string, all []Credential) int {
	if up := h.awakeKeys(name, all); len(up) > 0 {
		return up[0]
	}
	first, ends := 0, time.Time{}
	for i, c := range all {
		if until := h.restOf(restOfKey(name, c.Key)); ends.IsZero() || until.Before(ends) {
			first, ends = i, until
		}
	}
	return first
}

// takeKey chooses the key of a turn and counts that.
func (h *Health) takeKey(name string, s Strategy, all []Credential) int {
	up := h.awakeKeys(name, all)
	if len(up) == 0 {
		return h.peekKey(name, all)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := up[0]
	switch s {
	case RoundRobin:
		at = up[h.turns[name]%len(up)]
		h.turns[name]++
	case LeastUsed:
		for _, i := range up {
			if h.uses[restOfKey(name, all[i].Key)] < h.uses[restOfKey(name, all[at].Key)] {
				at = i
			}
		}
	case RandomKey:
		at = up[int(h.chance()*float64(len(up)))%len(up)]
	case FillFirst:
	}
	h.uses[restOfKey(name, all[at].Key)]++
	return at
}

// HealthFor is what is known of keys and models, for a Set with other settings: nothing, when those
// have other servers or keys.
func (s *Set) HealthFor(next Settings) *Health {
	if !reflect.DeepEqual(s.settings.Providers, next.Providers) {
		return nil
	}
	return s.health
}

// maxKeys bounds the keys of a provider.
const maxKeys = 64

// numberedKeys are the keys in NAME_2, NAME_3 and so on, up to the first that is missing.
func numberedKeys(name string, getenv func(string) string) (out []Credential) {
	for n := 2; name != "" && n <= maxKeys; n++ {
		from := fmt.Sprintf("%s_%d", name, n)
		key := getenv(from)
		if key == "" {
			break
		}
		out = append(out, Credential{Key: key, From: from})
	}
	return out
}

// KeyCount is how many keys the endpoint has.
func (e Endpoint) KeyCount() int {
	all := e.allCredentials()
	if len(all) == 1 && all[0].Key == "" {
		return 0
	}
	return len(all)
}

// Keys looks without the network whether the model that ref names could be asked, and with how many
// keys.
func (s *Set) Keys(ctx context.Context, ref string) (int, error) {
	name, model, err := s.splitRef(ctx, ref)
	if err != nil {
		return 0, err
	}
	e, _, err := s.resolveProvider(name, model, anyKey)
	if err != nil {
		return 0, err
	}
	if n := e.KeyCount(); n > 0 || e.Local() || e.Kind == Offline || len(e.Headers) > 0 {
		return n, nil
	}
	return 0, &Error{Class: ClassAuth, Provider: name, Model: model, Message: "there is no key for it"}
}
