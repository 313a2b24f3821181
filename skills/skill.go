// Package skills is what a skill is: a folder with a SKILL.md, which says in a few lines what it is
// good for and then how the thing is done, and files beside it that are read when they are needed.
// It finds, reads, checks, watches, changes and trusts such folders, and holds the ones that come
// with the program (builtin/). The format is that of hermes-agent and of the public Agent Skills.
// What the agent and its person get of them is package core/skill.
//
// The contract:
//
//   - A skill is data. Nothing in this package runs what stands in one, and nobody should unasked.
//   - A broken skill never hides another one: what is wrong is a Problem with file, line, key,
//     reason and remedy.
//   - Nothing is read through a link or a path that leaves the skill's folder, and no more than the
//     limits below.
//   - The skills of a project are seen only while the person trusts its folder with exactly these
//     contents: see Trust.
//   - Text comes out as it stands on disk, hostile; whoever shows it to a model or on a screen
//     cleans and scans it.
//
// It imports nothing of the program.
package skills

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
)

// Limits of the format.
const (
	MaxName        = 64      // bytes
	MaxDescription = 1024    // characters
	MaxBody        = 100_000 // characters of SKILL.md below its front matter
	MaxFile        = 1 << 20 // bytes of a file
	maxHead        = 64 << 10
)

// Source says where a skill comes from.
type Source string

// Sources, first come first served: of two skills with one name the one from the earlier source
// counts.
const (
	User     Source = "user"     // the skills folder of the home
	External Source = "external" // skills.external_dirs
	Project  Source = "project"  // .hermes/skills and .agents/skills of a trusted project
	Builtin  Source = "built-in" // inside the program
)

// Needs are toolsets and tools.
type Needs struct {
	Toolsets, Tools []string
}

// Variable is an environment variable that a skill wants.
type Variable struct {
	Name   string `json:"name"`
	Prompt string `json:"prompt,omitempty"`
	Help   string `json:"help,omitempty"`
}

// Skill is one skill as its front matter describes it.
type Skill struct {
	Name        string
	Description string // one line
	Version     string
	Author      string
	License     string
	Category    string // folder above the skill's; "" for none
	Tags        []string
	Platforms   []string // "linux", "macos", "windows"; empty means all
	Requires    Needs    // without all of these it is of no use
	Fallback    Needs    // with any of these it is not needed
	Env         []Variable
	Credentials []string // files that it wants
	Servers     []string // of tools, that it works with: started when it is loaded
	Starter     bool     // a built-in one that is offered before it was ever used
	Other       []string // keys that this program does not know; they are allowed

	Source   Source
	Dir      string // its folder; of a built-in one a path in the program
	Disabled bool   // the settings switch it off
	Problems []Problem

	body folder
	line int // of SKILL.md, where the body begins
}

// File is the name of the file that makes a folder a skill.
const File = "SKILL.md"

// Usable reports whether the skill can be shown to a model at all. Its problems say why not.
func (s *Skill) Usable() bool {
	return s.Name != "" && !slices.ContainsFunc(s.Problems, func(p Problem) bool { return p.Fatal })
}

// Path is the full name of a file of the skill, for people.
func (s *Skill) Path(rel string) string { return s.Dir + "/" + rel }

// Folder is the name of its folder, safe to show.
func (s *Skill) Folder() string { return cleanName(path.Base(filepath.ToSlash(s.Dir))) }

// Fits reports whether the skill is for this system ("linux", "darwin") and these toolsets and
// tools; why says what is not.
func (s *Skill) Fits(system string, toolsets, tools []string) (why string, ok bool) {
	if !s.runsOn(system) {
		return "it is for " + joinWords(s.Platforms), false
	}
	for _, t := range s.Requires.Toolsets {
		if !slices.Contains(toolsets, t) {
			return "it needs the toolset " + t, false
		}
	}
	for _, t := range s.Requires.Tools {
		if !slices.Contains(tools, t) {
			return "it needs the tool " + t, false
		}
	}
	for _, t := range s.Fallback.Toolsets {
		if slices.Contains(toolsets, t) {
			return "it stands in for the toolset " + t + ", which is there", false
		}
	}
	for _, t := range s.Fallback.Tools {
		if slices.Contains(tools, t) {
			return "it stands in for the tool " + t + ", which is there", false
		}
	}
	return "", true
}

func (s *Skill) runsOn(system string) bool {
	if len(s.Platforms) == 0 {
		return true
	}
	if system == "darwin" {
		system = "macos"
	}
	return slices.Contains(s.Platforms, system)
}

// Problem is one thing wrong with a skill or its place.
type Problem struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"` // from 1; 0 when it is about the whole file
	Key   string `json:"key,omitempty"`
	Why   string `json:"why"`
	Fix   string `json:"fix,omitempty"`
	Fatal bool   `json:"fatal"` // the skill cannot be used
}

// Error is "file:line: key: why; fix".
func (p Problem) Error() string {
	out := p.File
	if p.Line > 0 {
		out += fmt.Sprintf(":%d", p.Line)
	}
	out += ": "
	if p.Key != "" {
		out += p.Key + ": "
	}
	out += p.Why
	if p.Fix != "" {
		out += "; " + p.Fix
	}
	return out
}

// ErrChanged says that a project's file is not what the person trusted.
var ErrChanged = errors.New("it is not what was trusted: it has changed since")

func joinWords(words []string) string {
	out := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			out += " and "
		default:
			out += ", "
		}
		out += w
	}
	return out
}
