// Package command says what a shell command would do before it runs: which effects it has, on what,
// and whether it may run unasked.
//
// The contract:
//
//   - Analyse parses, it never executes anything, and asks the file system at most where links
//     lead.
//   - What is not understood asks. Nothing that a shell may read in two ways is allowed because of
//     the kinder one.
//   - It is a guard against accidents and against injected text. It is no sandbox: a program that
//     is allowed to run does what its code says. Who needs a wall uses a container.
//
// A command is read by effects, not by names: words are unquoted, wrappers such as sudo, env, xargs
// and "sh -c" are peeled, paths are resolved, and each program's own options say what it reads,
// writes, deletes, starts or sends.
package command

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/ownhome"
)

// Verdict is what happens to a command.
type Verdict string

// Verdicts, from the best to the worst.
const (
	Allow  Verdict = "allow"  // runs unasked
	Ask    Verdict = "ask"    // a person decides
	Refuse Verdict = "refuse" // the floor: never runs, whoever says so
)

// Level is how far a session may go unasked.
type Level int

// Levels. A command runs unasked when none of its effects is above the level of its session.
const (
	LevelRead      Level = 0 // read files, search, look at logs
	LevelCreate    Level = 1 // make new files and folders
	LevelStandard  Level = 2 // change files of the project, build, test, local git, containers, fetch
	LevelSensitive Level = 3 // delete, publish, install, databases, secrets, far machines
	LevelAlways    Level = 4 // asked at every level: privilege, persistence, unknown code, what cannot be read
	levelNever     Level = 5 // the floor
)

// Class is a kind of effect.
type Class string

// Classes of effects.
const (
	Read       Class = "read"
	Write      Class = "write"
	Delete     Class = "delete"
	Run        Class = "run"        // code of the project or of installed tools: builds, tests
	Exec       Class = "exec"       // code that nobody has seen: a pipe to a shell, eval, an unknown program
	NetIn      Class = "net-in"     // fetches
	NetOut     Class = "net-out"    // sends data out or changes something far away
	Credential Class = "credential" // reads or touches keys and secrets
	Privilege  Class = "privilege"
	System     Class = "system"  // this machine beyond the project: packages, services, processes
	History    Class = "history" // loses history or unsaved work
	Persist    Class = "persist" // comes back later: start-up files, cron, hooks, services
	Device     Class = "device"
	Hidden     Class = "hidden"  // text that does not look like what it is
	Unclear    Class = "unclear" // could not be understood
)

// Effect is one thing that a command does.
type Effect struct {
	Class      Class  `json:"class"`
	Target     string `json:"target,omitempty"` // path, host, package ...; may hold anything that the command holds
	Span       [2]int `json:"span"`             // byte range in the command
	Reason     string `json:"reason"`
	Level      Level  `json:"level"`
	Reversible bool   `json:"reversible"` // it can be undone or repeated without loss
	// Folder is what is deleted with all that is in it, as an absolute path of this machine; ""
	// otherwise.
	Folder string `json:"-"`
}

// Analysis is the outcome of Analyse.
type Analysis struct {
	Verdict Verdict
	Level   Level    // the highest level of an effect
	Effects []Effect // worst first
	Span    [2]int   // byte range of what decided; zero when it is allowed
	Reason  string   // a sentence without a full stop; "" when it is allowed
	// Loose says that an effect was let pass only because the command runs in a sandbox, in words;
	// "" when none was.
	Loose string
	// Runs are the words of every program that runs, wrappers and shells among them, as far as they
	// are known. What is known only when it runs is "…".
	Runs [][]string
	// Dir is where the shell ends, as far as that is known: "" when it is not.
	Dir string
	// Touched are regular files of this machine that are there and that the command is seen to
	// change or delete. It may change others.
	Touched []string
}

// OnlyReads reports whether nothing is seen that would change anything.
func (a Analysis) OnlyReads() bool {
	return !slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.Class != Read })
}

// ChangesNothing reports whether nothing is seen that would change anything where a runs, or at
// somebody else's: it reads, or fetches.
func (a Analysis) ChangesNothing() bool {
	return !slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.Class != Read && e.Class != NetIn })
}

// Fetches reports whether something is fetched, and whether some of it is from elsewhere than this
// machine.
func (a Analysis) Fetches() (some, elsewhere bool) {
	for _, e := range a.Effects {
		if e.Class == NetIn {
			some, elsewhere = true, elsewhere || !localAddress(e.Target)
		}
	}
	return some, elsewhere
}

