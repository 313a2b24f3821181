package procedure

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hermes/skills"
)

//go:embed metrics.yaml
var metricsFile []byte

// Metrics are the words that track_metrics can name, with what each is measured by.
var Metrics = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	if err := yaml.Unmarshal(metricsFile, &out); err != nil {
		panic(err) // part of the program
	}
	return out
})

// CheckLearned says whether a text that a model wrote may take the place of another one. The error
// is what is never done: what others rely on, what a run is judged by and what bounds it stays as
// it is, and no question or right changes hands. asks is what only a person may let it do: all that
// fields does not name as free.
func CheckLearned(before, after *Procedure) (asks []string, err error) {
	for _, check := range []func(before, after *Procedure) error{keepsUsable, keepsQuestions, keepsServers} {
		if err := check(before, after); err != nil {
			return nil, err
		}
	}
	c := comparison{before: before, after: after, asksPerson: before.asksPerson()}
	c.compareAll()
	return c.asks, c.refused
}

// keepsUsable refuses what does not parse, cannot be planned, or is warned of more than before.
func keepsUsable(before, after *Procedure) error {
	for _, p := range after.Problems {
		if p.Fatal {
			return p
		}
	}
	known := map[string]int{}
	for _, p := range before.Problems {
		known[warningKey(p)]++
	}
	for _, p := range after.Problems {
		if known[warningKey(p)]--; known[warningKey(p)] < 0 {
			return p
		}
	}
	params, err := after.Params(nil)
	if err != nil {
		return err
	}
	if after.Plan(nowhere{}, params) == "" {
		return errors.New("there is no plan of it")
	}
	return nil
}

// warningKey is a problem without its place, which moves.
func warningKey(p skills.Problem) string {
	return p.Key[strings.LastIndexByte(p.Key, '.')+1:] + "\x00" + p.Why
}

// keepsQuestions refuses the loss of a question to the person.
func keepsQuestions(before, after *Procedure) error {
	if before.Strategy == Interactive && after.Strategy != Interactive {
		return errors.New("the strategy interactive would go: the person is asked before each step")
	}
	for _, list := range before.stepLists() {
		now := after.stepsOf(list.branch)
		pairs := pairSteps(list.steps, now)
		for i, s := range list.steps {
			if s.Confirm && (pairs[i] < 0 || !now[pairs[i]].Confirm) {
				return fmt.Errorf("the question before the step %s (line %d) would go", s.Name, s.Line)
			}
		}
	}
	return nil
}

// keepsServers refuses servers of tools, and tools of theirs, that were not there.
func keepsServers(before, after *Procedure) error {
	for _, s := range after.Servers {
		i := slices.IndexFunc(before.Servers, func(o Server) bool { return o.Name == s.Name })
		if i < 0 {
			return fmt.Errorf("the MCP server %s would be new", s.Name)
		}
		for _, t := range s.Tools {
			if !slices.Contains(before.Servers[i].Tools, t) {
				return fmt.Errorf("the tool %s of the MCP server %s would be new", t, s.Name)
			}
		}
		if len(s.Tools) == 0 && len(before.Servers[i].Tools) > 0 {
			return fmt.Errorf("the tools of the MCP server %s would not be listed any more", s.Name)
		}
	}
	return nil
}

// nowhere is a host without tools: for a plan that nobody runs.
type nowhere struct{ Host }

// Tool finds none.
func (nowhere) Tool(string) (string, bool) { return "", false }
