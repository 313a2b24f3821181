// Package hooks is the command `hermes hooks`: programs that take part in what the agent does.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/trust"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes hooks`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "hooks", Short: "Programs that take part in what the agent does: list, test, trust",
		Long: `Programs that take part in what the agent does: they are told of it as JSON, may refuse it, change it or add text.

They stand in config.yaml (hooks), in .hermes/hooks.yaml of projects that you trust, and in plugins.`,
		Example: `  hermes hooks list
  hermes hooks test pre_tool_call --tool terminal --input '{"command": "rm -rf build"}'`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.AddCommand(c.list(), c.test(), c.trust())
	return cmd
}

// with opens the program for work on hooks.
func (c *command) with(cmd *cobra.Command, work func(context.Context, client.Hooks) error) error {
	return c.WithFolder(cmd, func(ctx context.Context, app client.Client) error {
		if app.Hooks() == nil {
			return base.Failed(base.ExitFailed, "this program was built without hooks")
		}
		return work(ctx, app.Hooks())
	})
}

// listed is what `hermes hooks list --json` prints.
type listed struct {
	Hooks   []row         `json:"hooks"`
	Project *hook.Brought `json:"project,omitempty"`
}

type row struct {
	hook.Hook
	Timeout string `json:"timeout"`
}

func (c *command) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the hooks in the order in which they run", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd, func(_ context.Context, hooks client.Hooks) error {
				out := listed{Hooks: []row{}}
				for _, h := range hooks.List() {
					out.Hooks = append(out.Hooks, row{h, h.Timeout.String()})
				}
				var err error
				if out.Project, err = hooks.Project(); err != nil {
					c.Note("hermes: %v", err)
				}
				if asJSON {
					return base.WriteJSON(c.Streams.Out, out, true)
				}
				return c.print(out)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) print(all listed) error {
	if b := all.Project; b != nil && b.State == trust.Refused { // else the start said so
		c.Note("%s brings %s that you refused (%s)", text.Sanitize(b.Folder), text.Count(len(b.Hooks), "hook", "hooks"), hook.ProjectFile)
	}
	if len(all.Hooks) == 0 {
		c.Note("there are no hooks; docs/hooks.md shows how one is written")
		return nil
	}
	t := base.Table{Head: []string{"EVENT", "NAME", "FROM", "TOOLS", "ON ERROR", "TIMEOUT", "COMMAND"}, Fit: c.Width()}
	for _, h := range all.Hooks {
		t.Row(string(h.Event), h.Name, h.Owner, h.Matcher, h.OnError, h.Timeout, base.Cut(h.Command, 60))
	}
	return t.Write(c.Streams.Out)
}

// tested is what `hermes hooks test --json` prints.
type tested struct {
	Runs    []event.HookRan `json:"runs"`
	Refused bool            `json:"refused"`
	Reason  string          `json:"reason,omitempty"`
	Args    json.RawMessage `json:"tool_input,omitempty"`
	Context string          `json:"context,omitempty"`
}

