package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/core/atomicfile"
)

// What is kept at most; the oldest goes.
const (
	keptExperiences = 300
	keptProposals   = 200
)

// state is everything that is kept, in one file that is replaced as a whole.
type state struct {
	Experiences []Experience               `json:"experiences"`
	Proposals   []Proposal                 `json:"proposals"`
	Outcomes    map[string]map[string]Uses `json:"outcomes"` // by skill and the hash of its text
	Due         []Due                      `json:"due"`
	Reviews     []time.Time                `json:"reviews"` // of the last day
	Never       []Never                    `json:"never"`
	Curated     time.Time                  `json:"curated,omitzero"`
	Told        string                     `json:"told,omitempty"` // the day on which the ceiling was told
	Next        int                        `json:"next"`           // number of the next proposal
}

// Uses counts what came of the turns in which a text of a skill was used.
type Uses struct {
	Good    float64 `json:"good"`
	Bad     float64 `json:"bad"`
	Unknown float64 `json:"unknown"`
	Worse   bool    `json:"worse,omitempty"` // tried, and taken back because it did worse
}

// Due is a review that is wanted.
type Due struct {
	Kind        string    `json:"kind"` // "change", "create"
	Skill       string    `json:"skill,omitempty"`
	Experiences []string  `json:"experiences"`
	Taken       time.Time `json:"taken,omitzero"` // by a process that works on it
}

// Never is what is not to be proposed again.
type Never struct {
	Skill string   `json:"skill,omitempty"` // changes of it
	Words []string `json:"words,omitempty"` // new skills for tasks like this
}

// store reads and writes the state. Other processes do so too.
type store struct{ dir string }

func (s store) path() string { return filepath.Join(s.dir, "state.json") }

// readState reads the state, an empty one where there is no file. A file that somebody damaged is
// an error and stays as it is: this program replaces it as a whole, so it never is half written.
func (s store) readState() (*state, error) {
	st := &state{Next: 1}
	data, err := os.ReadFile(s.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(data, st); err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w; mend it, or move it away to begin anew (it "+
				"holds experiences and proposals, not the versions of skills)", s.path(), err)
		}
	}
	if st.Outcomes == nil {
		st.Outcomes = map[string]map[string]Uses{}
	}
	return st, nil
}

// editState changes the state while no other process does. An error of f leaves it as it was.
func (s store) editState(f func(*state) error) error {
	unlock, err := atomicfile.Lock(s.path() + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	st, err := s.readState()
	if err != nil {
		return err
	}
	if err := f(st); err != nil {
		return err
	}
	st.trimState()
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path(), append(data, '\n'), 0o600)
}

func (st *state) trimState() {
	if n := len(st.Experiences) - keptExperiences; n > 0 {
		st.Experiences = slices.Delete(st.Experiences, 0, n)
	}
	for n := len(st.Proposals) - keptProposals; n > 0; n-- {
		i := slices.IndexFunc(st.Proposals, func(p Proposal) bool { return p.State != StateOpen })
		if i < 0 {
			break
		}
		st.Proposals = slices.Delete(st.Proposals, i, i+1)
	}
}

func (st *state) findExperience(id string) *Experience {
	for i := range st.Experiences {
		if st.Experiences[i].ID == id {
			return &st.Experiences[i]
		}
	}
	return nil
}

func (st *state) findProposal(id string) *Proposal {
	for i := range st.Proposals {
		if st.Proposals[i].ID == id {
			return &st.Proposals[i]
		}
	}
	return nil
}

func (st *state) countOpen() int {
	n := 0
	for _, p := range st.Proposals {
		if p.State == StateOpen {
			n++
		}
	}
	return n
}

// countOutcome adds to the uses of a text of a skill; by is -1 to take back.
func (st *state) countOutcome(skill, hash string, o Outcome, by float64) {
	if st.Outcomes[skill] == nil {
		st.Outcomes[skill] = map[string]Uses{}
	}
	u := st.Outcomes[skill][hash]
	switch o {
	case Good:
		u.Good += by
	case Bad:
		u.Bad += by
	case Unknown:
		u.Unknown += by
	}
	st.Outcomes[skill][hash] = u
}
