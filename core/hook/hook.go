// Package hook is programs that take part in what the agent does: they are told of it as JSON, and
// where they may, they refuse it, change it or add text.
//
// The contract:
//
//   - Nothing is silent: each run is one event.HookRan, whatever came of it.
//   - A hook that may refuse something and cannot run (it is missing, broken, late) refuses it,
//     unless its settings say otherwise. One that only watches stops nothing.
//   - A run ends by its deadline with all that it started, and what it says is bounded.
//   - Who refuses comes first: the hooks after it are not run. Arguments that one changed are what
//     the next one sees.
package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/clip"
	"hermes/core/event"
	"hermes/core/injection"
	"hermes/core/secret"
)

// Event is what hooks take part in.
type Event string

// Events, as the settings name them.
const (
	SessionStart  Event = "on_session_start"
	SessionEnd    Event = "on_session_end"
	MessageIn     Event = "on_message_in"
	MessageOut    Event = "on_message_out"
	PreModelCall  Event = "pre_llm_call"
	PostModelCall Event = "post_llm_call"
	PreToolCall   Event = "pre_tool_call"
	PostToolCall  Event = "post_tool_call"
	Compress      Event = "on_compress"
)

// Events lists them in the order in which they happen.
func Events() []Event {
	return []Event{SessionStart, MessageIn, PreModelCall, PostModelCall, PreToolCall, PostToolCall, Compress, MessageOut, SessionEnd}
}

// Refuses reports whether hooks may refuse what happens.
func (e Event) Refuses() bool { return e == PreToolCall || e == PreModelCall || e == MessageIn }

// adds reports whether what hooks say reaches the model.
func (e Event) adds() bool {
	return e == SessionStart || e == MessageIn || e == PreModelCall || e == PostToolCall
}

// OfTool reports whether it is about a call of a tool, so that a matcher counts.
func (e Event) OfTool() bool { return e == PreToolCall || e == PostToolCall }

// Owners of hooks that no plugin brought.
const (
	OwnerSettings = "settings"
	OwnerProject  = "project"
)

// Limits of a run.
const (
	decideTime = 5 * time.Second // where something waits for a yes
	watchTime  = 30 * time.Second
	maxReason  = 500    // characters
	maxContext = 10_000 // the same
)

// Hook is one program's part in an event.
type Hook struct {
	Event   Event         `json:"event"`
	Name    string        `json:"name"`
	Owner   string        `json:"owner"`
	Matcher string        `json:"matcher,omitempty"` // of tools' names; "" is all
	Command string        `json:"command,omitempty"`
	Backend string        `json:"backend,omitempty"`
	Timeout time.Duration `json:"-"`
	OnError string        `json:"on_error"` // "deny", "allow"

	// Run has the program take part. Ctx ends with the deadline.
	Run Runner `json:"-"`

	matches *regexp.Regexp
}

// Runner has a hook's program take part.
type Runner func(ctx context.Context, h Hook, in Input, payload []byte) (Reply, error)

// Reply is what a program said.
type Reply struct {
	Refused bool // by its exit code
	Reason  string
	Out     []byte // JSON; else it said nothing
}

// withDefaults fills in what was left out.
func (h Hook) withDefaults() (Hook, error) {
	if h.Timeout <= 0 {
		h.Timeout = watchTime
		if h.Event.Refuses() {
			h.Timeout = decideTime
		}
	}
	if h.OnError == "" {
		h.OnError = "allow"
		if h.Event.Refuses() {
			h.OnError = "deny"
		}
	}
	if h.Name == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(h.Command), " ")
		h.Name = cmp.Or(first[strings.LastIndexByte(first, '/')+1:], string(h.Event))
	}
	if h.Matcher == "" || h.Matcher == "*" {
		return h, nil
	}
	var err error
	if h.matches, err = regexp.Compile(`^(?:` + h.Matcher + `)$`); err != nil {
		return h, fmt.Errorf("the hook %s: %q is not a regular expression: %w", h.Name, h.Matcher, err)
	}
	return h, nil
}

func (h Hook) matchesTool(tool string) bool {
	return !h.Event.OfTool() || h.matches == nil || h.matches.MatchString(tool)
}

// Input is what programs are told. The names are those that hooks of other agents read.
type Input struct {
	Event   Event           `json:"hook_event_name"`
	Session string          `json:"session_id"`
	Turn    string          `json:"turn_id,omitempty"`
	Cwd     string          `json:"cwd"`
	Tool    string          `json:"tool_name,omitempty"`
	CallID  string          `json:"tool_use_id,omitempty"`
	Args    json.RawMessage `json:"tool_input,omitempty"`
	Backend string          `json:"backend,omitempty"` // where the call runs; empty: not in a back end
	Result  *Result         `json:"tool_response,omitempty"`
	Prompt  string          `json:"prompt,omitempty"`  // of on_message_in
	Message string          `json:"message,omitempty"` // of post_llm_call, on_message_out
	Model   string          `json:"model,omitempty"`
	From    string          `json:"from,omitempty"`   // who wrote the message, when not the person
	Tokens  int             `json:"tokens,omitempty"` // of the conversation, of on_compress
}

// Result is what a tool answered.
type Result struct {
	Text         string `json:"text"`
	Cut          bool   `json:"cut,omitempty"`
	IsError      bool   `json:"is_error,omitempty"`
	ExitCode     *int   `json:"exit_code,omitempty"`
	Milliseconds int64  `json:"duration_ms"`
}

