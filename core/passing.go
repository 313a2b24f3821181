package core

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hermes/core/chat"
	"hermes/core/childenv"
	"hermes/core/prompt"
	"hermes/core/secret"
	"hermes/core/skill"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/trust"
)

// passing is what loaded skills have passed to the commands and scripts of each session.
type passing struct {
	mu   sync.Mutex
	all  map[string]*passes
	gone bool // the program ends
}

// passes are those of one session.
type passes struct {
	asking chan struct{} // holds a value while somebody asks the person, so that two commands ask once
	mu     sync.Mutex    // of loaded; never held while anybody is waited for
	loaded []string      // names of skills

	// The rest belongs to whoever put the value into asking.
	read   bool            // the skills of the stored conversation are in loaded
	said   map[string]bool // by the id of a wish: the person was asked, or told
	once   map[string]bool // tainted wishes that the person granted for this session only
	copies copies          // of credential files
}

func (p *passing) passesOf(session string) *passes {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]*passes{}
	}
	s := p.all[session]
	if s == nil {
		s = &passes{asking: make(chan struct{}, 1), said: map[string]bool{}, once: map[string]bool{}}
		s.copies.gone = p.gone
		p.all[session] = s
	}
	return s
}

// noteLoaded notes that a session has a skill in its conversation.
func (p *passing) noteLoaded(session, name string) {
	if session == "" {
		return
	}
	p.passesOf(session).note(name)
}

// note adds names of skills that the conversation has.
func (s *passes) note(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(s.loaded, name) {
			s.loaded = append(s.loaded, name)
		}
	}
}

// loadedSkills are the names of the skills that the conversation has.
func (s *passes) loadedSkills() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loaded)
}

// removeCopies removes the copies of a session; "" means of all.
func (p *passing) removeCopies(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = p.gone || session == ""
	for uid, s := range p.all {
		if session == "" || uid == session {
			s.copies.removeForGood()
			delete(p.all, uid)
		}
	}
}

// passedVariables returns the variables that the skills of a call's session have passed to a
// command or script, and what there is to say about those that are not. The person is asked when
// they were not yet.
func (a *App) passedVariables(ctx context.Context, c tool.Call, backend string) (env map[string]string, notes []string) {
	env = map[string]string{}
	s := a.passing.passesOf(c.Session)
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done(): // the call ended while another one asked
		return env, nil
	}
	if !s.read {
		s.read = true
		s.note(a.storedSkills(ctx, c.Session)...)
	}
	here := a.isHere(c.Session, backend)
	var files []string
	for _, name := range s.loadedSkills() {
		w, note := a.wishOf(ctx, c, name)
		if w == nil {
			notes = appendNote(notes, s, name, note)
			continue
		}
		granted, note := a.isGranted(ctx, c, s, w)
		if notes = appendNote(notes, s, w.ID()+"\x00note", note); granted {
			notes = append(notes, a.fillGranted(env, s, w, here)...)
			files = append(files, w.Files...)
		}
	}
	if dir := s.copies.keepOnly(files); dir != "" && here {
		env[credentialsName] = dir
	}
	return env, notes
}

// appendNote says a note once a session.
func appendNote(notes []string, s *passes, about, note string) []string {
	if note == "" || s.said[about] {
		return notes
	}
	s.said[about] = true
	return append(notes, note)
}

// wishOf is what a loaded skill asks for; nil when that is nothing, or it cannot be given.
func (a *App) wishOf(ctx context.Context, c tool.Call, name string) (w *skill.Wish, note string) {
	project := prompt.ProjectRoot(c.Cwd)
	s, err := a.Skills.Find(ctx, project, name)
	if err != nil || len(s.Env)+len(s.Credentials) == 0 {
		return nil, "" // it was switched off or removed since
	}
	v, err := a.Skills.View(ctx, project, name, "")
	if err == nil && v.Blocked() {
		return nil, fmt.Sprintf("nothing is passed for the skill %s: it is blocked", name)
	}
	if w, err = a.Skills.WishOf(s); err != nil {
		return nil, err.Error()
	}
	return w, ""
}

// Answers to the question about a wish.
const (
	passYes = "Yes, until the skill changes"
	passNo  = "No"
)