// Unknown reports whether a may start code that nobody has seen, gain privilege or persist: such a
// command is never remembered.
func (a Analysis) Unknown() bool {
	for _, e := range a.Effects {
		switch e.Class {
		case Exec, Privilege, Persist, Hidden, Unclear, Device:
			return true
		default:
		}
	}
	return false
}

// Reversible reports whether everything that a asks about can be undone.
func (a Analysis) Reversible(level Level) bool {
	for _, e := range a.Effects {
		if e.Level > level && !e.Reversible {
			return false
		}
	}
	return a.Verdict == Ask
}

// Context is where a command would run.
type Context struct {
	Dir     string // where it starts; absolute
	Home    string // what ~ is; "" takes a name that is nowhere
	Project string // root of what the person works on; "" is Dir
	DataDir string // our own data folder; "" when unknown
	Level   Level  // what runs unasked
	// Local says that the paths are those of this machine, so that links can be followed.
	Local bool
	// Sandboxed says that the command runs in a container from which nothing of the machine can be
	// reached: no host folders, no privileges, no engine socket. Rules are then looser.
	Sandboxed bool
	Backend   string // name of the back end, for sentences
	// Unkept returns why no copy of a file of this machine is there once its content is replaced;
	// "" when there will be one. Nil is never why.
	Unkept func(path string) string
	// Foreign returns whose words besides the person's may be behind the command, as "x has read
	// what strangers wrote"; "" for nobody's. It is asked only where that counts. Nil is nobody's.
	Foreign func() string

	ready bool
	homes []string // data folders of Hermes
}

// Limits. What is larger is asked about unread.
const (
	maxBytes    = 64 << 10
	maxCommands = 200
	maxDepth    = 8
	maxNesting  = 200 // brackets open at one time
	maxParsed   = 512 << 10
	maxWord     = 8 << 10 // bytes of a word after expansion
	maxFields   = 1 << 10 // words of one word after expansion
)

// Prepared returns c with its paths resolved, for many commands in one place.
func (c Context) Prepared() Context {
	if c.ready {
		return c
	}
	if c.Home == "" {
		c.Home = "/home/user"
	}
	if c.Dir == "" {
		c.Dir = "/work"
	}
	if c.Project == "" {
		c.Project = c.Dir
	}
	own := c.DataDir
	for _, p := range []*string{&c.Dir, &c.Home, &c.Project, &c.DataDir} {
		*p = c.resolvePath(*p)
	}
	c.homes = ownhome.Homes(c.DataDir, c.Home)
	for _, h := range append(ownhome.Homes(own, c.Home), c.homes...) { // as they are written, and where links lead
		if h = c.resolvePath(h); !slices.Contains(c.homes, h) {
			c.homes = append(c.homes, h)
		}
	}
	for _, h := range ownhome.Homes(own, "") {
		if h = filepath.Clean(h); !slices.Contains(c.homes, h) {
			c.homes = append(c.homes, h)
		}
	}
	c.ready = true
	return c
}

func (c Context) resolvePath(p string) string {
	if p == "" {
		return ""
	}
	if c.Local {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return real
		}
	}
	return filepath.Clean(p)
}

// ContextIn is the context of a command on this machine that starts in dir. It is not prepared:
// more may be said of it.
func ContextIn(dir string) Context {
	home, _ := os.UserHomeDir() // without one, a name that is nowhere stands for it
	return Context{
		Dir: dir, Home: home, Project: repositoryRoot(dir, home), Level: LevelStandard,
		Local: true,
	}
}

// unanalysed is said when our own code failed.
const unanalysed = "it could not be analysed"

// Analyse says what text would do in c.
func Analyse(text string, c Context) (a Analysis) {
	c = c.Prepared()
	w := &walker{ctx: &c, dir: c.Dir, known: true, whole: [2]int{0, len(text)}, spent: new(int)}
	defer func() {
		if r := recover(); r != nil { // the text is hostile: a mistake of ours must not let it through, nor end the program
			a = Analysis{
				Verdict: Ask, Level: LevelAlways, Span: w.whole, Reason: unanalysed,
				Effects: []Effect{{Class: Unclear, Level: LevelAlways, Span: w.whole, Reason: unanalysed}},
			}
		}
	}()
	w.setSpan(w.whole)
	w.findHiddenCharacters(text)
	w.walkScript(text)
	return w.judgeEffects()
}

