package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/injection"
	"hermes/core/injection/score"
)

// sample is one text of a table.
type sample struct {
	author   string // the table that it comes from
	lang     string
	text     string
	block    bool
	sentence []sentence
}

// sentence is a piece of a sample as the model sees it.
type sentence struct {
	features []score.Feature
	tokens   int
}

// loadTables reads every table of the folders: LABEL, LANG, CATEGORY and TEXT by tab in *.tsv, or
// only texts in *attacks*.txt and *benign*.txt.
func loadTables(dirs ...string) ([]sample, error) {
	var out []sample
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.t*"))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, file := range files {
			if out, err = loadTable(out, file); err != nil {
				return nil, err
			}
		}
	}
	for i := range out {
		out[i].sentence = splitSentences(out[i].text)
	}
	return out, nil
}

// ownPages are the lines of our manual: honest texts that speak of agents, approvals and secrets
// all the time.
func ownPages(root string) ([]sample, error) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var out []sample
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); len(line) >= shortLine {
				out = append(out, sample{author: pagesAuthor, lang: "en", text: line, sentence: splitSentences(line)})
			}
		}
	}
	return out, nil
}

// shortLine is what a line of a page must have to be learnt from, in bytes: less is a mark or a
// rule.
const shortLine = 30

// pagesAuthor is the author of our own pages, which weigh less.
const pagesAuthor = "docs"

// loadAll reads the tables of the package injection, and our own pages.
func loadAll(dir string) ([]sample, error) {
	tables, err := loadTables(filepath.Join(dir, "testdata"), filepath.Join(dir, "train", "tables"))
	if err != nil {
		return nil, err
	}
	pages, err := ownPages(filepath.Join(dir, "..", ".."))
	return append(tables, pages...), err
}

func loadTable(out []sample, file string) ([]sample, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	n, head := 0, []string(nil)
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if h := strings.Fields(line); len(h) == 4 && h[0] == "##" && (h[1] == "block" || h[1] == "allow") {
			head = h[1:]
			continue
		}
		s := sample{author: "old", lang: "?", text: line, block: strings.Contains(name, "attacks")}
		if head != nil {
			s = sample{author: strings.SplitN(name, "-", 2)[0], lang: head[1], text: line, block: head[0] == "block"}
		}
		if filepath.Ext(file) == ".tsv" {
			f := strings.SplitN(line, "\t", 4)
			if len(f) != 4 || f[0] != "block" && f[0] != "allow" {
				return nil, fmt.Errorf("%s:%d: want LABEL, LANG, CATEGORY and TEXT, divided by tabs", file, n)
			}
			s = sample{author: strings.SplitN(name, "-", 2)[0], lang: f[1], text: f[3], block: f[0] == "block"}
		}
		out = append(out, s)
	}
	return out, nil
}

func splitSentences(text string) []sentence {
	var out []sentence
	for _, p := range injection.Sentences(text) {
		f, n := score.Features(p.Text)
		if n > 0 {
			out = append(out, sentence{f, n})
		}
	}
	return out
}
