package core

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/prompt"
	"hermes/core/skill"
	"hermes/core/tool"
	toolprocedure "hermes/core/tool/procedure"
	toolskill "hermes/core/tool/skill"
	"hermes/core/trust"
	"hermes/skills"
)

// OpenSkills returns the skills of a data folder; for the command line, which needs nothing else of
// the program.
func OpenSkills(c *config.Config) *skill.Library {
	return openSkills(c.Paths(), func() *config.Config { return c }, nil, nil)
}

func openSkills(paths config.Paths, now func() *config.Config, told func(skills.Version), loaded func(string, *skills.Skill)) *skill.Library {
	return skill.New(skill.Options{
		Told: told, Loaded: loaded, Seen: func(name string) bool { return scriptsSee(now(), name) },
		Set: func(name string) bool { _, set := now().Secret(name); return set },
		Never: func(name string) bool {
			rule := EnvRule(now())
			rule.Passthrough = append(slices.Clone(rule.Passthrough), name)
			pass, _ := rule.Judge(name)
			return !pass
		},
		Grants: trust.New(filepath.Join(paths.Home, "skill_grants.json")),
		Home:   paths.SkillsDir, Trust: skills.NewTrust(filepath.Join(paths.SkillsDir, skills.TrustFile)), System: runtime.GOOS,
		Settings: func() skill.Settings {
			s := now().Skills
			out := skill.Settings{Disabled: s.Disabled, Unasked: !s.WriteApproval, Project: s.Project}
			for _, dir := range s.ExternalDirs {
				if dir = expandHome(dir); !filepath.IsAbs(dir) {
					dir = filepath.Join(paths.Home, dir)
				}
				out.External = append(out.External, filepath.Clean(dir))
			}
			return out
		},
	})
}

// scriptsSee reports whether scripts get a variable with these settings.
func scriptsSee(c *config.Config, name string) bool {
	return slices.ContainsFunc(ScriptEnv(c, os.Environ()), func(kv string) bool { return strings.HasPrefix(kv, name+"=") && len(kv) > len(name)+1 })
}

// toldVersion tells everybody of a new version of a skill.
func (a *App) toldVersion(v skills.Version) {
	a.Bus.Publish(event.Header{Session: v.Session, Turn: v.Turn}, event.SkillVersioned{
		Name: v.Name, Version: v.Number, Op: string(v.Op), To: v.To, By: v.By, Why: v.Why, Hash: v.Hash, Gone: v.Gone,
	})
}

// skillsPart is the library of skills and its tools.
type skillsPart struct {
	quiet
	a *App
}

func (p *skillsPart) Start(context.Context) error {
	p.a.Skills = openSkills(p.a.opts.Config.Paths(), p.a.Config, p.a.toldVersion, p.a.loadedSkill)
	if err := p.a.Skills.Edits.Recover(); err != nil {
		p.a.log.Warn("a change of a skill was cut off and cannot be settled", "err", err)
	}
	return nil
}

func (p *skillsPart) Tools() []tool.Tool {
	a := p.a
	run := toolprocedure.Tool(toolprocedure.Options{
		Library: a.Skills, Project: prompt.ProjectRoot, Runs: filepath.Join(a.Config().Paths().Home, "procedures"), Model: a.modelStep,
		Servers: func(session string, names []string) { a.MCP.Named(session, names) },
	})
	return append([]tool.Tool{run}, toolskill.Tools(toolskill.Options{Library: a.Skills, Project: prompt.ProjectRoot, Audience: func(session string) skill.Audience {
		return a.audienceFor(a.Tools.Enabled(session, a.agentSettings(session).Toolsets))
	}})...)
}

// Bounds of a step of a procedure that a model does.
const (
	stepTokens = 4000
	stepBytes  = 100_000
	stepTime   = 2 * time.Minute
)

// modelStep has a model without tools do a step of a procedure.
func (a *App) modelStep(ctx context.Context, session, system, text string) (string, error) {
	return a.runErrand(ctx, a.Config().Auxiliary.Procedure, errand{
		task: "procedure", session: session, system: system, text: text, most: stepTokens, bytes: stepBytes, time: stepTime, own: true,
	})
}

// loadedSkill starts the servers that a skill names, of those that the person has set up.
func (a *App) loadedSkill(session string, s *skills.Skill) {
	a.passing.noteLoaded(session, s.Name)
	if session != "" { // else it stands in what the session is told: see nameServers
		a.MCP.Named(session, s.Servers)
	}
}

// audienceFor is who is offered these tools.
func (a *App) audienceFor(tools []string) skill.Audience {
	out := skill.Audience{Tools: tools}
	for _, name := range tools {
		if s, ok := a.Tools.Lookup(name); ok && !slices.Contains(out.Toolsets, s.Toolset) {
			out.Toolsets = append(out.Toolsets, s.Toolset)
		}
	}
	return out
}

