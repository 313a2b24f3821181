package web

import (
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed web_extract.md
var extractDoc string

// maxURLs is how many pages one call reads, all at once.
const maxURLs = 5

type extractArgs struct {
	URLs  []string `json:"urls"`
	Limit int      `json:"char_limit"`
}

// extracted is the result of web_extract.
type extracted struct {
	Note    string `json:"note"`
	Results []*one `json:"results"`
}

// one is a page. Content is what fits; FullText names the file with all of it when something was
// left out.
type one struct {
	URL      string   `json:"url"`
	Final    string   `json:"final_url,omitempty"` // where redirects led
	Title    string   `json:"title"`
	Content  string   `json:"content"`
	FullText string   `json:"full_text,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"`

	whole string
}

// ExtractTool returns the web_extract tool.
func ExtractTool(w *Web) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "web_extract", Toolset: "web", Description: extractDoc, ForeignText: true,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["urls"],"properties":{
			"urls":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":5,"description":"Pages to read, http or https; up to 5 are read at once"},
			"char_limit":{"type":"integer","minimum":500,"maximum":200000,"description":"Characters of each page at most; the whole text is kept in a file"}}}`),
		Intent: tool.Arg(func(a extractArgs) intent.Intent { return intent.ReadsOnly(a.summaryLine()) }),
	}, w.runExtract)
}

func (a extractArgs) summaryLine() string {
	switch more := len(a.URLs) - 1; {
	case more < 0:
		return ""
	case more > 0:
		return fmt.Sprintf("%s and %d more", a.URLs[0], more)
	default:
		return a.URLs[0]
	}
}

func (w *Web) runExtract(ctx context.Context, c tool.Call, a extractArgs) (tool.Result, error) {
	pages := w.readPages(ctx, c, a.URLs[:min(len(a.URLs), maxURLs)])
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	res := tool.Result{Warnings: w.takeProblems(), IsError: true}
	for _, p := range pages {
		if p.Error == "" {
			res.IsError = false
		}
		for _, why := range p.Warnings {
			res.Warnings = append(res.Warnings, p.URL+": "+why)
		}
	}
	out := extracted{Note: strangers, Results: pages}
	text, err := w.fitIntoBudget(&out, c, cmp.Or(a.Limit, w.o.CharLimit))
	res.Text = text
	for _, p := range pages {
		res.Spill = cmp.Or(res.Spill, p.FullText)
	}
	return res, err
}

// readPages reads pages at once and returns them in order.
func (w *Web) readPages(ctx context.Context, c tool.Call, urls []string) []*one {
	pages := make([]*one, len(urls))
	var wait sync.WaitGroup
	var say sync.Mutex
	for i, raw := range urls {
		wait.Add(1)
		crash.Go("web_extract", func() {
			defer wait.Done()
			p := w.readPage(ctx, raw)
			pages[i] = p
			say.Lock()
			defer say.Unlock()
			c.Output(event.Stdout, []byte(p.resultLine()))
		})
	}
	wait.Wait()
	return pages
}

// resultLine tells a person about a page.
func (p *one) resultLine() string {
	if p.Error != "" {
		return fmt.Sprintf("%s\n   %s\n", p.URL, p.Error)
	}
	return fmt.Sprintf("%s\n   %s, %d characters\n", p.URL, cmp.Or(p.Title, "no title"), utf8.RuneCountInString(p.whole))
}

// fitIntoBudget writes the result so that it stays within the budget and in one piece: each page
// gives up the same share. Where not even a few words of each page have room, only the names of the
// files are left.
func (w *Web) fitIntoBudget(out *extracted, c tool.Call, limit int) (string, error) {
	for {
		longest := 0
		for _, p := range out.Results {
			w.cutContent(p, c, limit)
			longest = max(longest, utf8.RuneCountInString(p.Content))
		}
		text, err := encodeJSON(out)
		n := utf8.RuneCountInString(text)
		if err != nil || n <= w.o.Budget || limit == 0 {
			return text, err
		}
		if limit = min(limit, longest) * w.o.Budget / n * 9 / 10; limit < leastShown {
			limit = 0
		}
	}
}

// leastShown is the number of characters of a page below which showing it tells nothing.
const leastShown = 100

// cutContent fills Content with at most limit characters, and keeps the whole text in a file when
// that is not all.
func (w *Web) cutContent(p *one, c tool.Call, limit int) {
	if utf8.RuneCountInString(p.whole) <= limit {
		p.Content = p.whole
		return
	}
	where := "The rest was not kept."
	if p.FullText == "" && w.o.SpillDir != "" {
		path, err := tool.Spill(w.o.SpillDir, c.Session, p.whole)
		if err != nil {
			p.Warnings = append(p.Warnings, "the whole text could not be kept: "+err.Error())
		}
		p.FullText = path
	}
	if limit == 0 {
		p.Content = ""
		return
	}
	if p.FullText != "" {
		where = "Full text: " + p.FullText + c.Advise(tool.HowToReadOn) + "."
	}
	cut := tool.CutText(p.whole, limit)
	p.Content = strings.TrimSuffix(cut.Head, "\n") + fmt.Sprintf("\n[... %d characters left out. %s]\n", cut.Left, where) + cut.Tail
}
