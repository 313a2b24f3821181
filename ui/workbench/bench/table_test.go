package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"
)

// table is where the rows go; .ci/bench keeps it apart from what `go test` prints.
var (
	table  io.Writer = os.Stderr
	missed int
)

const rowFormat = "| %-47s | %9s | %-41s | %9s | %5s | %6s | %-3s |\n"

func TestMain(m *testing.M) {
	if os.Getenv(echoServer) != "" {
		serveEcho()
		return
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		fmt.Fprintf(table, rowFormat, "what", "measured", "floor of the same run", "floor", "ratio", "budget", "ok")
		fmt.Fprintf(table, rowFormat, "---", "---:", "---", "---:", "---:", "---:", "---")
	}
	code := m.Run()
	closeCorpus()
	if missed > 0 {
		fmt.Fprintf(table, "%d budgets missed\n", missed)
		code = 1
	}
	os.Exit(code)
}

// gate is one row: what is measured against which floor, and how many times the floor it may take.
// A budget of 0 only reports.
type gate struct {
	what, floor string
	budget      float64
}

// times closes a row of two times.
func (g gate) times(b *testing.B, mine, floor time.Duration) {
	g.row(b, short(mine), short(floor), float64(mine)/float64(floor))
}

func (g gate) row(b *testing.B, mine, floor string, ratio float64) {
	b.Helper()
	budget, verdict := "report", ""
	if g.budget > 0 {
		budget, verdict = fmt.Sprintf("%.4g", g.budget), "yes"
		if ratio > g.budget {
			verdict = "NO"
			missed++
		}
	}
	fmt.Fprintf(table, rowFormat, g.what, mine, g.floor, floor, fmt.Sprintf("%.2f", ratio), budget, verdict)
	b.ReportMetric(ratio, "x-floor")
	b.ReportMetric(0, "ns/op")
}

// none is a row of something that must not happen at all.
func none(b *testing.B, what, over string, n int64) {
	b.Helper()
	verdict := "yes"
	if n != 0 {
		verdict = "NO"
		missed++
	}
	fmt.Fprintf(table, rowFormat, what, fmt.Sprint(n), over, "", "", "0", verdict)
	b.ReportMetric(float64(n), "count")
}

// short writes a time with three figures.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.0f us", float64(d)/1e3)
	default:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
}

// versus runs both in turns and returns their medians. What is too quick for the clock runs many
// times a sample.
func versus(rounds int, mine, floor func()) (m, f time.Duration) {
	mine, many := repeated(mine)
	floor, times := repeated(floor)
	var ms, fs []time.Duration
	for range rounds {
		fs = append(fs, timed(floor)/time.Duration(times))
		ms = append(ms, timed(mine)/time.Duration(many))
	}
	return median(ms), median(fs)
}

// repeated runs f as often as fills half a millisecond, after it was called once to warm it up.
func repeated(f func()) (func(), int) {
	f()
	n := max(1, int(500*time.Microsecond/max(timed(f), 10)))
	return func() {
		for range n {
			f()
		}
	}, n
}

func timed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
