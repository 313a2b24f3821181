package command

import (
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through one text and collects what it does.
type walker struct {
	ctx     *Context
	dir     string // where the next command runs
	known   bool   // dir is known
	vars    map[string]value
	funcs   map[string]*syntax.Stmt // bodies of what the line defines
	calling map[string]bool         // functions that are being called
	written map[string]bool         // files that the line has written so far
	listing map[string]bool         // those of them that name files where secrets are kept
	linked  map[string]string       // links that the line has made, and where they lead
	strange bool                    // the line has unpacked what it fetched
	opened  bool                    // the line has unpacked an archive into the project
	present map[string]bool         // files that were looked for while data folders were sought
	dotGlob bool                    // wildcards find hidden files too
	sourced bool                    // the line has run a file that may set any variable
	dirData bool                    // the name of the folder is what a file or a command says
	reached bool                    // the command that is looked at speaks with the network
	nearby  bool                    // with this machine only
	last    traits                  // of the words of the last command: $_
	trapped []field                 // what the line has traps run

	touched     []string        // files of this machine that it is seen to change
	namedByData bool            // the line has made files whose names are what a file or a command says
	built       map[string]bool // programs that the line has built of the project
	exported    map[string]bool // variables that programs get
	effects     []Effect
	loose       string

	in, out  traits          // what the commands read now and what they have written
	locals   map[string]bool // what the function that is called declares for itself
	own      bool            // what it reads is a text that only this command gets
	depth    int             // texts inside of texts
	ends     string          // the folder at the end, of the readings so far
	lost     bool            // it is not known, or the readings differ
	commands int
	runs     [][]string // the words of every program that runs
	inFunc   int
	branch   int // conditions and loops around
	posix    bool

	spent *int // bytes that were parsed for this command, in all readings

	span  [2]int // of what is looked at now
	whole [2]int // of the text
	fixed bool   // the text is inside of another: span stays where that stands
}

func (w *walker) setSpan(span [2]int) {
	if !w.fixed {
		w.span = span
	}
}

func (w *walker) setNode(n syntax.Node) {
	if w.fixed {
		return
	}
	from, to := int(n.Pos().Offset()), int(n.End().Offset()) //nolint:gosec // offsets of a short text
	if from <= to && to <= w.whole[1] {
		w.span = [2]int{from, to}
	}
}

// addEffect notes an effect of what is looked at now.
func (w *walker) addEffect(c Class, l Level, target, reason string) {
	w.keepEffect(Effect{Class: c, Level: l, Target: target, Reason: reason})
}

// maxEffects bounds what one command is said to do.
const maxEffects = 64

func (w *walker) keepEffect(e Effect) {
	e.Target = strings.ReplaceAll(e.Target, unknown, "…")
	w.reached = w.reached || e.Class == NetIn || e.Class == NetOut
	e.Span = w.span
	if e.Class == Run && len(w.written) > 0 && w.writtenBelow(w.dir+"/.") {
		e.Class, e.Level, e.Reason = Exec, max(e.Level, LevelAlways), e.Reason+", in a folder that this very line wrote"
	}
	if (e.Class == Run || e.Class == NetIn && strings.HasPrefix(e.Reason, "installs")) && e.Level < LevelAlways && (w.strange || w.wroteBuildFile()) {
		e.Class, e.Level, e.Reason = Exec, LevelAlways, e.Reason+", after this very line wrote or fetched what that runs"
	}
	if w.ctx.Sandboxed && e.Level > LevelStandard {
		e = w.allowInContainer(e)
	}
	for _, x := range w.effects {
		if x.Class == e.Class && x.Target == e.Target && x.Level >= e.Level {
			return
		}
	}
	if len(w.effects) < maxEffects {
		w.effects = append(w.effects, e)
		return
	}
	last := &w.effects[maxEffects-1]
	if e.Level > last.Level {
		*last = e
	}
}

// allowInContainer lets pass what can hurt nothing but a container.
func (w *walker) allowInContainer(e Effect) Effect {
	if e.Level >= levelNever {
		return e
	}
	switch e.Class {
	case Delete, Write, Exec, Privilege, System, History, Persist, Run, Device, Credential:
		e.Level = LevelStandard
		w.loose = "it runs in a container that reaches nothing of this machine"
	default:
	}
	return e
}

// openScope keeps folder and variables as they are outside of a subshell; call what it returns at
// its end.
func (w *walker) openScope() func() {
	dir, known, vars, funcs := w.dir, w.known, w.vars, w.funcs
	w.vars, w.funcs = copyMap(vars), copyMap(funcs)
	trapped := w.trapped
	w.trapped = nil
	return func() {
		w.runTraps() // of a subshell, at its own end
		w.dir, w.known, w.vars, w.funcs, w.trapped = dir, known, vars, funcs, trapped
	}
}

func (w *walker) walkStatements(list []*syntax.Stmt) {
	for _, s := range list {
		w.walkStatement(s)
	}
}

func (w *walker) walkStatement(s *syntax.Stmt) {
	if s == nil {
		return
	}
	in := w.in
	span := w.span
	writes := w.walkRedirects(s)
	own := w.own
	w.own = len(s.Redirs) == 1 && slices.Contains([]syntax.RedirOperator{syntax.WordHdoc, syntax.Hdoc, syntax.DashHdoc}, s.Redirs[0].Op) && s.Redirs[0].N == nil
	if s.Cmd != nil {
		w.setNode(s.Cmd)
		w.walkCommand(s.Cmd)
	} else if w.in.data { // $(< file)
		w.out = w.out.mergedWith(w.in)
	}
	w.setNode(s)
	w.fillRedirected(s, writes)
	if !redirectsForGood(s) {
		w.in = in
	}
	w.own = own
	w.setSpan(span)
}

func (w *walker) walkCommand(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.walkCall(c)
	case *syntax.BinaryCmd:
		w.walkBinary(c)
	case *syntax.Subshell:
		restore := w.openScope()
		w.walkStatements(c.Stmts)
		restore()
	case *syntax.Block:
		w.walkStatements(c.Stmts)
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		w.branch++
		w.walkCompound(c)
		w.branch--
	case *syntax.FuncDecl:
		w.defineFunction(c)
	case *syntax.TimeClause:
		w.walkStatement(c.Stmt)
	case *syntax.CoprocClause:
		if call, simple := c.Stmt.Cmd.(*syntax.CallExpr); simple && (c.Name != nil || len(call.Assigns) > 0) || c.Stmt.Cmd == nil { // the parser loses the order of its words
			w.addEffect(Unclear, LevelAlways, "", "it runs a command in the background in a way that shells read differently")
		}
		w.walkStatement(c.Stmt)
	case *syntax.DeclClause:
		w.walkDeclaration(c)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.walkArithmetic(x)
		}
	case *syntax.ArithmCmd:
		w.walkArithmetic(c.X)
	case *syntax.TestClause:
		w.walkWords(c)
		w.askIndexArithmetic(c)
		if from := w.computedFrom(c); from.data {
			w.noteOrigin("BASH_REMATCH", from)
		}
	default:
		w.addEffect(Unclear, LevelAlways, "", "it uses a form of the shell that is not understood")
	}
}