// walkScript reads a text in each way in which a shell may read it; what any reading finds counts.
func (w *walker) walkScript(text string) {
	switch {
	case len(text) > maxBytes:
		w.addEffect(Unclear, LevelAlways, "", "it is longer than "+fmt.Sprint(maxBytes>>10)+" KB")
		return
	case tooDeep(text):
		w.addEffect(Unclear, LevelAlways, "", "its brackets are nested too deeply")
		return
	}
	if *w.spent += len(text) + 64; *w.spent > maxParsed {
		w.addEffect(Unclear, LevelAlways, "", "it holds too much text that is code")
		return
	}
	parsed := w.walkReading(text, syntax.LangBash)
	if joined := strings.ReplaceAll(text, "\\\n", ""); joined != text {
		fixed := w.fixed
		w.fixed = true // its offsets are not those of the text
		w.walkReading(joined, syntax.LangBash)
		w.fixed = fixed
	}
	if parsed && readsDifferently(text) {
		*w.spent += len(text)
		w.walkReading(text, syntax.LangPOSIX)
	}
}

// readsDifferently reports whether text holds something that bash and a plain sh read in different
// ways.
func readsDifferently(text string) bool {
	for _, mark := range []string{"$'", "$\"", "[[", "((", "&>", "|&", "function", "<(", ">(", "{"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// walkReading walks one reading of text with its own variables and folder.
func (w *walker) walkReading(text string, lang syntax.LangVariant) bool {
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	syntax.Variant(lang)(p)
	file, err := parse(p, text)
	if err != nil {
		if lang == syntax.LangPOSIX {
			return false // such a shell does not run it
		}
		w.addEffect(Unclear, LevelAlways, "", "it cannot be read as a shell command: "+err.Error())
		w.guessUnparsed(text)
		return false
	}
	inner := *w
	inner.posix = lang == syntax.LangPOSIX
	inner.vars, inner.funcs, inner.written, inner.linked = copyMap(w.vars), copyMap(w.funcs), copyMap(w.written), copyMap(w.linked)
	inner.built, inner.listing = copyMap(w.built), copyMap(w.listing)
	inner.trapped = nil
	inner.walkStatements(file.Stmts)
	inner.runTraps()
	switch {
	case w.depth > 0:
	case !inner.known, w.ends != "" && w.ends != inner.dir:
		w.lost = true
	default:
		w.ends = inner.dir
	}
	w.effects, w.commands, w.loose, w.out, w.runs, w.touched = inner.effects, inner.commands, inner.loose, inner.out, inner.runs, inner.touched
	return true
}

// parse turns a panic of the parser into an error: the text is hostile.
func parse(p *syntax.Parser, text string) (f *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("the parser failed")
		}
	}()
	return p.Parse(strings.NewReader(text), "")
}

// guessUnparsed looks at the words of a text that does not parse: another shell may run a part of
// it.
func (w *walker) guessUnparsed(text string) {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`", r) }) {
		var args []field
		for _, word := range strings.Fields(line) {
			args = append(args, field{text: strings.Trim(word, `"'`)})
		}
		if len(args) > 0 {
			w.judgeCommand(args)
		}
	}
}

func tooDeep(text string) bool {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[':
			open++
		case ')', '}', ']':
			open = max(0, open-1)
		}
		if open > maxNesting {
			return true
		}
	}
	return strings.Count(text, "`") > maxNesting
}

func copyMap[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]V, len(m))
	maps.Copy(out, m)
	return out
}

// suspectSending raises what changes something at a server, where strangers may have asked for it.
func (w *walker) suspectSending() {
	why, asked := "", false
	for i := range w.effects {
		e := &w.effects[i]
		if e.Class != NetOut || e.Level >= LevelSensitive || w.ctx.Foreign == nil || w.ctx.Sandboxed {
			continue
		}
		if !asked {
			why, asked = w.ctx.Foreign(), true
		}
		if why != "" {
			e.Level, e.Reason = LevelSensitive, e.Reason+", and "+why
		}
	}
}

// judgeEffects turns the effects into the answer.
func (w *walker) judgeEffects() Analysis {
	w.suspectSending()
	a := Analysis{Verdict: Allow, Effects: w.effects, Loose: w.loose, Runs: w.runs, Touched: w.touched}
	if !w.lost {
		a.Dir = w.ends
	}
	// Worst first, otherwise in the order of the command.
	slices.SortStableFunc(a.Effects, func(x, y Effect) int { return int(y.Level - x.Level) })
	if len(a.Effects) > 0 {
		a.Level = a.Effects[0].Level
	}
	switch {
	case a.Level >= levelNever:
		a.Verdict, a.Level = Refuse, LevelAlways
	case a.Level > w.ctx.Level:
		a.Verdict = Ask
	default:
		return a
	}
	a.Span, a.Reason = a.Effects[0].Span, a.Effects[0].Reason
	return a
}
