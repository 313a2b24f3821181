package rows

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

// A second query runs on the only connection after each way to end the first: every answer is
// closed, and what went wrong is told.
func TestAnswersAreClosed(t *testing.T) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	numbers := Ask(ctx, db, "SELECT 1 UNION ALL SELECT 2")
	odd := errors.New("odd")
	if err := numbers.Each(func(Scanner) error { return odd }); !errors.Is(err, odd) {
		t.Errorf("scan failed, and the answer says %v", err)
	}
	if got, err := Column[int](numbers); err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Map[string, int](Ask(ctx, db, "SELECT 'a', ?", 7)); err != nil || got["a"] != 7 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Column[int](Ask(ctx, db, "SELECT nothing")); err == nil || got != nil {
		t.Errorf("a query that fails answers %v, %v", got, err)
	}
	stop()
	if err := numbers.Each(func(Scanner) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