// skillIndex is what a new session is told of skills.
func (a *App) skillIndex(ctx context.Context, s event.SessionInfo, tools []string) (string, []string) {
	if !slices.Contains(tools, "skill_view") || a.Config().Refused(config.Known) != nil {
		return "", nil
	}
	return a.Skills.Index(ctx, prompt.ProjectRoot(cmp.Or(s.Cwd, a.Cwd())), a.audienceFor(tools))
}

// Skill returns a skill as a part of what the person says in a folder.
func (a *App) Skill(ctx context.Context, cwd, name string) (chat.Part, error) {
	if err := a.Config().Refused(config.Known); err != nil {
		return chat.Part{}, err
	}
	return a.Skills.Use(ctx, prompt.ProjectRoot(cwd), name)
}

// SubmitSkill hands a prompt to a session with a skill in it. Without words the skill itself is the
// task.
func (a *App) SubmitSkill(ctx context.Context, uid, name string, in agent.Input) error {
	if err := a.Ensure(ctx, uid); err != nil {
		return err
	}
	info, err := a.Sessions.Get(ctx, uid)
	if err != nil {
		return err
	}
	part, err := a.Skill(ctx, cmp.Or(info.Cwd, a.Cwd()), name)
	if err != nil {
		return err
	}
	if in.Text == "" {
		in.Text = "Use the skill " + name + "."
	}
	a.passing.noteLoaded(uid, name)
	a.nameServers(ctx, uid, []string{name})
	in.Parts = append([]chat.Part{part}, in.Parts...)
	return a.Agent.Submit(ctx, uid, in)
}

// Project is the root of what new sessions work on.
func (a *App) Project() string { return prompt.ProjectRoot(a.Cwd()) }

// RereadSkills reads the skills again: something about them was changed.
func (a *App) RereadSkills(ctx context.Context) {
	a.Skills.Changed()
	a.tellSkills(ctx)
}

// SwitchSkills writes which skills are off.
func SwitchSkills(cfg *config.Config, on bool, names ...string) error {
	off := slices.DeleteFunc(slices.Clone(cfg.Skills.Disabled), func(s string) bool { return slices.Contains(names, s) })
	if !on {
		off = append(off, names...)
	}
	slices.Sort(off)
	return config.Set(cfg.Paths(), "skills.disabled", "["+strings.Join(slices.Compact(off), ", ")+"]")
}

// skillsFollower reads the skills once the program is open, and again whenever something changes in
// one of their folders.
type skillsFollower struct {
	quiet
	follower
	a    *App
	move atomic.Pointer[context.CancelFunc] // ends the watch of the folders, which begins anew
}

func (p *skillsFollower) Start(context.Context) error {
	ctx, stop := context.WithCancel(context.Background())
	p.startFollowing("skills", stop, func() {
		p.a.tellSkills(ctx)
		for p.a.opts.Reload != nil && ctx.Err() == nil {
			if err := p.watchSkills(ctx); err != nil {
				p.a.log.Warn("skills are not watched", "err", err)
				return
			}
		}
	})
	return nil
}

// watchSkills reads the skills again whenever something changes where they are, until that is
// somewhere else.
func (p *skillsFollower) watchSkills(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p.move.Store(&stop)
	return skills.Watch(ctx, p.a.Skills.Places(p.a.Project()).Places(), func() { p.a.RereadSkills(ctx) })
}

// Changed looks where the skills are by now.
func (p *skillsFollower) Changed(c config.Change) {
	if !slices.ContainsFunc(c.Live, func(key string) bool { return strings.HasPrefix(key, "skills.") }) {
		return
	}
	if stop := p.move.Load(); stop != nil {
		(*stop)()
	}
	p.a.RereadSkills(context.Background())
}

func (p *skillsFollower) Close(ctx context.Context) error {
	return p.stopFollowing(ctx, "skills were still being read")
}

// tellSkills publishes what skills there are now, for whoever offers them.
func (a *App) tellSkills(ctx context.Context) {
	c := a.Skills.Catalog(ctx, a.Project())
	if ctx.Err() != nil {
		return
	}
	e := event.SkillsChanged{Count: len(c.Skills)}
	for _, p := range c.Problems {
		if p.Fatal {
			e.Problems = append(e.Problems, p.Error())
		}
	}
	if b := c.Project; b != nil && (b.State == skills.Unasked || b.State == skills.Changed) {
		e.Untrusted = skill.Untrusted(b)
	}
	a.Bus.Publish(event.Header{}, e)
}