// isGranted reports whether the person lets a skill have what it asks for.
func (a *App) isGranted(ctx context.Context, c tool.Call, s *passes, w *skill.Wish) (ok bool, note string) {
	refused := fmt.Sprintf("the skill %s is not given %s: the person said no", w.Skill, w.Asks())
	switch {
	case w.State == trust.Refused:
		return false, refused
	case w.Tainted && s.once[w.ID()], w.State == trust.Trusted && !w.Tainted:
		return true, ""
	case s.said[w.ID()]:
		return false, ""
	}
	s.said[w.ID()] = true
	answer, err := a.askPerson(ctx, ask.Question{Session: c.Session, Turn: c.Turn, CallID: c.ID, Text: passQuestion(w), Choices: []string{passYes, passNo}})
	if err != nil {
		return false, fmt.Sprintf("the skill %s asks for %s, which commands do not get: %v. `hermes skills allow %s` lets it", w.Skill, w.Asks(), err, w.Skill)
	}
	yes := saysYes(answer)
	if !yes && !saysNo(answer) {
		return false, fmt.Sprintf("the skill %s is not given %s; the person said: %s", w.Skill, w.Asks(), answer)
	}
	if w.Tainted && yes {
		s.once[w.ID()] = true
		return true, ""
	}
	if err := a.Skills.Grant(ctx, prompt.ProjectRoot(c.Cwd), w, yes); err != nil {
		return false, err.Error()
	}
	if !yes {
		return false, refused
	}
	return true, ""
}

// passQuestion is what the person is asked.
func passQuestion(w *skill.Wish) string {
	text := fmt.Sprintf("The skill %s asks for %s. May the commands and scripts of sessions that load it have that, wherever they run?", w.Skill, w.Asks())
	switch {
	case w.Tainted:
		text += " It was written by a conversation that had read strangers' words, so a yes holds for this session only."
	case w.State == trust.Outdated:
		text += " The skill has changed since you answered last."
	}
	return text
}

func saysYes(answer string) bool {
	return slices.Contains([]string{"1", "y", "yes", strings.ToLower(passYes)}, strings.ToLower(strings.TrimSpace(answer)))
}

func saysNo(answer string) bool {
	return slices.Contains([]string{"2", "n", "no", ""}, strings.ToLower(strings.TrimSpace(answer)))
}

// fillGranted adds what was granted to an environment. Files are copied for commands of this
// machine.
func (a *App) fillGranted(env map[string]string, s *passes, w *skill.Wish,
	here bool,
) (notes []string) {
	c := a.Config()
	for _, name := range w.Variables {
		value, set := c.Secret(name)
		if !set {
			notes = appendNote(notes, s, w.ID()+name, fmt.Sprintf("%s, which the skill %s asks for, is not set: the person can put it into .env", name, w.Skill))
			continue
		}
		env[name] = value
		if childenv.LooksSecret(name) || childenv.HoldsSecret(value) {
			secret.Add(value)
		}
	}
	if len(w.Files) == 0 {
		return notes
	}
	if !here {
		return appendNote(notes, s, w.ID()+"far", fmt.Sprintf("files of the skill %s (%s) are only passed to commands of this machine", w.Skill, strings.Join(w.Files, ", ")))
	}
	for _, file := range w.Files {
		if err := s.copies.putCopy(c.Paths().Home, file); err != nil {
			notes = appendNote(notes, s, w.ID()+file, fmt.Sprintf("%s, which the skill %s asks for, is not passed: %v", file, w.Skill, err))
		}
	}
	return notes
}

// isHere reports whether a command for a back end runs on this machine.
func (a *App) isHere(session, backend string) bool {
	for _, b := range a.Pool.List(session) {
		if b.Name == backend || backend == "" && b.Selected {
			return b.Traits.Local
		}
	}
	for _, b := range a.Pool.List(session) {
		if backend == "" && b.Default {
			return b.Traits.Local
		}
	}
	return false
}

// storedSkills are the skills that are in a conversation as it is stored: what a program that takes
// it up again has not seen being loaded.
func (a *App) storedSkills(ctx context.Context, session string) (names []string) {
	messages, err := a.Sessions.History(ctx, session)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			if name, ok := strings.CutPrefix(p.Name, "skill "); ok && p.Kind == chat.PartSkill {
				names = append(names, name)
			}
		}
		for _, call := range m.Calls {
			var args struct{ Name string }
			if call.Name == "skill_view" && json.Unmarshal(call.Args, &args) == nil {
				names = append(names, args.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
