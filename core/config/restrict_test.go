package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// breaks are ways in which a setting that restricts something can become unreadable. Each makes a
// file of the path of a key, and a value that is fine; nil: it does not apply.
var breaks = map[string]func(path []string, r Restriction, good string) []byte{
	"wrong type": func(path []string, r Restriction, _ string) []byte {
		if r.Type == "mapping" {
			return nested(path, "[a]")
		}
		return nested(path, "{a: {b: {c: 1}}}")
	},
	"bad value":   badValueOf,
	"misspelled":  func(path []string, _ Restriction, good string) []byte { return nested(misspelled(path), good) },
	"doubled key": func(path []string, _ Restriction, good string) []byte { return twice(path, len(path)-1, good) },
	"doubled top": func(path []string, _ Restriction, good string) []byte { return twice(path, 0, good) },
	"unclosed":    func(path []string, _ Restriction, good string) []byte { return nested(path, "{"+good) },
	"tab":         func(path []string, _ Restriction, good string) []byte { return tabs(path, good) },
	"not UTF-8":   func(path []string, _ Restriction, good string) []byte { return garbledKey(path, good) },
	"UTF-16": func(path []string, _ Restriction, good string) []byte {
		return append([]byte("\xff\xfe"), nested(path, good)...)
	},
	"emptied": func([]string, Restriction, string) []byte { return []byte("\x00\x00\n") },
	"second file": func(path []string, _ Restriction, good string) []byte {
		return append([]byte("model: x\n---\n"), nested(path, good)...)
	},
	"no section": func(path []string, _ Restriction, _ string) []byte { return nested(path[:max(1, len(path)-1)], "[]x") },
	"complex key": func(path []string, _ Restriction, good string) []byte {
		return []byte("? [" + path[0] + "]\n: " + good + "\n")
	},
	"written with dots": func(path []string, _ Restriction, good string) []byte {
		if len(path) == 1 {
			return nil
		}
		return []byte(strings.Join(path, ".") + ": " + good + "\n")
	},
	"dots below": func(path []string, _ Restriction, good string) []byte {
		if len(path) < 3 {
			return nil
		}
		return nested([]string{path[0], strings.Join(path[1:], ".")}, good)
	},
	"alias unknown": func(path []string, _ Restriction, _ string) []byte { return nested(path, "*nothing") },
}

