package hub

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/skills/procedure"
)

// Item is a skill or a procedure that goes from one home to another.
type Item struct {
	Key         string // as package skills has it; "" of one that is too broken to have a name
	Folder      string // where it lies, for people
	Description string
	Problems    []skills.Problem
	Hits        []skill.Hit // orders to the agent
	Facts       []string    // what it brings and asks for, a line each
	Main        string      // the file with its text
	Text        func() ([]byte, error)
	Files       []string // beside it
	Read        func(rel string) (string, error)
}

// Name is what it is called.
func (i Item) Name() string {
	name, _ := skills.SplitKey(i.Key)
	return name
}

// Usable reports whether it can be used at all.
func (i Item) Usable() bool {
	return i.Key != "" && !slices.ContainsFunc(i.Problems, func(p skills.Problem) bool { return p.Fatal })
}

// IsCalled reports whether somebody means it by a name.
func (i Item) IsCalled(name string) bool {
	return name == i.Key || name == i.Name() || name == i.Folder
}

// ItemOf is a skill as it is given away.
func ItemOf(s *skills.Skill) Item { return itemOfSkill(s) }

// ItemOfProcedure is a procedure as it is given away.
func ItemOfProcedure(p *skill.Procedure) Item { return itemOfProcedure(p.Procedure, p.Text) }

func itemOfSkill(s *skills.Skill) Item {
	i := Item{
		Key: s.Name, Folder: s.Folder(), Description: s.Description, Problems: s.Problems, Main: skills.File, Text: s.Raw, Read: s.Read,
		Hits: skill.CheckAll(s),
	}
	if !s.Usable() {
		return i
	}
	i.Files, i.Facts = s.Files(), skillFacts(s)
	return i
}

func itemOfProcedure(p *procedure.Procedure, text string) Item {
	i := Item{
		Folder: filepath.Base(p.File), Description: p.Description, Problems: p.Problems, Main: skills.ProcedureName, Facts: procedureFacts(p),
		Text: func() ([]byte, error) { return []byte(text), nil }, Hits: skill.Scan(p.File, text, 1),
	}
	if i.Folder == skills.ProcedureName {
		i.Folder = path.Base(path.Dir(filepath.ToSlash(p.File)))
	}
	if p.Name != "" {
		i.Key = skills.ProcedureKey(p.Name)
	}
	return i
}

// skillFacts says what a skill brings and wants.
func skillFacts(s *skills.Skill) []string {
	var programs, others []string
	for _, f := range s.Files() {
		if strings.HasPrefix(f, "scripts/") {
			programs = append(programs, f)
		} else {
			others = append(others, f)
		}
	}
	vars := make([]string, len(s.Env))
	for i, v := range s.Env {
		vars[i] = v.Name
	}
	return sayFacts([]fact{
		{"programs", programs},
		{"files", others},
		{"asks for variables", vars},
		{"asks for credential files", s.Credentials},
		{"works with servers", s.Servers},
		{"needs toolsets", s.Requires.Toolsets},
		{"needs tools", s.Requires.Tools},
	})
}

// procedureFacts says what a procedure does and wants. Its commands are all there: they are what
// runs.
func procedureFacts(p *procedure.Procedure) (out []string) {
	var params, servers []string
	for _, x := range p.Parameters {
		params = append(params, x.Name)
	}
	for _, s := range p.Servers {
		servers = append(servers, strings.TrimSuffix(s.Name+" ("+strings.Join(s.Tools, ", ")+")", " ()"))
	}
	commands, actions, prompts := p.Calls()
	for _, c := range commands {
		out = append(out, "runs: "+c)
	}
	if prompts > 0 {
		out = append(out, fmt.Sprintf("asks a model: %d times", prompts))
	}
	return append(out, sayFacts([]fact{{"actions", actions}, {"asks for parameters", params}, {"works with servers", servers}})...)
}

type fact struct {
	what string
	list []string
}

// sayFacts leaves out what there is nothing of.
func sayFacts(all []fact) (out []string) {
	for _, f := range all {
		if len(f.list) > 0 {
			out = append(out, f.what+": "+strings.Join(f.list, ", "))
		}
	}
	return out
}
