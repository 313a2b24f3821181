package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"hermes/core/clip"

	"go.yaml.in/yaml/v3"
)

// Static searches a file of documents: for tests, and for machines without a way out. The file is
// YAML or JSON: a list of mappings with title, url, description and optional content, which is
// searched and not shown. It is read anew each time.
func Static(file string) Engine { return static{file} }

type static struct{ file string }

func (static) Name() string { return "static" }

type document struct {
	Title       string `yaml:"title"`
	URL         string `yaml:"url"`
	Description string `yaml:"description"`
	Content     string `yaml:"content"`
}

// maxIndex bounds the file.
const maxIndex = 64 << 20

func (s static) Search(ctx context.Context, query string, limit int) ([]Result, error) {
	docs, err := s.loadDocuments()
	if err != nil {
		return nil, err
	}
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	type hit struct {
		doc   document
		score int
	}
	var hits []hit
	for _, d := range docs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if n := d.scoreWords(words); n > 0 {
			hits = append(hits, hit{d, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var all []Result
	for _, h := range hits {
		all = append(all, Result{h.doc.Title, h.doc.URL, cmp.Or(h.doc.Description, clipBeginning(h.doc.Content))})
	}
	return keepUsable(all, limit), nil
}

func (s static) loadDocuments() ([]document, error) {
	info, err := os.Stat(s.file)
	if err != nil {
		return nil, &Error{Engine: "static", Why: "the index cannot be read: " + err.Error(), Do: "check web.static_index", Err: err}
	}
	if info.Size() > maxIndex {
		return nil, &Error{Engine: "static", Why: fmt.Sprintf("the index %s is larger than %d MB", s.file, maxIndex>>20)}
	}
	raw, err := os.ReadFile(s.file)
	if err != nil {
		return nil, &Error{Engine: "static", Why: "the index cannot be read: " + err.Error(), Err: err}
	}
	var docs []document
	if err := yaml.Unmarshal(raw, &docs); err != nil {
		return nil, &Error{Engine: "static", Why: fmt.Sprintf("%s is no list of documents with title, url and description: %v", s.file, err), Err: err}
	}
	return docs, nil
}

// scoreWords counts the words that are found, those of the title three times and of the description
// twice.
func (d document) scoreWords(words []string) int {
	title, text, rest := strings.ToLower(d.Title), strings.ToLower(d.Description), strings.ToLower(d.Content+" "+d.URL)
	n := 0
	for _, w := range words {
		switch {
		case strings.Contains(title, w):
			n += 3
		case strings.Contains(text, w):
			n += 2
		case strings.Contains(rest, w):
			n++
		}
	}
	return n
}

func clipBeginning(s string) string { return clip.Runes(strings.Join(strings.Fields(s), " "), 200, "") }
