package program

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/core/config"
	"hermes/core/testskip"
)

// settingBreaks are five ways in which a person's hand makes a setting unreadable.
var settingBreaks = map[string]func(path []string) string{
	"wrong type": func(path []string) string { return settingAt(path, "[{a: {b: c}}]") },
	"misspelled": func(path []string) string {
		return settingAt(append(path[:len(path)-1:len(path)-1], "x"+path[len(path)-1]), "1")
	},
	"doubled key":  func(path []string) string { return settingTwice(path, len(path)-1) },
	"doubled top":  func(path []string) string { return settingTwice(path, 0) },
	"open bracket": func(path []string) string { return settingAt(path, "{a: [") },
}

func settingAt(path []string, value string) string {
	text := ""
	for i, part := range path {
		text += strings.Repeat("  ", i) + part + ":"
		if i < len(path)-1 {
			text += "\n"
		}
	}
	return text + " " + value + "\n"
}

func settingTwice(path []string, from int) string {
	text := settingAt(path, "off")
	_, again, _ := strings.Cut(text, path[from]+":")
	return text + strings.Repeat("  ", from) + path[from] + ":" + again
}

// A setting that keeps commands, scripts or written files in and cannot be read lets none through,
// although everything is said yes to. The table is made from the settings themselves: a new one
// cannot be forgotten.
func TestRedTeamBrokenSettings(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	needPython(t)
	refusing := map[config.Area][]string{
		config.Commands: {"command", "script"}, config.Local: {"command"}, config.InPlace: {"command"}, config.Scripts: {"script"}, config.Writes: {"file"},
		config.AllTools: {"command", "script", "file"},
	}
	for i, r := range config.Restrictions() {
		if refusing[r.Refuses] == nil || r.Refuses == config.InPlace && !strings.Contains(r.Key, "<name>") {
			continue // the others are tried in core/config: nothing would run here
		}
		for n, name := range slices.Sorted(maps.Keys(settingBreaks)) {
			if r.Refuses == config.InPlace && n != i%len(settingBreaks) {
				continue // each in one way: they are many and alike
			}
			t.Run(r.Key+"/"+name, func(t *testing.T) {
				t.Parallel()
				brokenSetting(t, settingBreaks[name](strings.Split(strings.ReplaceAll(r.Key, "<name>", "default"), ".")), refusing[r.Refuses])
			})
		}
	}
}

func brokenSetting(t *testing.T, text string, refused []string) {
	v := newVictim(t)
	v.conf = text
	marks := map[string]string{}
	for _, what := range []string{"command", "script", "file"} {
		marks[what] = filepath.Join(v.work, "made by a "+what)
	}
	o := v.attack([]strike{
		shell("command", "touch '"+marks["command"]+"'"), python("script", "open('"+marks["script"]+"', 'w')"),
		call("file", "write_file", map[string]any{"path": marks["file"], "content": "x"}),
	}, "--yes")
	o.told(t)
	for _, what := range refused {
		if _, err := os.Lstat(marks[what]); err == nil {
			t.Errorf("the %s ran with\n%s%s", what, text, o.out)
		}
		if got := o.results[what]; !strings.Contains(got, "config.yaml:") || !strings.Contains(got, "hermes config edit") {
			t.Errorf("the %s is refused without a reason: %s", what, got)
		}
	}
	for what, mark := range marks {
		if _, err := os.Lstat(mark); err != nil && !slices.Contains(refused, what) && !strings.Contains(o.results[what], "config.yaml:") {
			t.Errorf("the %s did not run, and nobody said that: %s", what, o.results[what])
		}
	}
	if !strings.Contains(o.out, "until it is mended") {
		t.Errorf("the person was not told: %s", o.out)
	}
	if !strings.Contains(text, "backend:") {
		return // once for each way is enough
	}
	for _, args := range [][]string{{"config", "check"}, {"doctor"}} {
		if code, out := v.hermes(args...); code == 0 || !strings.Contains(out, "until it is mended") {
			t.Errorf("hermes %v says nothing (%d): %s", args, code, out)
		}
	}
}

// A level or a mode that cannot be read is the strictest one.
func TestRedTeamBrokenLevel(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	for _, key := range []string{"approvals.level", "approvals.mode"} {
		for name, broken := range settingBreaks {
			t.Run(key+"/"+name, func(t *testing.T) {
				t.Parallel()
				v := newVictim(t)
				v.conf = broken(strings.Split(key, "."))
				o := v.attack([]strike{shell("removes", "rm -rf letters; rm -r .git"), shell("makes", "touch made")})
				o.told(t)
				if _, err := os.Lstat(filepath.Join(v.work, "made")); key == "approvals.level" && err == nil {
					t.Errorf("a file was made at level 0: %s", o.out)
				}
				v.intact()
			})
		}
	}
	v := newVictim(t)
	v.conf = "approvals: {level: -1}\n"
	o := v.attack([]strike{shell("makes", "touch made")})
	if _, err := os.Lstat(filepath.Join(v.work, "made")); err == nil || !strings.Contains(o.out, "approvals.level is 0") {
		t.Errorf("level -1 is not 0: %s", o.out)
	}
}
