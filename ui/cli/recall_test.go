package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"hermes/ui/cli"
)

// Each line of standard input has its answer, so that a script can pair them: an empty one too.
func TestEachLineHasItsAnswer(t *testing.T) {
	t.Parallel()
	env := []string{"HERMES_HOME=" + t.TempDir()}
	hermes := func(in string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		streams := cli.Streams{In: strings.NewReader(in), Out: &out, Err: &errs}
		if code := cli.Main(context.Background(), cli.Program{}, append([]string{"memory"}, args...), streams, env); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, &errs)
		}
		return out.String()
	}
	hermes("", "store", "staging port", "5433")
	answers := strings.Split(hermes("staging port\n\n   \nstaging port\n", "recall", "--lines", "--json"), "\n")
	if len(answers) != 5 || !strings.Contains(answers[0], "5433") || answers[1] != `{"query":"","hits":[]}` ||
		answers[2] != `{"query":"   ","hits":[]}` || !strings.Contains(answers[3], "5433") {
		t.Errorf("%q", answers)
	}
	if plain := hermes("\nstaging port\n", "recall", "--lines"); !strings.HasPrefix(plain, "Nothing that is remembered answers this.\n1. staging port") {
		t.Errorf("%q", plain)
	}
}

// A line that is too long spoils no other one, of facts and of questions alike.
func TestALineThatIsTooLongSpoilsNoOther(t *testing.T) {
	t.Parallel()
	env := []string{"HERMES_HOME=" + t.TempDir()}
	hermes := func(in string, args ...string) (code int, out, errs bytes.Buffer) {
		streams := cli.Streams{In: strings.NewReader(in), Out: &out, Err: &errs}
		return cli.Main(context.Background(), cli.Program{}, append([]string{"memory"}, args...), streams, env), out, errs
	}
	long := strings.Repeat("w", 3<<20)
	code, out, errs := hermes(`{"key": "long", "value": "`+long+"\"}\r\n"+`{"key": "staging port", "value": "5433"}`+"\r\n", "store", "--lines")
	if code != 1 || out.String() != "1 stored, 0 were there, 1 refused.\n" || errs.String() != "standard input:1: it has more than 1048576 bytes\n" {
		t.Errorf("%d %q %q", code, out.String(), errs.String())
	}
	code, out, errs = hermes(long+"\nstaging port", "recall", "--lines", "--json")
	answers := strings.Split(out.String(), "\n")
	if code != 0 || len(answers) != 3 || !strings.Contains(answers[0], `"hits":[]`) || !strings.Contains(answers[1], "5433") {
		t.Errorf("%d, %d answers, %q", code, len(answers), errs.String())
	}
}
