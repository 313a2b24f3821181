package file

import (
	"strings"
	"testing"

	"hermes/core/secret"
)

// A file with a secret in it is read, and written back as it was shown: the secret must survive.
func TestTheMarkOfASecretIsNeverWrittenOverIt(t *testing.T) {
	f := newFixture(t, "")
	const key = "sk-proj-a1B2c3D4e5F6g7H8i9J0"
	before := "name = 'x'\nAPI_KEY = '" + key + "'\nend = 1\n"
	path := f.put("settings.py", before)
	shown := secret.Redact(before)
	if read := f.run("read_file", args{"path": path}); strings.Contains(read.Text, key) || !strings.Contains(read.Text, secret.Hidden) {
		t.Fatal(read.Text)
	}
	for _, call := range []struct {
		tool string
		args args
	}{
		{"write_file", args{"path": path, "content": strings.Replace(shown, "end = 1", "end = 2", 1)}},
		{"write_file", args{"path": "new.py", "content": shown}},
		{"patch", args{"path": path, "old_string": shown, "new_string": shown + "x"}},
		{"patch", args{"path": path, "old_string": "name = 'x'", "new_string": "name = '" + secret.Hidden + "'"}},
		{"patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: " + path + "\n@@\n name = 'x'\n-API_KEY = '" + secret.Hidden + "'\n+API_KEY = '" + secret.Hidden + "'  # key\n end = 1\n*** End Patch"}},
	} {
		res := f.run(call.tool, call.args)
		if got := f.get("settings.py"); got != before {
			t.Fatalf("%s %v wrote %q", call.tool, call.args, got)
		}
		f.want(res, true, secret.Hidden)
	}
	f.want(f.run("patch", args{"path": path, "old_string": "end = 1", "new_string": "end = 2"}), false)
	if got := f.get("settings.py"); got != strings.Replace(before, "end = 1", "end = 2", 1) {
		t.Errorf("%q", got)
	}
}
