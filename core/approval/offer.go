package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/approval/command"
	"hermes/core/event"
	"hermes/core/shelltext"
)

// Entry is a remembered decision.
type Entry struct {
	ID string `json:"id"`
	Rule
	Scope   event.Decision  `json:"scope,omitempty"`   // session, project or always
	Classes []command.Class `json:"classes,omitempty"` // of a prefix: what such a command may do
	Added   time.Time       `json:"added,omitzero"`
	Expires time.Time       `json:"expires,omitzero"` // zero: never
}

// Expired reports whether e does not count any more.
func (e Entry) Expired(now time.Time) bool { return !e.Expires.IsZero() && !now.Before(e.Expires) }

// Words says what e covers.
func (e Entry) Words() string { return e.inWords() }

// id is the same for the same rule, so that a rule is never there twice.
func (e Entry) id() string {
	b, err := json.Marshal(e.Rule)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// coversCall reports whether e allows a call.
func (e Entry) coversCall(_ Request, o offer) bool {
	if e.Tool != o.rule.Tool || e.Owner != o.rule.Owner || e.Definition != o.rule.Definition || e.Backend != o.rule.Backend || e.Dir != "" && e.Dir != o.rule.Dir || !o.lasting {
		return false
	}
	if !e.Prefix {
		return e.Subject == o.rule.Subject
	}
	if o.fixed == nil || !beginsWith(o.fixed, strings.Fields(e.Subject)) {
		return false
	}
	for _, x := range o.analysis.Effects {
		if x.Level > command.LevelStandard && !slices.Contains(e.Classes, x.Class) {
			return false
		}
	}
	return true
}

func beginsWith(words, prefix []string) bool {
	return len(prefix) > 0 && len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
}

// offer is what could be remembered of a call.
type offer struct {
	rule     Rule
	prefix   string   // first words of the command; "" when none are offered
	fixed    []string // of a command that is one program with fixed words
	analysis Analysis
	command  bool // it is one
	lasting  bool // it may be remembered at all
	always   bool // and for every folder
	sessions bool // and for more than one session
}

func offerOf(r Request, a Analysis) offer {
	o := offer{rule: ruleOf(r), analysis: a, lasting: !a.Unknown() || len(r.Intent.Paths) > 0}
	o.sessions, o.command = canLast(r), r.shellCommand() != ""
	if !o.lasting {
		o.rule.Subject = ""
		return o
	}
	o.always = true
	for _, e := range a.Effects {
		if e.Class == command.Delete || e.Class == command.History {
			o.always = false
		}
	}
	if !o.command || r.Intent.OtherArgs != "" {
		return o
	}
	if words, ok := plainArguments(r.shellCommand()); ok {
		o.fixed = words
		o.prefix = prefixOf(words)
	}
	return o
}

// decisionChoices are the answers that a person has, the default first.
func (o offer) decisionChoices(kept bool) []event.Decision {
	out := []event.Decision{event.DecisionDeny, event.DecisionOnce}
	if o.rule.Subject == "" {
		return out
	}
	spans := []event.Decision{event.DecisionSession}
	if kept && o.sessions {
		spans = append(spans, event.DecisionProject)
		if o.always {
			spans = append(spans, event.DecisionAlways)
		}
	}
	out = append(out, spans...)
	if o.prefix != "" {
		for _, d := range spans {
			out = append(out, d+":prefix")
		}
	}
	return out
}

// withheldChoices are the answers that are not offered, and why. edits says that a command of the
// person's can run instead.
func (o offer) withheldChoices(kept, edits bool) (out []event.Withheld) {
	no := func(d event.Decision, why string) { out = append(out, event.Withheld{Decision: d, Why: why}) }
	switch {
	case o.rule.Subject == "":
		no(event.DecisionSession, "what it would do is not known, so that each call is asked about")
	case !kept:
		no(event.DecisionProject, "nothing is remembered beyond this session here")
	case !o.sessions:
		no(event.DecisionProject, "what it names is another thing in the next session")
	case !o.always:
		no(event.DecisionAlways, "it deletes or rewrites, which depends on the folder")
	}
	switch {
	case !o.command:
		no(event.DecisionSessionPrefix, "it is no command")
	case o.rule.Subject == "" || o.prefix == "":
		no(event.DecisionSessionPrefix, "it is not one program whose first words say what it does")
	}
	if !edits {
		no(event.DecisionEdited, "only a command of the terminal can be changed here")
	}
	return out
}

// ruleFor is the rule that an answer makes.
func (o offer) ruleFor(d event.Decision) Rule {
	rule := o.rule
	if d.Prefix() {
		rule.Subject, rule.Prefix = o.prefix, true
	}
	if d.Span() == event.DecisionAlways {
		rule.Dir = ""
	}
	return rule
}

func (o offer) scopeWords(d event.Decision) string {
	switch d.Span() {
	case event.DecisionSession, event.DecisionProject, event.DecisionAlways:
		return o.ruleFor(d).inWords()
	default:
		return ""
	}
}

func (o offer) entryFor(d event.Decision, now time.Time, lasting time.Duration) Entry {
	e := Entry{Rule: o.ruleFor(d), Scope: d.Span(), Added: now}
	if lasting > 0 && e.Scope != event.DecisionSession {
		e.Expires = now.Add(lasting)
	}
	if d.Prefix() {
		for _, x := range o.analysis.Effects {
			if !slices.Contains(e.Classes, x.Class) {
				e.Classes = append(e.Classes, x.Class)
			}
		}
	}
	e.ID = e.id()
	return e
}

// plainArguments returns the words of a command that is one program with words that the shell
// leaves as they are.
func plainArguments(cmd string) ([]string, bool) {
	file, err := shelltext.Parse(cmd)
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(s.Redirs) > 0 || s.Background || s.Negated {
		return nil, false
	}
	var out []string
	for _, w := range c.Args {
		for _, word := range shelltext.Read(w) {
			if !word.Known() {
				return nil, false
			}
			out = append(out, shelltext.Join([]shelltext.Word{word}))
		}
	}
	return out, true
}

var verb = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9:-]*$`) })

// Programs whose first verb says what they do, and those whose second one does.
var (
	oneVerb = strings.Fields("git npm yarn pnpm cargo go kubectl helm terraform tofu make just pip pip3 uv poetry " +
		"systemctl brew apt apt-get gem bundle composer dotnet")
	twoVerbs = strings.Fields("docker podman aws gcloud az gh glab")
)

// prefixOf returns the program and its verb, for programs whose verb says what they do.
func prefixOf(words []string) string {
	n := 2
	switch {
	case slices.Contains(twoVerbs, words[0]):
		n = 3
	case !slices.Contains(oneVerb, words[0]):
		return ""
	}
	if n == 3 && len(words) > 1 && slices.Contains([]string{"rm", "rmi", "cp", "push", "kill", "stop", "api", "exec", "run"}, words[1]) {
		n = 2
	}
	if len(words) < n {
		return ""
	}
	for _, w := range words[1:n] {
		if !verb().MatchString(w) {
			return ""
		}
	}
	return strings.Join(words[:n], " ")
}

// dirOf is where a call's command starts: its own folder, when it names one.
func dirOf(r Request) string {
	switch dir := r.Intent.Shell.Dir; {
	case dir == "":
		return r.Dir
	case path.IsAbs(dir):
		return dir
	default:
		return path.Join(r.Dir, dir)
	}
}