func (c *command) test() *cobra.Command {
	var asJSON bool
	in := hook.Input{Session: "test", Turn: "test"}
	var args string
	cmd := &cobra.Command{
		Use: "test <event>", Short: "Run the hooks of an event and say what each of them does", Args: cobra.ExactArgs(1),
		Long: `Run the hooks of an event and say what each of them does. Nothing else happens: no model and no tool is called.

It ends with 3 when something was refused, with 1 when a hook could not run.`,
		ValidArgs: names(),
		RunE: func(cmd *cobra.Command, given []string) error {
			in.Event = hook.Event(given[0])
			if !slices.Contains(hook.Events(), in.Event) {
				return base.UsageError("no event is called %q; there are: %s", given[0], strings.Join(names(), ", "))
			}
			if in.Event.OfTool() {
				if in.Args = json.RawMessage(args); !json.Valid(in.Args) || in.Args[0] != '{' {
					return base.UsageError("--input is no JSON object: %s", base.Cut(args, 60))
				}
				in.CallID = "test"
			} else {
				in.Tool = ""
			}
			if in.Event == hook.PostToolCall {
				in.Result = &hook.Result{Text: in.Prompt}
			}
			if in.Event == hook.MessageOut || in.Event == hook.PostModelCall {
				in.Message = in.Prompt
			}
			if in.Event != hook.MessageIn {
				in.Prompt = ""
			}
			return c.with(cmd, func(ctx context.Context, hooks client.Hooks) error {
				v, runs := hooks.Test(ctx, in)
				return c.tested(tested{runs, v.Refused, v.Reason, v.Args, v.Context}, asJSON)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Tool, "tool", "terminal", "the tool that is called")
	f.StringVar(&args, "input", `{"command": "true"}`, "its arguments, as `JSON`")
	f.StringVar(&in.Prompt, "text", "a test", "the message, or the result of the call")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func names() []string {
	var out []string
	for _, e := range hook.Events() {
		out = append(out, string(e))
	}
	return out
}

func (c *command) tested(t tested, asJSON bool) error {
	if asJSON {
		if err := base.WriteJSON(c.Streams.Out, t, true); err != nil {
			return err
		}
	} else {
		c.say(t)
	}
	for _, r := range t.Runs {
		if r.Outcome == event.HookFailed {
			return base.Failed(base.ExitFailed, "the hook %s could not run", base.OneLine(r.Name))
		}
	}
	if t.Refused {
		return base.Failed(base.ExitRefused, "%s", base.OneLine(t.Reason))
	}
	return nil
}

func (c *command) say(t tested) {
	if len(t.Runs) == 0 {
		c.Note("no hook takes part in this")
	}
	for _, r := range t.Runs {
		words := cmp.Or(r.Words(), "the hook "+r.Name+" had nothing to say")
		fmt.Fprintf(c.Streams.Out, "%-8s %6s  %s\n", r.Outcome, r.Took.Round(time.Millisecond), base.OneLine(words))
	}
	if t.Args != nil {
		fmt.Fprintf(c.Streams.Out, "arguments: %s\n", text.Sanitize(string(t.Args)))
	}
	if t.Context != "" {
		fmt.Fprintf(c.Streams.Out, "for the model: %s\n", text.Sanitize(t.Context))
	}
}

func (c *command) trust() *cobra.Command {
	var yes, no bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Let the project in this folder bring its hooks, after a look at them", Args: cobra.NoArgs,
		Long: `Let the project in this folder bring the hooks of its .hermes/hooks.yaml, after a look at them.

They are programs that run with your rights. Trust is for exactly this content, with the files of the project that the commands
name: when one byte changes you are asked again. --no remembers that you do not want them.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd, func(_ context.Context, hooks client.Hooks) error {
				b, err := hooks.Project()
				switch {
				case err != nil:
					return base.Failed(base.ExitFailed, "%w", err)
				case b == nil:
					return base.UsageError("this project brings no hooks: it has no %s", hook.ProjectFile)
				}
				c.showHooks(b)
				if !yes && !no {
					if yes, err = c.Confirm("Run these programs when what they take part in happens?"); err != nil {
						return err
					}
					if !yes {
						c.Note("nothing was changed")
						return nil
					}
				}
				return hooks.Trust(b, yes)
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&no, "no", false, "do not use them, and do not ask again until they change")
	cmd.MarkFlagsMutuallyExclusive("yes", "no")
	return cmd
}

// showHooks prints what a project brings.
func (c *command) showHooks(b *hook.Brought) {
	fmt.Fprintf(c.Streams.Out, "%s (%s)\n", text.Sanitize(b.Folder), b.State)
	for _, p := range b.Problems {
		fmt.Fprintf(c.Streams.Out, "! %s\n", text.Sanitize(p))
	}
	for _, h := range b.Hooks {
		line := string(h.Event)
		if h.Matcher != "" {
			line += " of " + h.Matcher
		}
		fmt.Fprintf(c.Streams.Out, "  %s: %s\n", base.OneLine(line), base.OneLine(h.Command))
	}
}