func nested(path []string, value string) []byte {
	var b strings.Builder
	for i, part := range path {
		b.WriteString(strings.Repeat("  ", i) + part + ":")
		if i == len(path)-1 {
			b.WriteString(" " + value)
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func misspelled(path []string) []string {
	out := slices.Clone(path)
	last := out[len(out)-1]
	out[len(out)-1] = last[:len(last)-1] + "x" + last[len(last)-1:]
	return out
}

func twice(path []string, from int, good string) []byte {
	text := string(nested(path, good))
	_, again, _ := strings.Cut(text, path[from]+":")
	return []byte(text + strings.Repeat("  ", from) + path[from] + ":" + again)
}

func tabs(path []string, good string) []byte {
	if len(path) == 1 {
		return nil
	}
	return []byte(strings.ReplaceAll(string(nested(path, good)), "  ", "\t"))
}

func garbledKey(path []string, good string) []byte {
	out := slices.Clone(path)
	out[len(out)-1] = out[len(out)-1][:1] + "\xe9" + out[len(out)-1][1:]
	return nested(out, good)
}

func badValueOf(path []string, r Restriction, _ string) []byte {
	switch _, f, _ := resolveKey(configType, strings.Join(path, ".")); {
	case f.tag.Get("oneof") != "", r.Type == "yes or no", r.Type == "whole number", r.Type == "number", r.Type == "length of time", r.Type == "size":
		return nested(path, "qqqq")
	default:
		return nil
	}
}

// goodOf is a value that r's setting takes.
func goodOf(key string, r Restriction) string {
	_, f, _ := resolveKey(configType, key)
	switch list := choicesOf(f); {
	case list != nil:
		return list[len(list)-1]
	case r.Type == "yes or no":
		return "true"
	case r.Type == "whole number", r.Type == "number", r.Type == "length of time", r.Type == "size":
		return max(f.tag.Get("min"), "1")
	case r.Type == "list":
		return "[a]"
	case r.Type == "mapping":
		return "{a: {}}"
	default:
		return "a"
	}
}

// Every setting that restricts something and cannot be read, whatever the reason, refuses what it
// would restrict or has its strictest value, and says so with the place.
func TestUnreadableRestrictionsRefuse(t *testing.T) {
	all := Restrictions()
	if len(all) < 30 {
		t.Fatalf("%d settings restrict something", len(all))
	}
	for _, r := range all {
		key := strings.ReplaceAll(r.Key, "<name>", "box")
		path := strings.Split(key, ".")
		for name, broken := range breaks {
			text := broken(path, r, goodOf(key, r))
			if text == nil {
				continue
			}
			c, problems := Load(home(t, map[string]string{"config.yaml": string(text)}))
			if why := failsOpen(c, key, r); why != "" {
				t.Errorf("%s, %s: %s\n%s%s", r.Key, name, why, text, texts(problems))
			}
			if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Until != "" && p.File == "config.yaml" }) {
				t.Errorf("%s, %s: nobody is told what holds: %s", r.Key, name, texts(problems))
			}
		}
	}
}

// failsOpen says how a setting in doubt lets through what it would restrict, "" when it does not.
func failsOpen(c *Config, key string, r Restriction) string {
	def, places := c.Places()
	switch r.Refuses {
	case "":
		path, f, _ := resolveKey(configType, key)
		got, want := (&decoder{root: reflect.ValueOf(c).Elem()}).findField(path), reflect.New(f.typ).Elem()
		if f.typ.Kind() != reflect.Slice {
			_ = setScalar(want, f, r.Strict)
		}
		if renderValue(got) != renderValue(want) {
			return "its value is " + renderValue(got)
		}
	case Commands:
		return anyRuns(places)
	case Local:
		if places[def].Problem == "" {
			return "commands run on this machine"
		}
	case InPlace:
		if strings.HasPrefix(key, ofBackends) {
			if p, ok := places["box"]; ok && p.Problem == "" || !ok && anyRuns(places) != "" {
				return "commands run in the back end"
			}
			return ""
		}
		if len(c.doubts) == 0 || c.refusedPlace(def, "docker", true) == "" {
			return "commands run in the default back end"
		}
	default:
		if err := c.Refused(r.Refuses); err == nil || !strings.Contains(err.Error(), "config.yaml") || !strings.Contains(err.Error(), "hermes config edit") {
			return "it is not refused: " + errText(err)
		}
	}
	return ""
}

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

func anyRuns(places map[string]Place) string {
	for name, p := range places {
		if p.Problem == "" {
			return "commands run in " + name
		}
	}
	return ""
}

// A strictest value must be one that the setting takes.
func TestStrictestValuesAreValues(t *testing.T) {
	for _, r := range Restrictions() {
		if r.Refuses != "" {
			if areaTexts[r.Refuses] == "" {
				t.Errorf("%s refuses %q, which is nothing", r.Key, r.Refuses)
			}
			continue
		}
		if r.Type == "list" {
			if r.Strict != "" {
				t.Errorf("%s: the strictest list must be empty", r.Key)
			}
		} else if err := validateValue(r.Key, r.Strict); err != nil {
			t.Errorf("%s: %v", r.Key, err)
		}
	}
}

// What is broken elsewhere refuses nothing.
func TestOtherMistakesRefuseNothing(t *testing.T) {
	for _, text := range []string{
		"display: {theme: [a]}\n", "display:\n  themx: a\n", "display: {theme: x\n", "modek: x\n", "agent: {max_turns: many}\n", "model: a\nmodel: b\n",
		"logging:\n\tlevel: info\n", "zzzz: 1\n", "# caf\xe9\nmodel: a\n", "terminal:\n  cwd: [a]\n", "keys: {a: {b: c}}\n", "providers: {a: {base_url: x}}\n",
	} {
		c, problems := Load(home(t, map[string]string{"config.yaml": text}))
		if len(problems) == 0 || len(c.doubts) > 0 {
			t.Errorf("%q: %s\nin doubt: %v", text, texts(problems), c.inDoubt())
		}
	}
}

// What broke is known from the file, the line and the key, and a later place that says it properly
// counts.
func TestRefusalsNameThePlace(t *testing.T) {
	o := home(t, map[string]string{"config.yaml": "model: x\nterminal:\n  sandbox: strct\n"})
	c, _ := Load(o)
	want := "config.yaml:3:12: not one of the choices: \"strct\": did you mean \"strict\"? [terminal.sandbox cannot be read; until it is mended " +
		"no command runs on this machine: `hermes config edit` opens the file, `hermes config check` says what is still wrong]"
	if err := c.Refused(Local); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if c.Refused(Commands, Writes, Reach, Scripts, Known, AllTools) != nil {
		t.Error("it refuses what it does not restrict")
	}
	o.Env = []string{"HERMES_TERMINAL_SANDBOX=project"}
	if c, _ := Load(o); c.Refused(Local) != nil || sandbox(c) != "project" {
		t.Error("the environment does not mend it")
	}
	o.Env = []string{"HERMES_TERMINAL_SANDBOX=projekt"}
	if c, _ := Load(o); c.Refused(Local) == nil {
		t.Error("a bad variable is taken for nothing")
	}
	if c, _ := Load(home(t, map[string]string{".env": "HERMES_TERMINAL_SANDBOX 'strict\n"})); c.Refused(Local) != nil {
		t.Error("a line of .env without a name refuses")
	}
	if c, _ := Load(home(t, map[string]string{".env": "HERMES_TERMINAL_SANDBOX='strict\n"})); c.Refused(Local) == nil {
		t.Error("a bad line of .env is taken for nothing")
	}
}

// The numbers of the issue: what failed open.
func TestSettingsThatFailedOpen(t *testing.T) {
	c, _ := Load(home(t, map[string]string{"config.yaml": "approvals:\n  level: -1\n"}))
	if c.Approvals.Level != 0 || !strings.Contains(c.Origin("approvals.level"), "config.yaml:2") {
		t.Errorf("level %d, from %s", c.Approvals.Level, c.Origin("approvals.level"))
	}
	for _, text := range []string{
		"terminal:\n  backend: box\n  backends: {box: {kind: docker, image: x}\n", "terminal:\n  snadbox: strict\n", "terminal:\nsandbox: strict\n", "sandbx: strict\n",
		"terminal:\n  sandbox: strict\nterminal:\n  timeout: 5m\n", "terminal: {sandbox: strict}\nagent: {x\nterminal: {timeout: 5m}\n", "termnal:\n  sandbox: strict\n",
		"terminal:\n  backends:\n    default: {kind: dokcer}\n", "terminal:\n  backends:\n    default: [docker]\n", "terminal:\n  backends:\n    Default: {kind: docker}\n",
		"terminal:\n  sandbox:\n",
	} {
		c, problems := Load(home(t, map[string]string{"config.yaml": text}))
		if def, places := c.Places(); places[def].Problem == "" {
			t.Errorf("a command runs on this machine with\n%s%s", text, texts(problems))
		}
	}
}

// A file whose aliases or merges are not followed to the end may say anything.
func TestUnfollowedAliasesRefuse(t *testing.T) {
	merges := "_m0: &m0 {sandbox: strict}\n"
	for i := range 20 {
		merges += fmt.Sprintf("_m%d: &m%d {<<: *m%d}\n", i+1, i+1, i)
	}
	for name, text := range map[string]string{
		"too many": "toolsets: [" + strings.Repeat("a,", maxVisits) + "a]\nterminal: {sandbox: strict}\n",
		"too deep": merges + "terminal:\n  <<: *m20\n",
		"no merge": "terminal:\n  <<: strict\n",
		"endless":  "terminal: &t\n  <<: *t\n",
	} {
		c, problems := Load(home(t, map[string]string{"config.yaml": text}))
		if _, places := c.Places(); anyRuns(places) != "" {
			t.Errorf("%s: %s: %s", name, anyRuns(places), texts(problems))
		}
	}
}

func TestUnreadableFilesRefuse(t *testing.T) {
	make := map[string]func(path string) error{
		"a folder":          func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to nothing": func(path string) error { return os.Symlink("nowhere", path) },
		"too large":         func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("#", maxFile+1)), 0o600) },
		"not to be read": func(path string) error {
			if os.Geteuid() == 0 { // root reads everything
				return os.Symlink("/proc/self/mem", path)
			}
			return os.WriteFile(path, []byte("a: b"), 0)
		},
	}
	for _, file := range []string{"config.yaml", ".env", filepath.Join("profiles", "work", "config.yaml")} {
		for name, do := range make {
			o := home(t, nil)
			if strings.HasPrefix(file, "profiles") {
				o.Profile = "work"
			}
			path := filepath.Join(o.Home, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := do(path); err != nil {
				t.Fatal(err)
			}
			c, problems := Load(o)
			for _, r := range Restrictions() {
				if why := failsOpen(c, strings.ReplaceAll(r.Key, "<name>", "box"), r); why != "" && file != ".env" {
					t.Errorf("%s is %s: %s: %s", file, name, r.Key, why)
				}
			}
			if c.Refused(Commands) == nil || c.Approvals.Level != 0 || len(problems) == 0 {
				t.Errorf("%s is %s: %v %s", file, name, c.Refused(Commands), texts(problems))
			}
		}
	}
}

