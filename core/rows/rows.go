// Package rows reads what a query of a database answers, row by row, and closes it.
package rows

import (
	"context"
	"database/sql"
)

// DB is what can be asked: a database, a connection or a transaction.
type DB interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Scanner is a row.
type Scanner interface{ Scan(into ...any) error }

// Answer is what a query will answer.
type Answer func() (*sql.Rows, error)

// Ask prepares a query. One of Each, Collect, Column and Map runs it.
func Ask(ctx context.Context, db DB, query string, args ...any) Answer {
	return func() (*sql.Rows, error) { return db.QueryContext(ctx, query, args...) }
}

// Each hands every row to scan.
func (ask Answer) Each(scan func(Scanner) error) error {
	rows, err := ask()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Collect is what scan makes of each row.
func Collect[T any](a Answer, scan func(Scanner) (T, error)) (all []T, _ error) {
	err := a.Each(func(r Scanner) error {
		one, err := scan(r)
		all = append(all, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Column is an answer of one column.
func Column[T any](a Answer) ([]T, error) {
	return Collect(a, func(r Scanner) (one T, err error) {
		err = r.Scan(&one)
		return one, err
	})
}

// Map is an answer of two columns, the first of which are keys.
func Map[K comparable, V any](a Answer) (map[K]V, error) {
	all := map[K]V{}
	err := a.Each(func(r Scanner) error {
		var k K
		var v V
		err := r.Scan(&k, &v)
		all[k] = v
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
