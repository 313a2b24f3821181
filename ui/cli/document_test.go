package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hermes/core/config"
	_ "hermes/pool/kinds" // whose keys the document lists
	"hermes/themes"
	"hermes/ui/cli"
	"hermes/ui/text"
)

const (
	readme           = "../../README.md"
	configurationDoc = "../../docs/configuration.md"
)

// The lists in docs/configuration.md are written from the schema: `make docs` writes them, this
// test keeps them true.
func TestConfigurationDocumentIsCurrent(t *testing.T) {
	got := readDoc(t, configurationDoc)
	want := between(t, got, "keys", keyTables())
	want = between(t, want, "colours", colourNames(t))
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(configurationDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Error("docs/configuration.md does not say what the settings are; run `make docs`")
	}
}

// between replaces what stands between the marks of a generated part.
func between(t *testing.T, doc, mark, text string) string {
	t.Helper()
	open, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	before, rest, ok := strings.Cut(doc, open)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks the marks %s", configurationDoc, mark)
	}
	return before + open + text + end + after
}

const single = "top level"

// keyTables is a table for each section, in the order of the schema.
func keyTables() string {
	var sections []string
	rows := map[string]string{}
	for _, k := range config.Schema() {
		s := single
		if i := strings.LastIndex(k.Name, "."); i >= 0 {
			s = k.Name[:i]
		}
		if rows[s] == "" {
			sections = append(sections, s)
		}
		rows[s] += keyRow(k)
	}
	var b strings.Builder
	for _, s := range sections {
		name := s
		if s != single {
			name = "`" + s + "`"
		}
		fmt.Fprintf(&b, "### %s\n\n| key | kind | default | counts | |\n| --- | --- | --- | --- | --- |\n%s\n", name, rows[s])
	}
	return b.String()
}

func keyRow(k config.Key) string {
	kind, when, about := k.Type, "next start", k.Doc
	var words []string
	for _, choice := range k.Choices {
		if choice != "" {
			words = append(words, "`"+choice+"`")
		}
	}
	if len(words) > 0 {
		kind = strings.Join(words, " ")
	}
	value := ""
	if k.Default != "" {
		value = "`" + k.Default + "`"
	}
	if k.Live {
		when = "at once"
	}
	if k.Later {
		when = "*later*"
	}
	if k.Secret {
		about += " (secret)"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", k.Name, kind, value, when, strings.ReplaceAll(about, "|", `\|`))
}

// colourNames takes the names from a theme that has them all.
func colourNames(t *testing.T) string {
	t.Helper()
	data := readDoc(t, "../../themes/palettes/"+themes.DefaultDark+".yaml")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): "#`).FindAllStringSubmatch(data, -1) {
		names = append(names, "`"+m[1]+"`")
	}
	return strings.Join(names, ", ") + ".\n"
}

// What the document shows as settings and as a theme must be taken without a complaint.
func TestExamplesOfTheDocumentAreTaken(t *testing.T) {
	blocks := codeBlocks(readDoc(t, configurationDoc), "yaml")
	if len(blocks) != 2 {
		t.Fatalf("%d YAML examples, want the settings and a theme", len(blocks))
	}
	home := t.TempDir()
	writeDoc(t, filepath.Join(home, "config.yaml"), blocks[0])
	writeDoc(t, filepath.Join(home, "harbour.yaml"), blocks[1])
	c, problems := config.Load(config.Options{Home: home, Env: []string{"HOME=" + home}})
	for _, p := range problems {
		t.Error(p)
	}
	if _, err := themes.Load("harbour", home); err != nil {
		t.Error(err)
	}
	if _, err := themes.Load(c.Display.Theme, home); err != nil {
		t.Error(err)
	}
	for _, block := range codeBlocks(readDoc(t, readme), "yaml") {
		short := t.TempDir()
		writeDoc(t, filepath.Join(short, "config.yaml"), block)
		_, problems := config.Load(config.Options{Home: short, Env: []string{"HOME=" + short}})
		for _, p := range problems {
			t.Errorf("README: %s", p)
		}
	}
	keys := readDoc(t, "../../docs/keys.md")
	for id := range c.Keys {
		if !strings.Contains(keys, "`"+id+"` |") {
			t.Errorf("the example changes the key of %s, and there is no such action", id)
		}
	}
	for _, k := range config.Schema() {
		if k.Later && c.Origin(k.Name) != "default" {
			t.Errorf("the example sets %s, which nothing uses yet", k.Name)
		}
	}
}