// Verdict is what all hooks of an event made of it.
type Verdict struct {
	Refused bool
	Reason  string          // for people and the model: who refused and why
	Args    json.RawMessage // when they were changed
	By      string          // who changed them
	Context string          // added text, each with who says it
}

// Set is the hooks of all owners. Its zero value is empty and ready.
type Set struct {
	mu    sync.RWMutex
	owned map[string][]Hook
}

// Replace puts hooks in the place of those that the owner has.
func (s *Set) Replace(owner string, list []Hook) error {
	var errs []error
	var kept []Hook
	for _, h := range list {
		h.Owner = owner
		h, err := h.withDefaults()
		errs = append(errs, err)
		if err == nil {
			kept = append(kept, h)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owned == nil {
		s.owned = map[string][]Hook{}
	}
	if s.owned[owner] = kept; len(kept) == 0 {
		delete(s.owned, owner)
	}
	return errors.Join(errs...)
}

// List is every hook in the order in which they run: the person's, the project's, plugins'.
func (s *Set) List() []Hook {
	s.mu.RLock()
	defer s.mu.RUnlock()
	owners := slices.Sorted(maps.Keys(s.owned))
	slices.SortStableFunc(owners, func(a, b string) int { return rank(a) - rank(b) })
	out := []Hook{}
	for _, o := range owners {
		out = append(out, s.owned[o]...)
	}
	return out
}

func rank(owner string) int {
	switch owner {
	case OwnerSettings:
		return 0
	case OwnerProject:
		return 1
	default:
		return 2
	}
}

func (s *Set) of(e Event, tool string) []Hook {
	return slices.DeleteFunc(s.List(), func(h Hook) bool { return h.Event != e || !h.matchesTool(tool) })
}

// Run has the hooks of an event take part in it, one after the other. Told gets an event for each.
func (s *Set) Run(ctx context.Context, in Input, told func(event.HookRan)) Verdict {
	var v Verdict
	for _, h := range s.of(in.Event, in.Tool) {
		if ctx.Err() != nil {
			break
		}
		a, ran := h.runOne(ctx, in)
		if ctx.Err() != nil { // an interrupt is nobody's fault
			break
		}
		told(ran)
		switch {
		case a.refused:
			v.Refused, v.Reason = true, fmt.Sprintf("the hook %s refused it: %s", h.Name, a.reason)
			return v
		case a.args != nil:
			v.Args, in.Args = a.args, a.args
			v.By = strings.TrimPrefix(v.By+", "+h.Name, ", ")
		}
		if a.context != "" {
			v.Context += fmt.Sprintf("\n[the hook %s says: %s]", h.Name, a.context)
		}
	}
	v.Context = strings.TrimPrefix(v.Context, "\n")
	return v
}

// runOne has one hook runOne part.
func (h Hook) runOne(ctx context.Context, in Input) (answer, event.HookRan) {
	began := time.Now()
	ran := event.HookRan{Event: string(h.Event), Name: h.Name, Owner: h.Owner, Tool: in.Tool, CallID: in.CallID, Outcome: event.HookOK}
	a, err := h.askProgram(ctx, in)
	ran.Took = time.Since(began)
	switch {
	case err != nil:
		ran.Outcome, ran.Text = event.HookFailed, cutText(err.Error(), maxReason)
		if a = (answer{}); h.OnError == "deny" && h.Event.Refuses() {
			a.refused, a.reason = true, ran.Text+" (a hook that cannot run refuses; on_error: allow lets it pass)"
			ran.Refused = true
		}
	case a.refused:
		ran.Outcome, ran.Text, ran.Refused = event.HookDenied, a.reason, true
	case a.args != nil:
		ran.Outcome, ran.Text = event.HookChanged, a.reason
	case a.context != "":
		ran.Outcome, ran.Text = event.HookAdded, cutText(a.context, maxReason)
	}
	return a, ran
}

func (h Hook) askProgram(ctx context.Context, in Input) (answer, error) {
	payload, err := json.Marshal(in)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	r, err := h.Run(ctx, h, in, payload)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return answer{}, fmt.Errorf("it took longer than %s and was ended (timeout)", h.Timeout)
	case err != nil:
		return answer{}, err
	}
	a, err := readAnswer(r.Out)
	if err != nil {
		return answer{}, err
	}
	if r.Refused {
		a.refused, a.reason = true, cmp.Or(r.Reason, a.reason)
	}
	return h.allowed(a), nil
}

// allowed is what of an answer counts for the event.
func (h Hook) allowed(a answer) answer {
	a.reason = cutText(a.reason, maxReason)
	if a.refused && !h.Event.Refuses() { // nothing can be refused any more: it is said
		a.refused, a.context = false, strings.TrimSpace(a.context+"\n"+a.reason)
	}
	if a.refused {
		return answer{refused: true, reason: cmp.Or(a.reason, "it gave no reason")}
	}
	if h.Event != PreToolCall {
		a.args = nil
	}
	if !h.Event.adds() {
		a.context = ""
	}
	a.context = cutText(a.context, maxContext)
	if h.Owner != OwnerSettings { // a stranger's
		a.context, _ = injection.Block(a.context)
	}
	return a
}

// cutText is a text without secrets and without what nobody can see, cut.
func cutText(text string, most int) string {
	text, _ = injection.Clean(strings.TrimSpace(text))
	text = secret.Clean(text)
	return clip.Runes(text, most, "… [cut]")
}
