// Package learntest is a task that a word decides, and a model that can do it only where the word
// stands in what it is told: what was learned, chosen, followed and taken back are then facts on
// the wire.
package learntest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// World is a folder with a script that a word opens. The word can be found out, or it cannot.
type World struct {
	t   testing.TB
	dir string
}

// NewWorld makes the script of such a folder.
func NewWorld(t testing.TB, dir string) World {
	t.Helper()
	w := World{t, dir}
	w.Put("release.sh", releaseScript)
	return w
}

const releaseScript = `[ "$1" = "$(cat .gate)" ] && echo gate opened && exit 0
echo closed; cat told.txt 2>/dev/null; exit 1
`

// Put writes a file.
func (w World) Put(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// Drop removes a file.
func (w World) Drop(name string) { _ = os.Remove(filepath.Join(w.dir, name)) }

// NewWord is a word that opens the script, if the file .gate holds it.
func NewWord() string {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte('a' + rand.IntN(26))
	}
	return "gate-" + string(b)
}

var gateWord = regexp.MustCompile(`gate-[a-z]{8}`)

// Model is a model that does what stands in its request, and knows nothing else: it reads the
// skill where its prompt lists one, runs what the skill says, else what it finds in hint.txt.
func Model(r modeltest.Request) (modeltest.Turn, bool) {
	if len(r.Tools) == 0 {
		return gateReview(r), true
	}
	last := r.Messages[len(r.Messages)-1]
	system := r.Messages[0].Text()
	call := func(name, args string) (modeltest.Turn, bool) {
		return modeltest.Turn{Calls: []modeltest.Call{{ID: fmt.Sprintf("c%d", len(r.Messages)), Name: name, Args: args}}}, true
	}
	command := func(c string) (modeltest.Turn, bool) { return call("terminal", fmt.Sprintf(`{"command": %q}`, c)) }
	switch {
	case last.Role == "user" && strings.Contains(system, "- release-site:"):
		return call("skill_view", `{"name": "release-site"}`)
	case last.Role == "user":
		return command("cat hint.txt")
	case strings.Contains(last.Text(), "gate opened") || strings.Contains(last.Text(), "closed"):
		return modeltest.Turn{Text: "That is all that I can do."}, true
	case strings.Contains(last.Text(), "release.sh gate-") || strings.Contains(last.Text(), "the word is gate-"):
		return command("./release.sh " + gateWord.FindString(last.Text()))
	default:
		return command("./release.sh nothing")
	}
}

// Runner is a model that runs the procedure release_site and knows nothing else.
func Runner(r modeltest.Request) (modeltest.Turn, bool) {
	if len(r.Tools) == 0 {
		return gateReview(r), true
	}
	if r.Messages[len(r.Messages)-1].Role != "user" {
		return modeltest.Turn{Text: "That is all that I can do."}, true
	}
	return modeltest.Turn{Calls: []modeltest.Call{{ID: fmt.Sprintf("c%d", len(r.Messages)), Name: "skill_run", Args: `{"name": "release_site"}`}}}, true
}

// Procedure is release_site, in which a word stands. more stands at its end.
func Procedure(word, more string) string {
	return `skill:
  name: release_site
  version: "1.0"
  description: How the site is released
  execution:
    steps:
      - name: Begin
        command: rm -f opened
      - name: Open the gate
        command: ./release.sh ` + word + ` > opened || { cat opened; exit 1; }
      - name: Look
        command: cat opened
        output_key: seen
  postconditions:
    - {type: command, command: grep -q 'gate opened' opened}
  output:
    template: "{{seen.text}}"
` + more
}

// gateReview is a model that looks at experiences.
func gateReview(r modeltest.Request) modeltest.Turn {
	text := r.Messages[len(r.Messages)-1].Text()
	step := regexp.MustCompile(`(?m)^(\d+): (        command: \./release\.sh gate-[a-z]{8}(.*))$`).FindStringSubmatch(text)
	told := regexp.MustCompile(`the word is (gate-[a-z]{8})`).FindStringSubmatch(text)
	line := regexp.MustCompile(`(\d+): (1\. Run .*)`).FindStringSubmatch(text)
	switch {
	case told == nil:
		return modeltest.Turn{Text: `{"do": "nothing"}`}
	case step != nil:
		return modeltest.Turn{Text: fmt.Sprintf(`{"do": "change", "why": "The word of the gate has changed.",
			"deltas": [{"op": "replace", "line": %s, "was": %q, "text": "        command: ./release.sh %s%s"}]}`, step[1], step[2], told[1], step[3])}
	case line != nil:
		return modeltest.Turn{Text: fmt.Sprintf(`{"do": "change", "why": "The word of the gate has changed.",
			"deltas": [{"op": "replace", "line": %s, "was": %q, "text": "1. Run ./release.sh %s."}]}`, line[1], line[2], told[1])}
	default:
		return modeltest.Turn{Text: fmt.Sprintf(`{"do": "create", "why": "Three releases needed the same word.", "name": "release-site",
			"description": "How the site is released.", "body": "# Releasing\n\nBy hand.\n\n1. Run ./release.sh %s.\n2. Look at what it says.\n"}`, told[1])}
	}
}
