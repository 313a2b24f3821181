package childenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What the kernel shows of this process's environment has no secrets; the program has them still,
// and all the rest is shown as before.
func TestConceal(t *testing.T) {
	if os.Getenv("HERMES_TEST_CONCEAL") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConceal$")
		cmd.Env = []string{"HERMES_TEST_CONCEAL=1", "A_TOKEN=open sesame", "EMPTY_KEY=", "PLAIN=stays", "PLACE=postgres://me:open sesame@h/x", "KEYLIKE==open sesame=", "LINK=https://host/a:b@c"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
		return
	}
	Conceal()
	shown, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), "sesame") || !strings.Contains(string(shown), "A_TOKEN=\x00") || !strings.Contains(string(shown), "PLAIN=stays\x00") || !strings.Contains(string(shown), "LINK=https://host/a:b@c") {
		t.Errorf("the kernel shows %q", shown)
	}
	if os.Getenv("A_TOKEN") != "open sesame" || os.Getenv("KEYLIKE") != "=open sesame=" {
		t.Error("the program lost its own")
	}
}
