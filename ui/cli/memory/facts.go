package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/recall"
	"hermes/core/secret"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// withFacts opens the long-term memory of the profile for one command.
func (c *command) withFacts(do func(ctx context.Context, s *recall.Store) error) error {
	start, err := c.Load()
	if err != nil {
		return err
	}
	core.LearnSecrets(start.Config) // they are never kept
	ctx := context.Background()
	s, err := core.OpenRecall(ctx, start.Config)
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	err = do(ctx, s)
	return errors.Join(err, s.Close())
}

func (c *command) store() *cobra.Command {
	var lines, asJSON bool
	var meta []string
	cmd := &cobra.Command{
		Use:   "store KEY VALUE | store --lines [FILE]",
		Short: "Keep facts in long-term memory",
		Long: `Keep facts in long-term memory: each a key, which names what it is about, and a value.

A key that is there already gets the new value; what it said before is kept as replaced. With --lines, JSON lines {"key", "value", "metadata"} are
read from a file or standard input; a time in metadata.timestamp (RFC 3339) is when the fact is from. What looks like a secret is hidden in it.`,
		Example: "  hermes memory store 'staging database' 'runs on vega, port 5433'\n  hermes memory store --lines facts.jsonl",
		RunE: func(_ *cobra.Command, args []string) error {
			if lines {
				return c.storeLines(args, asJSON)
			}
			if len(args) != 2 {
				return base.UsageError("name a key and a value, or --lines")
			}
			metadata, err := parsePairs(meta)
			if err != nil {
				return err
			}
			return c.storeOne(recall.Item{Key: args[0], Value: args[1], Metadata: metadata, Origin: recall.Person}, asJSON)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&lines, "lines", false, "read JSON lines")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	fl.StringArrayVar(&meta, "meta", nil, "`name=value` that is kept with it; may be given again")
	return cmd
}

func parsePairs(meta []string) (map[string]any, error) {
	if len(meta) == 0 {
		return nil, nil
	}
	all := map[string]any{}
	for _, m := range meta {
		name, value, ok := strings.Cut(m, "=")
		if !ok || name == "" {
			return nil, base.UsageError("--meta %s: write name=value", m)
		}
		all[name] = value
	}
	return all, nil
}

func (c *command) storeOne(it recall.Item, asJSON bool) error {
	return c.withFacts(func(ctx context.Context, s *recall.Store) error {
		done, err := s.Put(ctx, it)
		if err != nil {
			return base.Failed(base.ExitFailed, "%w", err)
		}
		c.embedSome(ctx, s)
		switch {
		case asJSON:
			return base.WriteJSON(c.Streams.Out, storedJSON(done), false)
		case done.Same:
			fmt.Fprintf(c.Streams.Out, "It was there already, as number %d.\n", done.ID)
		case done.Replaced != 0:
			fmt.Fprintf(c.Streams.Out, "Stored as number %d, in place of number %d.\n", done.ID, done.Replaced)
		default:
			fmt.Fprintf(c.Streams.Out, "Stored as number %d.\n", done.ID)
		}
		return nil
	})
}

const (
	maxLine    = 1 << 20
	linesBatch = 500 // facts in one transaction
)

// storeLines stores what can be stored and says which lines could not.
func (c *command) storeLines(files []string, asJSON bool) error {
	in, name := c.Streams.In, "standard input"
	if len(files) > 1 {
		return base.UsageError("name one file")
	}
	if len(files) == 1 && files[0] != "-" {
		f, err := os.Open(files[0])
		if err != nil {
			return base.UsageError("%v", err)
		}
		defer func() { _ = f.Close() }()
		in, name = f, files[0]
	}
	return c.withFacts(func(ctx context.Context, s *recall.Store) error {
		batch := linesReader{c: c, name: name, session: "import " + time.Now().UTC().Format(time.RFC3339Nano)}
		if err := batch.readLines(ctx, s, in); err != nil {
			return base.Failed(base.ExitFailed, "%w", err)
		}
		c.embedSome(ctx, s)
		if asJSON {
			if err := base.WriteJSON(c.Streams.Out, map[string]int{"stored": batch.stored, "same": batch.same, "refused": batch.refused}, false); err != nil {
				return err
			}
		} else {
			fmt.Fprintf(c.Streams.Out, "%d stored, %d were there, %d refused.\n", batch.stored, batch.same, batch.refused)
		}
		if batch.refused > 0 {
			return base.SilentExit(base.ExitFailed)
		}
		return nil
	})
}

// linesReader stores JSON lines. The lines of one file are neighbours of each other.
type linesReader struct {
	c                     *command
	name, session         string
	waiting               []recall.Item
	stored, same, refused int
}

func (r *linesReader) readLines(ctx context.Context, s *recall.Store, in io.Reader) error {
	n := 0
	err := base.EachLine(in, maxLine, func(text []byte, whole bool) error {
		n++
		if len(bytes.TrimSpace(text)) == 0 {
			return nil
		}
		it, err := r.readItem(text, whole)
		if err != nil {
			r.refuseLine(n, err.Error())
			return nil
		}
		if r.waiting = append(r.waiting, it); len(r.waiting) == linesBatch {
			return r.storeWaiting(ctx, s)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s:%d: %w", r.name, n+1, err)
	}
	return r.storeWaiting(ctx, s)
}

func (r *linesReader) readItem(text []byte, whole bool) (recall.Item, error) {
	if !whole {
		return recall.Item{}, fmt.Errorf("it has more than %d bytes", maxLine)
	}
	var line recall.Line
	if err := json.Unmarshal(text, &line); err != nil {
		return recall.Item{}, fmt.Errorf("it is no JSON object with key and value: %w", err)
	}
	it := recall.Item{Key: line.Key, Value: secret.Redact(line.Value), Metadata: line.Metadata, Origin: recall.Import, Session: r.session}
	err := it.Check() // it trims, too
	return it, err
}

func (r *linesReader) refuseLine(line int, why string) {
	r.refused++
	r.c.Note("%s:%d: %s", r.name, line, base.OneLine(why))
}

func (r *linesReader) storeWaiting(ctx context.Context, s *recall.Store) error {
	done, err := s.PutAll(ctx, r.waiting)
	r.waiting = r.waiting[:0]
	for _, d := range done {
		if d.Same {
			r.same++
		} else {
			r.stored++
		}
	}
	return err
}

// answer is what `hermes memory recall --json` prints for a query.
type answer struct {
	Query string       `json:"query"`
	Hits  []recall.Hit `json:"hits"`
	Note  string       `json:"note,omitempty"`
}

func (c *command) recall() *cobra.Command {
	var k int
	var lines, asJSON bool
	cmd := &cobra.Command{
		Use:   "recall QUERY... | recall --lines",
		Short: "Find what long-term memory knows about something",
		Long: `Find what long-term memory knows about something: the best answers first, each with the three parts of its score.

With --lines each line of standard input is a query, and each has its answer: an empty one has no hits.`,
		Example: "  hermes memory recall which port does the staging database have\n  hermes memory recall --lines --json -k 10 < questions.txt",
		RunE: func(_ *cobra.Command, args []string) error {
			if lines == (len(args) > 0) {
				return base.UsageError("give a query, or --lines and queries on standard input")
			}
			if k < 1 {
				return base.UsageError("-k %d: at least 1", k)
			}
			return c.withFacts(func(ctx context.Context, s *recall.Store) error {
				if !lines {
					return c.printRecalled(ctx, s, strings.Join(args, " "), k, asJSON)
				}
				return c.answerLines(ctx, s, k, asJSON)
			})
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&k, "top", "k", 5, "most `facts` that come back")
	fl.BoolVar(&lines, "lines", false, "read a query a line from standard input")
	fl.BoolVar(&asJSON, "json", false, "print a JSON object for each query")
	return cmd
}

func (c *command) answerLines(ctx context.Context, s *recall.Store, k int, asJSON bool) error {
	return base.EachLine(c.Streams.In, maxLine, func(query []byte, _ bool) error {
		return c.printRecalled(ctx, s, string(query), k, asJSON)
	})
}

func (c *command) printRecalled(ctx context.Context, s *recall.Store, query string, k int, asJSON bool) error {
	var found recall.Found
	if strings.TrimSpace(query) != "" { // nothing answers nothing
		var err error
		if found, err = s.Recall(ctx, query, k, 0); err != nil {
			return base.Failed(base.ExitFailed, "%w", err)
		}
	}
	if asJSON {
		return base.WriteJSON(c.Streams.Out, answer{Query: query, Hits: append([]recall.Hit{}, found.Hits...), Note: found.Note}, false)
	}
	if len(found.Hits) == 0 {
		fmt.Fprintln(c.Streams.Out, "Nothing that is remembered answers this.")
	}
	if found.Note != "" {
		c.Note("%s", base.OneLine(text.Sanitize(found.Note)))
	}
	for _, h := range found.Hits {
		why := fmt.Sprintf("score %.2f: similarity %.2f, recency %.2f, use %.2f", h.Score, h.Similarity, h.Recency, h.Use)
		if h.Beside {
			why += "; found for what was stored beside it"
		}
		c.printFact(h.Item, why)
	}
	return nil
}

// printFact shows a fact as people read it.
func (c *command) printFact(it recall.Item, more string) {
	note := it.Created.Local().Format("2006-01-02 15:04")
	for _, s := range []struct {
		on   bool
		text string
	}{
		{it.Pinned, "pinned"},
		{it.Tainted, "from a conversation that had read strangers' words"},
		{it.ReplacedBy != 0, fmt.Sprintf("replaced by %d", it.ReplacedBy)},
		{it.Uses > 0, fmt.Sprintf("used %d times", it.Uses)},
		{more != "", more},
	} {
		if s.on {
			note += ", " + s.text
		}
	}
	out := c.Streams.Out
	fmt.Fprintf(out, "%d. %s\n", it.ID, text.Sanitize(base.OneLine(it.Key)))
	for _, line := range text.Wrap(text.Sanitize(it.Value), max(c.Width()-4, 20)) {
		fmt.Fprintln(out, "    "+line)
	}
	fmt.Fprintln(out, "    "+note)
}