// While the program runs the settings from before hold; the person is told.
func TestABrokenEditKeepsWhatHeld(t *testing.T) {
	o := home(t, map[string]string{"config.yaml": "terminal:\n  sandbox: strict\n"})
	c, problems := Load(o)
	ctx := t.Context()
	changes, err := Watch(ctx, o, c, problems)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"terminal:\n  sandbox: strct\n", "terminal:\n  sandbx: off\n", "terminal:\n  sandbox: off\nterminal: {}\n", ""} {
		if err := os.WriteFile(filepath.Join(o.Home, "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		change := <-changes
		if sandbox(change.Config) != "strict" || change.Config.Refused(Local) != nil || len(change.Live) > 0 {
			t.Errorf("%q: sandbox %s, %v, changed %v", text, sandbox(change.Config), change.Config.Refused(Local), change.Live)
		}
		if got := texts(change.Problems); !strings.Contains(got, "stay in force until it is mended") || strings.Contains(got, "no command runs") {
			t.Errorf("%q: told %s", text, got)
		}
	}
	if err := os.WriteFile(filepath.Join(o.Home, "config.yaml"), []byte("terminal:\n  sandbox: project\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if change := <-changes; sandbox(change.Config) != "project" || len(change.Problems) > 0 {
		t.Errorf("mended: %s %s", sandbox(change.Config), texts(change.Problems))
	}
}
