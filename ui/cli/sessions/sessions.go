// Package sessions is the command `hermes sessions`: conversations: listed, searched, shown, moved,
// removed.
package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/chat"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes sessions`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, search, show, move and remove conversations",
		Long: `List, search, show, move and remove conversations.

A session is named by its id, by the start of its id, by its title, or by the word last.`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.AddCommand(
		c.sessionsList(), c.sessionsShow(), c.sessionsSearch(), c.sessionsExport(), c.sessionsImport(), c.sessionsFork(),
		c.sessionsRename(), c.sessionsRemove(), c.sessionsStats(), c.sessionsAttempts(), c.sessionsCheck(),
	)
	return cmd
}

type filterFlags struct {
	limit                         int
	project, source, since, until string
	asJSON                        bool
}

func (f *filterFlags) add(cmd *cobra.Command, limit int) {
	fl := cmd.Flags()
	fl.IntVarP(&f.limit, "limit", "n", limit, "at most so many")
	fl.StringVar(&f.project, "project", "", "only where the project's path has this in it")
	fl.StringVar(&f.source, "source", "", "only from here: tui, run, ...")
	fl.StringVar(&f.since, "since", "", "not older than: 2026-11-21, or 7d, 12h")
	fl.StringVar(&f.until, "until", "", "not newer than")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (f *filterFlags) times(now time.Time) (since, until time.Time, err error) {
	if since, err = base.ParseWhen(f.since, now); err != nil {
		return since, until, err
	}
	until, err = base.ParseWhen(f.until, now)
	return since, until, err
}

func (c *command) sessionsList() *cobra.Command {
	var f filterFlags
	var archived bool
	cmd := &cobra.Command{
		Use: "list [part of a title]", Aliases: []string{"ls"}, Short: "List sessions, newest activity first",
		RunE: func(cmd *cobra.Command, args []string) error {
			since, until, err := f.times(time.Now())
			if err != nil {
				return err
			}
			return c.WithSessions(cmd, func(ctx context.Context, s client.Sessions) error {
				list, err := s.List(ctx, session.Filter{
					Limit: f.limit, Query: strings.Join(args, " "), Project: f.project, Source: f.source, Since: since, Until: until, Archived: archived,
				})
				if err != nil {
					return err
				}
				return c.printSessions(list, f.asJSON)
			})
		},
	}
	f.add(cmd, 50)
	cmd.Flags().BoolVar(&archived, "archived", false, "archived ones too")
	return cmd
}

func (c *command) printSessions(list []event.SessionInfo, asJSON bool) error {
	if asJSON {
		if list == nil {
			list = []event.SessionInfo{}
		}
		return base.WriteJSON(c.Streams.Out, list, true)
	}
	if len(list) == 0 {
		c.Note("no sessions")
		return nil
	}
	t := base.Table{Head: []string{"ID", "LAST", "MESSAGES", "SOURCE", "MODEL", "TITLE"}, Fit: c.Width()}
	for _, s := range list {
		title := s.Title
		if title == "" {
			title = s.Preview
		}
		if s.Pinned {
			title = "* " + title
		}
		t.Row(s.UID, base.DateTime(s.Last), fmt.Sprint(s.Messages), s.Source, base.OrDash(base.Cut(s.ModelRef(), 30)), base.Cut(title, 60))
	}
	return t.Write(c.Streams.Out)
}

func (c *command) sessionsShow() *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use: "show <session>", Short: "Show a session and its newest messages", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithSession(cmd, args[0], func(ctx context.Context, s client.Sessions, info event.SessionInfo) error {
				messages, more, err := s.Messages(ctx, info.UID, session.Page{Limit: limit})
				if err != nil {
					return err
				}
				config, err := s.ConfigOf(ctx, info.UID)
				if err != nil {
					return err
				}
				shown := shownSession{info, config, messages, more}
				if asJSON {
					return base.WriteJSON(c.Streams.Out, shown, true)
				}
				return c.printSession(shown)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "at most so many messages")
	return cmd
}

type shownSession struct {
	Session  event.SessionInfo `json:"session"`
	Config   session.Config    `json:"config,omitzero"` // in place of the settings
	Messages []chat.Message    `json:"messages"`
	More     bool              `json:"more"` // older ones are not shown
}

func (c *command) printSession(s shownSession) error {
	info := s.Session
	t := base.Table{}
	t.Row("title", info.Title)
	t.Row("id", info.UID)
	t.Row("started", base.DateTime(info.Started))
	t.Row("last", base.DateTime(info.Last))
	t.Row("model", info.ModelRef())
	t.Row("folder", info.Cwd)
	if level := s.Config.Policy.LevelName(); level != "" {
		t.Row("level", level)
	}
	if sets := s.Config.Toolsets; len(sets) > 0 {
		t.Row("toolsets", strings.Join(sets, ", "))
	}
	t.Row("messages", fmt.Sprint(info.Messages))
	t.Row("tokens", fmt.Sprintf("%d in, %d out", info.Usage.Input, info.Usage.Output))
	if err := t.Write(c.Streams.Out); err != nil {
		return err
	}
	if s.More {
		fmt.Fprintln(c.Streams.Out, "\n... older messages: `hermes sessions export` has all of them")
	}
	for _, m := range s.Messages {
		fmt.Fprintf(c.Streams.Out, "\n%s  %s\n%s\n", strings.ToUpper(string(m.Role)), base.DateTime(m.At), strings.TrimRight(text.Sanitize(messageText(m)), "\n"))
	}
	return nil
}

// messageText is a message for reading: tool calls and results by their first lines.
func messageText(m chat.Message) string {
	lines := []string{}
	if m.Text != "" {
		lines = append(lines, m.Text)
	}
	for _, call := range m.Calls {
		lines = append(lines, fmt.Sprintf("→ %s %s", call.Name, base.Cut(string(call.Args), 160)))
	}
	if m.Result != nil {
		shown := strings.SplitN(m.Result.Text, "\n", 11)
		if len(shown) == 11 {
			shown[10] = "..."
		}
		lines = append(lines, "← "+m.Result.Name, strings.Join(shown, "\n"))
	}
	m.EachPart(func(p *chat.Part) { lines = append(lines, "["+p.Describe()+"]") })
	return strings.Join(lines, "\n")
}

func (c *command) sessionsSearch() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use: "search <words>", Short: "Find what was said in any session", Args: cobra.MinimumNArgs(1),
		Long: `Find what was said in any session. A message is found when it has all the words.
A * at the end finds every word that begins so, quotes find words side by side.`,
		Example: `  hermes sessions search docker network
  hermes sessions search 'net*'
  hermes sessions search '"docker network"' --since 7d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			since, until, err := f.times(time.Now())
			if err != nil {
				return err
			}
			return c.WithSessions(cmd, func(ctx context.Context, s client.Sessions) error {
				found, err := s.Search(ctx, session.Query{
					Text: strings.Join(args, " "), Limit: f.limit, Project: f.project, Source: f.source, Since: since, Until: until,
				})
				if err != nil {
					return err
				}
				return c.printHits(found, f.asJSON)
			})
		},
	}
	f.add(cmd, 20)
	return cmd
}

func (c *command) printHits(found session.Results, asJSON bool) error {
	if found.Rebuilding > 0 {
		c.Note("the search index is being rebuilt (%.0f %% done); older messages may be missing", 100*found.Rebuilding)
	}
	if asJSON {
		return base.WriteJSON(c.Streams.Out, viewHits(found), true)
	}
	if len(found.Hits) == 0 {
		c.Note("nothing found")
		return nil
	}
	t := base.Table{Head: []string{"SESSION", "DATE", "WHO", "TITLE", "TEXT"}}
	for _, h := range found.Hits {
		who := string(h.Role)
		if h.MessageID == 0 {
			who = "title"
		}
		t.Row(h.Session.UID, base.DateTime(h.At), who, base.Cut(h.Session.Title, 30), base.Cut(marked(h), 100))
	}
	if err := t.Write(c.Streams.Out); err != nil {
		return err
	}
	total := text.Count(found.Total, "message", "messages")
	if found.Bounded {
		total = "more than " + total
	}
	c.Note("%s", total)
	return nil
}

// marked puts the matches between brackets, so that they show without colours.
func marked(h session.Hit) string {
	var b strings.Builder
	at := 0
	for _, m := range h.Marks {
		if m[0] < at || m[1] > len(h.Snippet) || m[0] > m[1] {
			continue
		}
		b.WriteString(h.Snippet[at:m[0]] + "[" + h.Snippet[m[0]:m[1]] + "]")
		at = m[1]
	}
	return b.String() + h.Snippet[at:]
}