func (w *walker) walkBinary(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		w.walkStatement(b.X)
		w.branch++
		w.walkStatement(b.Y)
		w.branch--
		return
	}
	before, in := w.out, w.in
	w.out = traits{}
	restore := w.openScope()
	w.walkStatement(b.X)
	restore()
	w.in = w.out
	w.in.any, w.in.names = true, w.in.names && oneCommand(b.X)
	w.out = traits{}
	restore = w.openScope()
	w.walkStatement(b.Y)
	restore()
	w.in, w.out = in, mergeTraits(before, w.out)
}

// oneCommand reports whether a side of a pipe puts out what one command does, and nothing else.
func oneCommand(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return (c.Op == syntax.Pipe || c.Op == syntax.PipeAll) && oneCommand(c.Y)
	}
	return false
}

// mergeTraits is the output of one command after another.
func mergeTraits(a, b traits) traits {
	if a == (traits{}) {
		return b
	}
	out := a.mergedWith(b)
	if a.plain && b.plain {
		out.plain, out.text = true, a.text+b.text
	}
	return out
}

func (w *walker) walkCompound(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.walkStatements(c.Cond)
			w.walkStatements(c.Then)
		}
	case *syntax.WhileClause:
		w.walkLoop(func() {
			w.walkStatements(c.Cond)
			w.walkStatements(c.Do)
		})
		if isEndlessLoop(c) && hasBackground(c.Do) {
			w.addEffect(System, LevelAlways, "", "it starts processes without end")
		}
	case *syntax.ForClause:
		w.walkFor(c)
	case *syntax.CaseClause:
		w.expandOne(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.expandOne(p)
			}
			w.walkStatements(item.Stmts)
		}
	}
}

func (w *walker) walkFor(c *syntax.ForClause) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		items := w.expandWords(l.Items)
		if w.vars == nil {
			w.vars = map[string]value{}
		}
		if l.Name != nil {
			w.setLoopVariable(l.Name.Value, items)
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			w.walkArithmetic(x)
		}
		if l.Cond == nil && hasBackground(c.Do) {
			w.addEffect(System, LevelAlways, "", "it starts processes without end")
		}
	}
	w.walkLoop(func() { w.walkStatements(c.Do) })
}

