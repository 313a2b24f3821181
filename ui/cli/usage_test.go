package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"hermes/ui/cli/base"
)

// A wrong command line is refused with a sentence that says what to write: the words that are
// missing, the name that was meant.
func TestAWrongCommandLineSaysWhatToWrite(t *testing.T) {
	for line, want := range map[string]string{
		"sesions":                       "did you mean sessions?",
		"frobnicate":                    "`hermes --help` lists them",
		"sessions serch x":              "did you mean search?",
		"pool frobnicate":               "`hermes pool --help` lists them",
		"gateway run":                   `hermes: this version has no "gateway"`,
		"cron list":                     `hermes: this version has no "cron"`,
		"chat -q hi":                    "here it is `hermes run \"...\"`",
		"chat hi":                       "here it is `hermes run \"...\"`; as a prompt it stands in quotes",
		"insights":                      "here it is `hermes usage`",
		"-q hi":                         "hermes: there is no flag -q; `hermes --help` lists them",
		"version now":                   "hermes version takes no words",
		"model frobnicate":              "hermes model has no command",
		"completion foo":                "hermes completion has no command",
		"sessions show":                 "too few words; write it like this: hermes sessions show <session>",
		"sessions show a b":             "too many words; write it like this: hermes sessions show <session>",
		"sessions rename a":             "too few words; write it like this: hermes sessions rename <session> <title>",
		"rollback show a b c":           "too many words",
		"run --outptu json x":           "did you mean --output?",
		"run --frobnicate x":            "`hermes run --help` lists them",
		"run --profil x y":              "did you mean --profile?",
		"sessions list --limit x":       "`hermes sessions list --help` shows how it is used",
		"sessions list --limit":         "`hermes sessions list --help` shows how it is used",
		"config get display.theme more": "too many words",
	} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), base.Program{}, strings.Fields(line), base.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"HOME=" + t.TempDir()})
		if got := errs.String(); code != int(base.ExitUsage) || !strings.Contains(got, want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "arg(s)") || out.Len() > 0 {
			t.Errorf("hermes %s: exit %d, said %q, printed %q", line, code, got, out.String())
		}
	}
}

// A prompt of blanks, a variable that is empty say, is told apart from a command.
func TestAnEmptyPromptOpensNothing(t *testing.T) {
	for _, args := range [][]string{{""}, {"  "}, {"", " "}} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), base.Program{}, args, base.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"HOME=" + t.TempDir()})
		if code != int(base.ExitUsage) || !strings.Contains(errs.String(), "the prompt is empty") {
			t.Errorf("hermes %q: exit %d, said %q", args, code, errs.String())
		}
	}
}