// Every command line of the documents must be one: with --help behind it, a wrong command or flag
// is still refused.
func TestCommandLinesOfTheDocumentsExist(t *testing.T) {
	seen := 0
	for _, file := range append(documents(t), readme) {
		for _, args := range commandLines(readDoc(t, file)) {
			seen++
			var out, errs bytes.Buffer
			asked := append(slices.Clone(args), "--help")
			if at := slices.Index(args, "--"); at >= 0 { // what follows is a command of the person's
				asked = slices.Insert(slices.Clone(args), at, "--help")
			}
			code := cli.Main(context.Background(), cli.Program{}, asked,
				cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"HERMES_HOME=" + t.TempDir()})
			usage := strings.Join(append([]string{"hermes"}, commandWords(args)...), " ")
			if code != 0 || !strings.Contains(out.String(), "\n  "+usage) {
				t.Errorf("%s: hermes %s: exit code %d %s", filepath.Base(file), strings.Join(args, " "), code, &errs)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d command lines were found", seen)
	}
}

// commandLines finds `hermes ...` in shell blocks and between backquotes, as arguments.
func commandLines(doc string) [][]string {
	var lines []string
	for _, block := range codeBlocks(doc, "sh") {
		lines = append(lines, strings.Split(block, "\n")...)
	}
	for _, m := range regexp.MustCompile("`(hermes [^`]+)`").FindAllStringSubmatch(doc, -1) {
		lines = append(lines, m[1])
	}
	var out [][]string
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, "|")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "hermes "); ok {
			out = append(out, strings.Fields(rest))
		}
	}
	return out
}

// commandWords are the command and, where it holds others, the one below it: none before a flag or
// a prompt in quotes.
func commandWords(args []string) []string {
	switch args[0] {
	case "config", "sessions", "completion":
		return args[:2]
	default:
		if strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], `"`) {
			return nil
		}
		return args[:1]
	}
}

// A link from one page to another leads to a file, and to a heading of it when it names one.
func TestLinksOfTheDocuments(t *testing.T) {
	decisions, err := filepath.Glob("../../docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("`[^`]*`")
	for _, page := range slices.Concat(documents(t), decisions, []string{readme}) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(readDoc(t, page), "`"), -1) {
			path, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(page), m[1], err)
			} else if heading != "" && !slices.Contains(headings(readDoc(t, target)), heading) {
				t.Errorf("%s links to %s, and there is no such heading", filepath.Base(page), m[1])
			}
		}
	}
}

// headings returns the anchors of a page as a forge makes them.
func headings(doc string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(doc, -1) {
		name := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

// documents returns the path of every page of docs.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	return pages
}

func codeBlocks(doc, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(doc, -1) {
		out = append(out, m[1])
	}
	return out
}

func readDoc(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeDoc(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Captures of a screen are there in four sizes, and in each of them every border stands where it
// belongs.
func TestCapturesAreWholeInFourSizes(t *testing.T) {
	files, err := filepath.Glob("../../docs/screens/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	sized := regexp.MustCompile(`/([a-z-]+)-(\d+)x(\d+)\.txt$`)
	sizes := map[string][]string{}
	for _, path := range files {
		m := sized.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		sizes[m[1]] = append(sizes[m[1]], m[2]+"x"+m[3])
		w, _ := strconv.Atoi(m[2])
		h, _ := strconv.Atoi(m[3])
		rows := strings.Split(strings.TrimRight(readDoc(t, path), "\n"), "\n")
		if len(rows) > h {
			t.Errorf("%s has %d rows", path, len(rows))
		}
		for i, row := range rows {
			wide := text.Width(row)
			ends := strings.HasSuffix(row, "│") || strings.HasSuffix(row, "╮") || strings.HasSuffix(row, "╯")
			if wide > w || ends && wide < w && i > 0 && i < h-1 {
				t.Errorf("%s: row %d has %d cells: %s", path, i+1, wide, row)
			}
		}
	}
	for name, got := range sizes {
		if len(got) != 4 {
			t.Errorf("%s is there in %s", name, got)
		}
	}
	if len(sizes) < 20 {
		t.Errorf("only %d screens", len(sizes))
	}
}

// The pictures of the README are drawn by make docs, in colours.
func TestThePicturesOfTheReadmeAreDrawnByMakeDocs(t *testing.T) {
	scripts, err := filepath.Glob("../../.ci/docs*")
	if err != nil {
		t.Fatal(err)
	}
	made := ""
	for _, path := range scripts {
		made += readDoc(t, path)
	}
	pictures := regexp.MustCompile(`!\[[^]]+\]\(docs/screens/([^)]+)\)`).FindAllStringSubmatch(readDoc(t, readme), -1)
	if len(pictures) == 0 {
		t.Fatal("there are none")
	}
	for _, m := range pictures {
		colours := map[string]bool{}
		for _, c := range regexp.MustCompile(`fill="(#[0-9a-f]{6})"`).FindAllStringSubmatch(readDoc(t, "../../docs/screens/"+m[1]), -1) {
			colours[c[1]] = true
		}
		if !strings.Contains(made, " "+m[1]+" ") || len(colours) < 5 {
			t.Errorf("%s: drawn by make docs: %v, %d colours", m[1], strings.Contains(made, m[1]), len(colours))
		}
	}
}