// setLoopVariable gives the variable of a loop its values; of "$@" and of too many it is not known
// which.
func (w *walker) setLoopVariable(name string, items []field) {
	old, had := w.vars[name]
	v := value{fields: items, list: true}
	switch {
	case len(items) == 0:
		v = value{split: true, fields: w.vars["@"].fields}
	case len(items) > 32:
		v = value{split: true, fields: []field{{text: unknown, dyn: true, sub: true, from: joinWords(items).from}}}
	case had && w.branch > 1 && !reflect.DeepEqual(old, v): // the loop itself is a branch
		v.fields = append([]field{{text: unknown, dyn: true, sub: true}}, items...)
	}
	w.vars[name] = v
	if len(items) <= 32 {
		return
	}
	for _, f := range items {
		if mayNameSecret(f.text) {
			w.addRead(f, false)
		}
	}
}

func isEndlessLoop(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return c.Until && name == "false" || !c.Until && (name == "true" || name == ":" || name == "[" || name == "test")
}

func hasBackground(list []*syntax.Stmt) bool {
	for _, s := range list {
		if s.Background {
			return true
		}
	}
	return false
}

// defineFunction takes the body for what a call of it does; a call may come from where we do not
// see it.
func (w *walker) defineFunction(f *syntax.FuncDecl) {
	if f.Name == nil {
		w.addEffect(Unclear, LevelAlways, "", "it uses a form of the shell that is not understood")
		return
	}
	if isForkBomb(f) {
		w.addEffect(System, levelNever, "", "it is a fork bomb")
	}
	if w.funcs == nil {
		w.funcs = map[string]*syntax.Stmt{}
	}
	w.funcs[f.Name.Value] = f.Body
	dir, known, out := w.dir, w.known, w.out
	w.inFunc++
	w.branch++
	w.walkStatement(f.Body)
	w.branch--
	w.inFunc--
	if w.dir != dir {
		known = false // where we are depends on whether it was called
	}
	w.dir, w.known, w.out = dir, known, out
}

// isForkBomb recognises f() { f | f & }: a function that starts itself more than once, or in the
// background.
func isForkBomb(f *syntax.FuncDecl) bool {
	found := false
	times := 0
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && callsFunction(n.X, f.Name.Value) && callsFunction(n.Y, f.Name.Value)
		case *syntax.Stmt:
			if n.Background && callsFunction(n, f.Name.Value) {
				times++
			}
		}
		return !found
	})
	return found || times > 1
}

func callsFunction(s *syntax.Stmt, name string) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && c.Args[0].Lit() == name
	case *syntax.BinaryCmd:
		return callsFunction(c.X, name) || callsFunction(c.Y, name)
	default:
		return false
	}
}

// walkWords expands every word below n, for the commands in them.
func (w *walker) walkWords(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok {
			w.expandOne(word)
			return false
		}
		return true
	})
}

func (w *walker) walkCall(c *syntax.CallExpr) {
	args := w.expandWords(c.Args)
	if len(args) == 0 {
		for _, a := range c.Assigns {
			w.assignVariable(a, false)
		}
		if len(c.Args) > 0 {
			w.dynamicCommand(field{sub: true})
		}
		return
	}
	defer func() { w.last = joinWords(args).from }()
	if len(c.Assigns) == 0 {
		w.judgeCommand(args)
		return
	}
	vars, exported := w.vars, w.exported
	w.vars, w.exported = copyMap(vars), copyMap(exported)
	for _, a := range c.Assigns { // for this command only
		w.walkArithmetic(a.Index)
		if a.Name != nil {
			f := w.expandOne(a.Value)
			w.judgeSetting(a.Name.Value, f)
			w.setVariable(a.Name.Value, f, false)
			w.exportVariable(a.Name.Value)
			if a.Index != nil || a.Array != nil {
				w.forgetVariable(a.Name.Value)
			}
		}
	}
	made := copyMap(w.vars)
	w.judgeCommand(args)
	left := w.vars
	if vars == nil {
		vars = map[string]value{}
	}
	for name, v := range left { // read and its like set others
		if was, before := made[name]; !before || !reflect.DeepEqual(was, v) {
			vars[name] = v
		}
	}
	w.vars, w.exported = vars, exported
	if !w.staysAssigned(args[0].text) {
		return
	}
	for _, a := range c.Assigns {
		if a.Name != nil {
			vars[a.Name.Value] = value{fields: left[a.Name.Value].fields, split: true}
		}
	}
}

// staysAssigned reports whether what is assigned before a command may stay after it.
func (w *walker) staysAssigned(name string) bool {
	return w.funcs[name] != nil || isOneOf(": . eval exec export readonly set shift source times trap unset declare typeset local command builtin", name)
}
