// Package run is the command `hermes run`: one turn without the screen.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/client"
	"hermes/core/content"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/ui/cli/base"
)

const maxPrompt = 10 << 20 // bytes

type runFlags struct {
	base.OpenFlags
	toolsets []string
	output   string
	yes      yesFlag
	backend  string
	timeout  time.Duration
	skills   []string
	attach   []string
	images   []string
	newTools bool
}

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes run`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [prompt...]",
		Short: "Do one turn without the screen",
		Long: `Do one turn without the screen.

The prompt is what the arguments say; - stands for standard input, which is also read when there are no arguments.
The answer goes to stdout, tools and notices to stderr. Each answer is written once, when it is whole; a terminal shows
it while it comes. With --output json stdout is one object at the end, with jsonl
every event on a line of its own as it happens.

Nobody is there to be asked, so that what needs approval is refused (exit code 3) unless --yes is given. ctrl+c stops the
turn and keeps what there is; a second one ends the program.`,
		Example: `  hermes run "what changed in this repository today?"
  git diff | hermes run "write a commit message for this" -
  hermes run "what is wrong on this screen?" --attach screen.png
  hermes run -c "and now in French" --output json`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), f, args) },
	}
	f.Add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.Resume, "session", "s", "", "the same as --resume")
	fl.StringSliceVar(&f.toolsets, "toolsets", nil, "give the agent these sets of tools only")
	fl.StringVarP(&f.output, "output", "o", "text", "what stdout gets: text, json or jsonl")
	fl.VarP(&f.yes, "yes", "y", "run what would be asked for approval, up to a `level` (0 to 3, see approvals.level) or all; what never runs still does not")
	fl.Lookup("yes").NoOptDefVal = "all"
	fl.StringVar(&f.backend, "backend", "", "run commands in the back end of this `name`")
	fl.StringArrayVar(&f.skills, "skill", nil, "put this skill into the turn, by its `name`; may be given more than once")
	_ = cmd.RegisterFlagCompletionFunc("skill", c.CompleteSkills)
	fl.StringArrayVar(&f.attach, "attach", nil, "put this `file` into the message: an image, a text or another document; may be given more than once")
	fl.StringArrayVar(&f.images, "image", nil, "the same as --attach, for a `file` that is an image")
	fl.BoolVar(&f.newTools, "new-tools", false, "give a resumed session the tools as they are now, not those that it began with")
	fl.DurationVar(&f.timeout, "timeout", 0, "stop the turn after this long, for example 10m")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json", "jsonl"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (c *command) run(ctx context.Context, f runFlags, args []string) error {
	live := newPreview(c.Streams.Out, c.Getenv("TERM"))
	out := &recorder{w: c.Streams.Out}
	c.Streams.Out = out
	p, err := c.newPrinter(f.output, out, live)
	if err != nil {
		return err
	}
	prompt, err := f.promptText(args, c.Streams.In)
	if err != nil {
		return err
	}
	start, err := c.LoadWith(f.OpenFlags)
	if err != nil {
		return err
	}
	for _, problem := range start.Problems {
		c.Note("hermes: %s", problem)
	}
	start.Session = f.sessionConfig(start.Session.Source)
	start.NoSubstitute = true
	return c.WithClient(ctx, start, func(ctx context.Context, app client.Client) error {
		box := app.Events().Subscribe(event.Limits{}) // before the session opens, so that its first event is seen
		defer box.Close()
		in, err := withSkills(ctx, app, start.Cwd, f.skills, prompt)
		if err != nil {
			return err
		}
		in.Own = ownWords(args)
		if c.Driven() {
			in.From = chat.Author{Kind: chat.AuthorAgent} // its words allow nothing, and nobody's habits are learned of them
		}
		if err := f.addFiles(&in); err != nil {
			return err
		}
		uid, err := openSession(ctx, app, start, f)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		if f.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, f.timeout)
			defer cancel()
		}
		t := &turn{app: app, box: box, session: uid, yes: f.yes.all, printer: p, release: stop}
		err = errors.Join(t.runTurn(ctx, in), out.writeProblem(uid))
		c.learnFrom(ctx, app, t.id)
		return err
	})
}

// sessionConfig is how the run's session works: nobody is there to answer.
func (f runFlags) sessionConfig(source string) session.Config {
	c := session.Config{Source: source, Toolsets: f.toolsets, Unattended: !f.yes.all}
	c.Policy.Level = f.yes.level
	if f.yes.all {
		c.Policy.Mode = string(approval.ModeOff)
	}
	return c
}

var errNoPrompt = base.UsageError("the prompt is empty; write it after `run`, or pipe it in")

// promptText is what the person says; with a skill or a file that may be nothing.
func (f runFlags) promptText(args []string, in io.Reader) (string, error) {
	enough := len(f.skills)+len(f.attach)+len(f.images) > 0 && len(args) == 0
	if enough && base.IsTerminal(in) {
		return "", nil
	}
	text, err := readPrompt(args, in)
	if errors.Is(err, errNoPrompt) && enough {
		return "", nil // nothing was piped in: the skill or the file is the task
	}
	if ownWords(args) == nil {
		text = approval.ExpandCommand(text)
	}
	return text, err
}

// ownWords are the arguments, where standard input is a part of the prompt: who wrote what comes in
// there names no files.
func ownWords(args []string) *string {
	if len(args) > 0 && !slices.Contains(args, "-") {
		return nil
	}
	own := strings.Join(args, " ")
	return &own
}

// addFiles puts files into what the person says. Their paths start where the program was started,
// whatever --cwd says.
func (f runFlags) addFiles(in *agent.Input) error {
	here, _ := os.Getwd() // without one, only absolute paths can be read
	for i, path := range slices.Concat(f.attach, f.images) {
		part, err := content.Load(here, path)
		if err == nil && i >= len(f.attach) && part.Kind != chat.PartImage {
			err = fmt.Errorf("%s is no image", path)
		}
		if err != nil {
			return base.Failed(base.ExitUsage, "%w", err)
		}
		in.Parts = append(in.Parts, part)
	}
	return nil
}

// withSkills puts skills into what the person says.
func withSkills(ctx context.Context, app client.Client, cwd string, names []string, prompt string) (agent.Input, error) {
	in := agent.Input{From: chat.Person(), Text: prompt}
	if len(names) == 0 {
		return in, nil
	}
	for _, name := range names {
		part, err := app.Skill(ctx, cwd, name)
		if err != nil {
			return in, base.Failed(base.ExitUsage, "--skill: %w", err)
		}
		in.Parts = append(in.Parts, part)
	}
	if in.Text == "" {
		in.Text = "Use the skill " + strings.Join(names, ", ") + "."
	}
	return in, nil
}

// modelExit is the exit code when a model cannot be had: its provider failed, or there is none of
// that name.
func modelExit(err error) base.Exit {
	if pe := (*provider.Error)(nil); errors.As(err, &pe) {
		return base.ExitProvider
	}
	return base.ExitUsage
}

// openSession resumes or makes the session that the flags name and applies the model and the back
// end to it.
func openSession(ctx context.Context, app client.Client, start base.Start, f runFlags) (string, error) {
	info, err := findSession(ctx, app, start, f)
	if err != nil {
		return "", err
	}
	if f.Model != "" {
		if err := app.SetModel(ctx, info.UID, f.Model); err != nil {
			return "", base.Failed(modelExit(err), "model %s: %w", f.Model, err)
		}
	}
	if f.newTools {
		if _, err := app.TakeTools(ctx, info.UID); err != nil {
			return "", err
		}
	}
	if f.backend != "" {
		if err := app.SelectBackend(ctx, info.UID, f.backend); err != nil {
			return "", base.Failed(base.ExitUsage, "back end %s: %w", f.backend, err)
		}
	}
	return info.UID, nil
}

func findSession(ctx context.Context, app client.Client, start base.Start, f runFlags) (event.SessionInfo, error) {
	ref := f.Session()
	if ref == "" {
		return app.History().Create(ctx, session.NewSession{Source: start.Session.Source, Cwd: start.Cwd})
	}
	info, err := app.History().Resolve(ctx, ref)
	if err != nil {
		return info, base.Failed(base.ExitUsage, "%w", err)
	}
	if f.Cwd != "" {
		if err := app.History().SetPlace(ctx, info.UID, start.Cwd, start.Cwd); err != nil {
			return info, err
		}
	}
	return app.History().Open(ctx, info.UID, event.OpeningResume)
}

// readPrompt joins the arguments; - is standard input.
func readPrompt(args []string, in io.Reader) (string, error) {
	if len(args) == 0 {
		if base.IsTerminal(in) {
			return "", base.UsageError("no prompt; write it after `run`, or pipe it in")
		}
		args = []string{"-"}
	}
	parts := make([]string, 0, len(args))
	text := ""
	flush := func() {
		if len(parts) > 0 {
			text += strings.Join(parts, " ") + "\n\n"
			parts = parts[:0]
		}
	}
	for _, arg := range args {
		if arg != "-" {
			parts = append(parts, arg)
			continue
		}
		flush()
		data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
		if err != nil {
			return "", base.Failed(base.ExitFailed, "standard input: %w", err)
		}
		parts = append(parts, strings.TrimRight(string(data), "\n"))
		flush()
	}
	flush()
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errNoPrompt
	case len(text) > maxPrompt:
		return "", base.UsageError("the prompt is larger than %d MiB; put it in a file and name the file", maxPrompt>>20)
	case !utf8.ValidString(text):
		return strings.ToValidUTF8(text, "\ufffd"), nil
	}
	return text, nil
}

// yesFlag is how far a run goes without a person: not at all, up to a level, or all the way.
type yesFlag struct {
	all   bool
	level *int
}

// String implements pflag.Value.
func (y *yesFlag) String() string {
	switch {
	case y.all:
		return "all"
	case y.level != nil:
		return strconv.Itoa(*y.level)
	default:
		return ""
	}
}

// Set implements pflag.Value.
func (y *yesFlag) Set(s string) error {
	switch s {
	case "all", "true":
		*y = yesFlag{all: true}
		return nil
	case "false":
		*y = yesFlag{}
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 3 {
		return errors.New("a level from 0 to 3, or all")
	}
	*y = yesFlag{level: &n}
	return nil
}

// Type implements pflag.Value.
func (y *yesFlag) Type() string { return "level" }
