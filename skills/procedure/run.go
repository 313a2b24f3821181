package procedure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/crash"
	"hermes/core/deadline"
)

// Names of the tools that a run uses itself.
const (
	toolCommand = "terminal"
	toolAsk     = "clarify"
	toolRecall  = "memory_recall"
	toolStore   = "memory_store"
)

const maxAttempts = 2 // of a step that a branch runs again

// Run is one run of a procedure.
type Run struct {
	p     *Procedure
	host  Host
	given map[string]any

	saving   sync.Mutex
	mu       sync.Mutex
	state    State
	vars     map[string]any // parameters and results
	warnings []string
	advice   []string
	ran      []Ran
	held     int // postconditions
	total    *deadline.Clock
	turn     context.Context //nolint:containedctx // only asked whether the turn was stopped
}

// stepRun is one step on its way.
type stepRun struct {
	step  *Step
	place int // -1 in a branch
	clock *deadline.Clock

	command string // that ran
	exit    *int
}

// Start makes a run. state.Done are steps that are over, and are not run again.
func Start(p *Procedure, host Host, state State) *Run {
	r := &Run{p: p, host: host, state: state, given: state.Params, vars: maps.Clone(state.Params)}
	if r.vars == nil {
		r.vars = map[string]any{}
	}
	for _, d := range state.Done {
		if d.Step >= 0 && d.Step < len(p.Steps) && p.Steps[d.Step].Output != "" {
			r.vars[p.Steps[d.Step].Output] = d.Output
		}
	}
	return r
}

// Do runs what is left.
func (r *Run) Do(ctx context.Context) Result {
	r.turn = ctx
	r.total = deadline.New(r.p.TotalTime)
	defer r.total.Stop()
	ctx, cancel := r.boundContext(ctx, r.total, "the procedure", r.p.TotalTime)
	defer cancel()
	err := r.runSteps(ctx)
	if err != nil && ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	var text string
	if err == nil {
		text, err = r.renderOutput()
	}
	switch {
	case err == nil:
		r.state.Ended = "done"
		r.finishRun(ctx, r.p.Output.OnSuccess, text)
	case !errors.Is(err, context.Canceled):
		r.state.Ended = "failed"
		r.finishRun(ctx, r.p.Output.OnFailure, "")
	}
	r.saveState()
	return Result{
		State: r.state, Text: text, Err: err, Warnings: r.warnings, Advice: r.advice, End: endOf(r.turn, err), Steps: r.ran, Held: r.held,
	}
}

func (r *Run) runSteps(ctx context.Context) error {
	if missing := r.p.missingParameters(r.vars); len(missing) > 0 {
		return endError{fmt.Errorf("these parameters have no value: %s", strings.Join(missing, ", ")), EndNotBegun}
	}
	if len(r.state.Done) == 0 {
		if err := r.runChecks(ctx, "precondition", EndNotBegun, r.p.Preconditions); err != nil {
			return err
		}
	}
	r.saveState()
	for _, g := range r.p.Groups {
		left := slices.DeleteFunc(slices.Clone(g), r.isDone)
		if err := r.runBeside(len(left),
			func(i int) error { return r.runStep(ctx, left[i]) }); err != nil {
			return err
		}
	}
	if err := r.runChecks(ctx, "postcondition", EndUnmet, r.p.Postconditions); err != nil {
		return err
	}
	if slices.ContainsFunc(r.state.Done, func(d Done) bool { return d.Status == statusDone }) || slices.ContainsFunc(r.ran, func(s Ran) bool { return s.Status == statusDone }) {
		r.held = len(r.p.Postconditions) // else it held before, and the run did nothing for it
	}
	return nil
}

func (r *Run) isDone(place int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.state.Done, func(d Done) bool { return d.Step == place })
}

