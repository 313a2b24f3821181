// Package skill holds the tools around skills: skills_list (what there is), skill_view (one of
// them, or a file of it) and skill_manage (make, change and remove those of the person's home).
//
// The contract: the rules are those of core/skill. What is blocked on reading is told to the person
// by a Notice; what is refused on writing is refused before anybody is asked; what is written was
// asked about with its diff, unless the settings say otherwise, and can be undone.
package skill

import (
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	library "hermes/core/skill"
	"hermes/core/tool"
	"hermes/skills"
)

var (
	//go:embed skills_list.md
	listDoc string
	//go:embed skill_view.md
	viewDoc string
	//go:embed skill_manage.md
	manageDoc string
)

// Options are what the tools need.
type Options struct {
	Library *library.Library
	// Project returns the root of the project around a folder.
	Project func(dir string) string
	// Audience is what a session is offered.
	Audience func(session string) library.Audience
}

// Tools returns the three tools.
func Tools(o Options) []tool.Tool {
	m := &manage{Options: o, planned: map[string]*skills.Change{}}
	return []tool.Tool{listTool(o), viewTool(o), manageTool(m)}
}

type listArgs struct {
	Category string `json:"category"`
	Query    string `json:"query"`
}

func listTool(o Options) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "skills_list", Toolset: "skills", Description: listDoc,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"category":{"type":"string","description":"Only this category"},
			"query":{"type":"string","maxLength":200,"description":"Words of the task: only skills with some of them, the nearest first"}}}`),
		Intent: tool.Arg(func(a listArgs) intent.Intent { return intent.ReadsOnly(cmp.Or(a.Query, a.Category, "all skills")) }),
	}, o.listSkills)
}

func (o Options) listSkills(ctx context.Context, c tool.Call, a listArgs) (tool.Result, error) {
	entries, blocked := o.Library.List(ctx, o.Project(c.Cwd), o.Audience(c.Session))
	if a.Query != "" {
		entries = library.Matching(entries, a.Query)
	}
	var b strings.Builder
	rows := []map[string]string{}
	for _, e := range entries {
		if a.Category != "" && a.Category != e.Category && !strings.HasPrefix(e.Category, a.Category+"/") {
			continue
		}
		fmt.Fprintf(&b, "%s/%s: %s\n", e.Category, e.Name, e.Description)
		rows = append(rows, map[string]string{"name": e.Name, "category": e.Category, "description": e.Description})
	}
	for _, p := range o.Library.Procedures(ctx, o.Project(c.Cwd)) {
		words := strings.ToLower(p.Name + " " + p.Description + " " + strings.Join(p.Trigger.Keywords, " "))
		if !p.Usable() || len(p.Hits) > 0 || a.Category != "" || !strings.Contains(words, strings.ToLower(a.Query)) {
			continue
		}
		fmt.Fprintf(&b, "procedure %s: %s (run it with skill_run)\n", p.Name, p.Description)
		rows = append(rows, map[string]string{"name": p.Name, "category": "procedure", "description": p.Description})
	}
	for _, h := range blocked {
		c.Publish(event.Notice{Level: event.Warn, Text: "a skill is blocked: " + h.String(), Hint: "nothing was changed on disk; `hermes skills check` shows all hits"})
	}
	if len(blocked) > 0 {
		fmt.Fprintf(&b, "(%d more blocked because of what stands in them; the person was told)\n", len(blocked))
	}
	if c.Data != nil {
		c.Data(map[string]any{"skills": rows})
	}
	if b.Len() == 0 {
		return tool.Result{Text: "There are no skills" + inCategory(a.Category) + withWords(a.Query) + "."}, nil
	}
	return tool.Result{Text: strings.TrimSpace(b.String())}, nil
}

func withWords(query string) string {
	if query == "" {
		return ""
	}
	return " with these words; without a query all are listed"
}

func inCategory(category string) string {
	if category == "" {
		return ""
	}
	return " in this category"
}

type viewArgs struct {
	Name string `json:"name"`
	File string `json:"file_path"`
}

func viewTool(o Options) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "skill_view", Toolset: "skills", Description: viewDoc, MaxResult: skills.MaxBody + 5000,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["name"],"properties":{
			"name":{"type":"string","minLength":1,"maxLength":128,"description":"Name of the skill"},
			"file_path":{"type":"string","maxLength":300,"description":"A file of it, such as references/api.md; without one SKILL.md"}}}`),
		Intent: tool.Arg(func(a viewArgs) intent.Intent { return intent.ReadsOnly(strings.TrimSpace(a.Name + " " + a.File)) }),
	}, o.viewSkill)
}

