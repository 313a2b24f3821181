// Command train makes the model of core/injection/score from tables of orders to an agent and of
// honest texts: go generate ./core/injection/score.
//
// The tables stand in tables/ and in ../testdata. A table *.tsv has lines of LABEL (block or
// allow), LANG, CATEGORY and TEXT, divided by tabs; a table *.txt has one text a line below heads
// of the form "## LABEL LANG CATEGORY", or a name that says what all of its lines are. The part of
// a table's name before "-" is its author. tables/README.md says who wrote what. Our own docs are
// read beside them, as honest text. The same texts, lexicon and settings make the same bytes, on
// one kind of processor.
//
// With -check nothing is written: each author's table is judged by a model that was trained without
// it, which is the only figure that says something about texts that nobody has seen. -errors prints
// the texts that were judged wrongly.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	check := flag.Bool("check", false, "leave one author out and print what is found of their table")
	wrong := flag.Bool("errors", false, "print what was judged wrongly")
	dir := flag.String("dir", "core/injection", "the folder of the package injection")
	flag.Parse()
	if err := run(os.Stdout, *dir, *check, *wrong); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir string, check, wrong bool) error {
	samples, err := loadAll(dir)
	if err != nil {
		return err
	}
	if check || wrong {
		for _, r := range validateByAuthor(samples) {
			if wrong {
				r.writeErrors(out)
			}
			_, _ = fmt.Fprintln(out, r)
		}
		return nil
	}
	b, err := learn(samples, usual).quantise().Pack()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d texts, a model of %d bytes\n", len(samples), len(b))
	return os.WriteFile(filepath.Join(dir, "score", "model.bin"), b, 0o644)
}