// runBeside runs n pieces of work at the same time and returns their first error.
func (r *Run) runBeside(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		crash.Go("procedure", func() {
			defer all.Done()
			errs[i] = f(i)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// boundContext ends a context when a clock has run down.
func (r *Run) boundContext(ctx context.Context, clock *deadline.Clock, what string, d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	crash.Go("procedure clock", func() {
		select {
		case <-clock.C:
			cancel(fmt.Errorf("%s took longer than %s", what, d))
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(nil) }
}

// runChecks checks what must be true. end is how the run ends where something is not.
func (r *Run) runChecks(ctx context.Context, kind, end string, list []Check) error {
	var wrong []string
	for i := range list {
		c := &list[i]
		command, err := c.Command.renderCommand(r.currentScope(), false)
		if err != nil {
			return fmt.Errorf("%s %s (line %d): %w", kind, c.Name, c.Line, err)
		}
		out := r.runCommand(ctx, nil, command)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if out.Refused {
			return fmt.Errorf("%s %s: %w", kind, c.Name, out.asError())
		}
		if out.Failed && out.Exit == nil { // it did not run, so it says neither yes nor no
			if end == EndUnmet {
				end = EndUnchecked
			}
			return endError{fmt.Errorf("%s %s could not be checked: %w", kind, c.Name, out.asError()), end}
		}
		if out.Failed == c.Want {
			wrong = append(wrong, cmp.Or(c.Message, fmt.Sprintf("%s is not %v", c.Name, c.Want)))
		}
	}
	if len(wrong) > 0 {
		return endError{fmt.Errorf("%s not met: %s", kind, strings.Join(wrong, "; ")), end}
	}
	return nil
}

func (r *Run) currentScope() scope {
	r.mu.Lock()
	defer r.mu.Unlock()
	return newScope(maps.Clone(r.vars))
}

// runStep runs one runStep of the list, with what its failure asks for.
func (r *Run) runStep(ctx context.Context, place int) error {
	s := &r.p.Steps[place]
	for attempt := 1; ; attempt++ {
		status, out, err := r.runOnce(ctx, s, place)
		if err == nil {
			return r.keepDone(Done{Step: place, Name: s.Name, Status: status, Output: out})
		}
		if ctx.Err() != nil {
			return err
		}
		then, handled := r.handleFailure(ctx, s, err)
		err = fmt.Errorf("%s (line %d): %w", s.Name, s.Line, err)
		switch {
		case handled != nil:
			return errors.Join(err, handled)
		case then == "retry" && attempt < maxAttempts:
			continue
		case then == Continue || then == "continue":
			r.addWarning(err.Error())
			return r.keepDone(Done{Step: place, Name: s.Name, Status: statusWarned, Note: err.Error()})
		default:
			return err
		}
	}
}

// keepDone keeps what came of a step.
func (r *Run) keepDone(d Done) error {
	d.Output = plainJSON(d.Output)
	r.mu.Lock()
	r.state.Done = append(r.state.Done, d)
	if key := r.p.Steps[d.Step].Output; key != "" {
		r.vars[key] = d.Output
	}
	r.mu.Unlock()
	r.host.Say(fmt.Sprintf("%d/%d %s: %s", d.Step+1, len(r.p.Steps), d.Name, d.Status))
	r.saveState()
	return nil
}

func (r *Run) saveState() {
	r.saving.Lock() // the newest is written last
	defer r.saving.Unlock()
	r.mu.Lock()
	state := r.state
	state.Done = slices.Clone(state.Done)
	r.mu.Unlock()
	if err := r.host.Save(state); err != nil {
		r.addWarning("how far the run is could not be kept: " + err.Error())
	}
}

func (r *Run) addWarning(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, text)
}

// handleFailure does what the file says about a failure, and says how it goes on.
func (r *Run) handleFailure(ctx context.Context, s *Step, failed error) (then string, err error) {
	then = s.OnFailure
	b := r.branchFor(s, failed)
	if b == nil {
		for _, x := range r.p.Branches {
			if x.Advice != "" && then == Stop {
				r.addAdvice(x)
			}
		}
		return then, nil
	}
	r.addAdvice(*b)
	for i := range b.Steps {
		if _, _, err := r.runOnce(ctx, &b.Steps[i], -1); err != nil && b.Steps[i].OnFailure != Continue {
			return Stop, fmt.Errorf("and %s of %s: %w", b.Steps[i].Name, b.Name, err)
		}
	}
	return b.Then, nil
}

// branchFor finds what fits a failure: what on_failure names, else the first whose condition holds.
func (r *Run) branchFor(s *Step, failed error) *Branch {
	sc := r.currentScope()
	sc.vars["error"] = plainJSON(asValue(failed))
	for i, b := range r.p.Branches {
		if b.Name == s.OnFailure {
			return &r.p.Branches[i]
		}
		if b.When == nil || s.OnFailure == Continue {
			continue
		}
		if ok, err := b.When.isTrue(sc); err == nil && ok {
			return &r.p.Branches[i]
		}
	}
	return nil
}

func (r *Run) addAdvice(b Branch) {
	if b.Advice != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		if text := b.Name + ": " + b.Advice; !slices.Contains(r.advice, text) {
			r.advice = append(r.advice, text)
		}
	}
}

// runOnce runs a step, in its time.
func (r *Run) runOnce(ctx context.Context, s *Step, place int) (status string, out any, err error) {
	limit := cmp.Or(s.Time, r.p.StepTime)
	sr := &stepRun{step: s, place: place, clock: deadline.New(limit)}
	defer func() { r.noteRan(r.turn, sr, status, err) }()
	defer sr.clock.Stop()
	ctx, cancel := r.boundContext(ctx, sr.clock, "the step", limit)
	defer cancel()
	r.recallForStep(ctx, sr)
	if s.Condition != nil {
		if ok, err := s.Condition.isTrue(r.currentScope()); err != nil || !ok {
			return statusSkipped, nil, err
		}
	}
	if r.p.asksFirst(r.host, s) {
		if err := r.askPerson(ctx, sr); err != nil {
			return "", nil, err
		}
	}
	out, err = r.runAction(ctx, sr)
	if err != nil && ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return statusDone, out, err
}

// runAction does what the step is about.
func (r *Run) runAction(ctx context.Context, s *stepRun) (any, error) {
	sc := r.currentScope()
	if s.step.Command != nil {
		command, err := s.step.Command.renderCommand(sc, false)
		if err != nil {
			return nil, err
		}
		out := r.runCommand(ctx, s, command)
		s.command, s.exit = command, out.Exit
		if out.Failed {
			return nil, out.asError()
		}
		return fromText(out), nil
	}
	args, err := s.step.replacedArguments(sc.vars, r.given)
	if err != nil {
		return nil, err
	}
	if name, ok := r.host.Tool(s.step.Action); ok && s.step.Prompt == nil {
		out := r.callTool(ctx, s, name, args)
		if out.Failed {
			return nil, out.asError()
		}
		return fromText(out), nil
	}
	if f := s.step.builtin(); f != nil {
		return f(ctx, r, s, args)
	}
	if server := r.p.lackingServer(r.host, s.step.Action); server != "" && s.step.Prompt == nil {
		return nil, fmt.Errorf("the tool %s of the MCP server %s is not there: set the server up (hermes mcp) and take its tools (/tools)", s.step.Action, server)
	}
	return r.askModel(ctx, s, args, sc)
}

// fromText is a result as a value: data as they are, JSON read, else text and exit code.
func fromText(out Outcome) any {
	var v any
	if text := strings.TrimSpace(out.Text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &v) == nil {
			return v
		}
	}
	if out.Data != nil && out.Exit == nil {
		return out.Data
	}
	m := map[string]any{"text": strings.TrimSpace(out.Text)}
	if out.Exit != nil {
		m["exit_code"] = *out.Exit
	}
	return m
}

// callTool runs a tool; the clocks stand still while a person is asked.
func (r *Run) callTool(ctx context.Context, s *stepRun, name string, args map[string]any) Outcome {
	return r.host.Call(ctx, name, args, func(waits bool) {
		r.total.PauseWhile(waits)
		if s != nil {
			s.clock.PauseWhile(waits)
		}
	})
}

// runCommand runs a command by the terminal tool.
func (r *Run) runCommand(ctx context.Context, s *stepRun, command string) Outcome {
	limit := r.p.StepTime
	if s != nil {
		limit = cmp.Or(s.step.Time, limit)
	}
	limit = min(limit, 10*time.Minute)
	out := r.callTool(ctx, s, toolCommand, map[string]any{"command": command, "timeout": max(1, int(limit.Seconds()))})
	if m, ok := out.Data.(map[string]any); ok {
		if text, ok := m["output"].(string); ok {
			out.Text = text
		}
	}
	out.Failed = out.Failed || out.Exit != nil && *out.Exit != 0
	return out
}

// askPerson asks the person. Without a yes the step does not run.
func (r *Run) askPerson(ctx context.Context, s *stepRun) error {
	if _, ok := r.host.Tool(toolAsk); !ok {
		return endError{fmt.Errorf("it wants a yes, and nobody is there to ask: run it in the workbench, /%s", r.p.Name), EndRefused}
	}
	question := fmt.Sprintf("Run the step %q of %s?", s.step.Name, r.p.Name)
	if s.step.ConfirmText != nil {
		text, err := s.step.ConfirmText.renderText(r.currentScope())
		if err != nil {
			return err
		}
		question = text
	}
	r.total.PauseWhile(true)
	s.clock.PauseWhile(true)
	out := r.host.Call(ctx, toolAsk, map[string]any{"question": question, "choices": []any{"yes", "no"}}, func(bool) {})
	s.clock.PauseWhile(false)
	r.total.PauseWhile(false)
	_, answer, _ := strings.Cut(out.Text, ":")
	if out.Failed || !strings.EqualFold(strings.TrimSpace(answer), "yes") {
		return endError{errors.New("the person did not say yes"), EndRefused}
	}
	return nil
}

// askModel has a model answer in the shape that later steps need, with a second try when it does
// not.
func (r *Run) askModel(ctx context.Context, s *stepRun, args map[string]any, sc scope) (any,
	error,
) {
	prompt := ""
	if s.step.Prompt != nil {
		var err error
		if prompt, err = s.step.Prompt.renderText(sc); err != nil {
			return nil, err
		}
	}
	earlier := map[string]any{}
	for key := range r.p.outputKeys() {
		if v, ok := sc.vars[key]; ok {
			earlier[key] = v
		}
	}
	schema := r.p.schemaOf(s.step)
	text, err := r.p.modelInput(s.step, prompt, args, earlier, schema)
	if err != nil {
		return nil, err
	}
	r.host.Say(fmt.Sprintf("%s: asking a model", s.step.Name))
	for attempt := 1; ; attempt++ {
		said, err := r.host.Model(ctx, modelRules, text)
		if err != nil {
			return nil, err
		}
		v, err := readAnswer(said, schema)
		if err == nil || attempt == maxAttempts {
			return v, err
		}
		text += "\n\nYour last answer was of no use: " + err.Error()
	}
}

// recallForStep looks up what a step takes from the long-term memory.
func (r *Run) recallForStep(ctx context.Context, s *stepRun) {
	name, ok := r.host.Tool(toolRecall)
	for _, x := range r.p.refs {
		if !ok || x.path[0] != Memory || len(x.path) < 2 || x.step != s.step.Line {
			continue
		}
		out := r.callTool(ctx, s, name, map[string]any{"query": strings.ReplaceAll(x.path[1], "_", " "), "top_k": 1})
		if out.Failed {
			continue
		}
		r.mu.Lock()
		known, _ := r.vars[Memory].(map[string]any)
		known = maps.Clone(known)
		if known == nil {
			known = map[string]any{}
		}
		known[x.path[1]] = out.Text
		r.vars[Memory] = known
		r.mu.Unlock()
	}
}