func (o Options) viewSkill(ctx context.Context, c tool.Call, a viewArgs) (tool.Result, error) {
	if a.File == skills.File {
		a.File = ""
	}
	v, err := o.Library.View(ctx, o.Project(c.Cwd), a.Name, a.File)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if v.Blocked() {
		text, hint := v.Notice()
		c.Publish(event.Notice{Level: event.Warn, Text: text, Hint: hint})
		return tool.Result{Text: v.Told(), IsError: true}, nil
	}
	_ = o.Library.Usage.Viewed(a.Name) // a count that is lost harms nobody
	o.Library.Loaded(c.Session, v)
	text := v.Document()
	if c.Data != nil {
		c.Data(map[string]any{"name": v.Skill.Name, "description": v.Skill.Description, "file": v.File, "text": v.Text, "files": v.Files})
	}
	return tool.Result{Text: text}, nil
}

type manageArgs struct {
	Action   skills.Op `json:"action"`
	Name     string    `json:"name"`
	Content  string    `json:"content"`
	Category string    `json:"category"`
	File     string    `json:"file_path"`
	Text     string    `json:"file_content"`
	Old      string    `json:"old_string"`
	New      string    `json:"new_string"`
	All      bool      `json:"replace_all"`
	Absorbed string    `json:"absorbed_into"`
}

func (a manageArgs) manageRequest() skills.Request {
	r := skills.Request{Op: a.Action, Name: a.Name, Category: a.Category, File: a.File, Content: a.Content, Old: a.Old, New: a.New, All: a.All}
	if a.Action == skills.WriteFile {
		r.Content = a.Text
	}
	return r
}

func manageTool(m *manage) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "skill_manage", Toolset: "skills", Description: manageDoc, Serial: true,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action","name"],"properties":{
			"action":{"type":"string","enum":["create","edit","patch","delete","write_file","remove_file"]},
			"name":{"type":"string","minLength":1,"maxLength":128,"description":"Name of the skill: lower case, digits, hyphens"},
			"content":{"type":"string","maxLength":200000,"description":"create, edit: the whole SKILL.md with its front matter"},
			"category":{"type":"string","maxLength":128,"description":"create: a folder such as devops"},
			"file_path":{"type":"string","maxLength":300,"description":"write_file, remove_file, patch: below references/, templates/, scripts/ or assets/"},
			"file_content":{"type":"string","maxLength":1048576,"description":"write_file: the text"},
			"old_string":{"type":"string","description":"patch: text that stands there once"},
			"new_string":{"type":"string","description":"patch: what replaces it"},
			"replace_all":{"type":"boolean","default":false},
			"absorbed_into":{"type":"string","maxLength":128,"description":"delete: the skill that holds its content now"}}}`),
		Intent:  tool.Arg(m.intent),
		Refuse:  m.refuseEarly,
		Preview: m.previewChange,
	}, m.runChange)
}

func (m *manage) intent(a manageArgs) intent.Intent {
	lasting := m.lastingEffect(a)
	return intent.Intent{Gist: strings.TrimSpace(string(a.Action) + " " + a.Name + " " + a.File), Lasting: &lasting, OnlyPaths: true}
}

// lastingEffect says what a change does to later sessions. It is asked about always, unless the
// settings leave that to what the turn has read.
func (m *manage) lastingEffect(a manageArgs) intent.Lasting {
	out := intent.Lasting{
		Title: fmt.Sprintf("Change the skill %s?", a.Name), Effect: "changes a skill, which steers later sessions",
		Texts: []string{a.Content, a.Text, a.New}, Always: "skills.write_approval is on",
	}
	switch a.Action {
	case skills.Create:
		out.Title, out.Effect = fmt.Sprintf("Keep the skill %s?", a.Name), "makes a skill, which steers later sessions"
	case skills.Delete:
		out.Title, out.Effect = fmt.Sprintf("Remove the skill %s?", a.Name), "removes a skill that later sessions would use"
	case skills.Edit, skills.Patch, skills.WriteFile, skills.RemoveFile, skills.Undo, skills.Rollback, skills.Outside:
	}
	switch {
	case !m.Library.Settings().Unasked:
	case strings.HasPrefix(path.Clean(a.File), "scripts/") && a.Action != skills.RemoveFile:
		out.Always = "it is code that later sessions may run"
	default:
		out.Always = ""
	}
	return out
}

// manage remembers what was planned for a question, so that exactly that is done when it is
// allowed.
type manage struct {
	Options
	mu      sync.Mutex
	planned map[string]*skills.Change
}

// maxPlanned bounds what denied calls leave behind.
const maxPlanned = 32

func (m *manage) planChange(ctx context.Context, c tool.Call) (*skills.Change, error) {
	var a manageArgs
	if err := json.Unmarshal(c.Args, &a); err != nil {
		return nil, err
	}
	return m.planArgs(ctx, a)
}

// planArgs plans what a model asks for: changes of skills. What a procedure does without a question
// is said in its file, so a model rewrites none; the learner may, whose texts are checked for that.
func (m *manage) planArgs(ctx context.Context, a manageArgs) (*skills.Change, error) {
	if name, isProcedure := skills.SplitKey(a.Name); isProcedure {
		where := "none of that name lies in their own folder"
		if p := m.Library.OwnProcedure(ctx, name); p != nil {
			where = "its file is " + p.File
		}
		return nil, fmt.Errorf("%s is a procedure, and skill_manage changes skills only. Say what you would change and why: the person edits it (%s), or accepts what the learner proposes (hermes learn)", a.Name, where)
	}
	return m.Library.Plan(ctx, a.manageRequest())
}

// refuseEarly says before anybody is asked what cannot be.
func (m *manage) refuseEarly(ctx context.Context, c tool.Call) string {
	change, err := m.planChange(ctx, c)
	if refused := (*library.RefusedError)(nil); err != nil && !errors.As(err, &refused) {
		return "Refused, nothing was changed: " + err.Error()
	} else if err != nil {
		return err.Error()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.planned) >= maxPlanned {
		clear(m.planned)
	}
	m.planned[callKey(c)] = change
	return ""
}

func callKey(c tool.Call) string { return c.Session + "\x00" + c.Turn + "\x00" + c.ID }

func (m *manage) previewChange(ctx context.Context, c tool.Call) (detail, diff string) {
	m.mu.Lock()
	change := m.planned[callKey(c)]
	m.mu.Unlock()
	if change == nil {
		var err error
		if change, err = m.planChange(ctx, c); err != nil {
			return err.Error(), ""
		}
	}
	return library.Summary(change), library.Diff(change).Unified
}

func (m *manage) runChange(ctx context.Context, c tool.Call, a manageArgs) (tool.Result, error) {
	m.mu.Lock()
	change := m.planned[callKey(c)]
	delete(m.planned, callKey(c))
	m.mu.Unlock()
	if change == nil {
		var err error
		if change, err = m.planArgs(ctx, a); err != nil {
			return tool.Fail("%v", err), nil
		}
	}
	change.From = skills.Provenance{Session: c.Session, Turn: c.Turn, Tainted: c.Tainted}
	if err := m.Library.Apply(change, "agent"); err != nil {
		return tool.Fail("%v", err), nil
	}
	text := describeDone(change)
	if c.Data != nil {
		c.Data(map[string]any{"action": a.Action, "name": a.Name, "path": change.Path()})
	}
	return tool.Result{Text: text, Diffs: []chat.FileDiff{library.Diff(change)}}, nil
}

func describeDone(c *skills.Change) string {
	switch c.Op {
	case skills.Delete:
		return fmt.Sprintf("The skill %s is removed; the person can bring it back with `hermes skills undo %s`.", c.Name, c.Name)
	case skills.Create:
		return fmt.Sprintf("The skill %s is there. It is in the list of skills from the next session on; skill_view shows it now.", c.Name)
	case skills.Edit, skills.Patch, skills.WriteFile, skills.RemoveFile, skills.Undo, skills.Rollback, skills.Outside:
	}
	return fmt.Sprintf("The skill %s is changed (%s).", c.Name, c.Rel)
}
