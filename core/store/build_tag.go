//go:build !sqlite_fts5

package store

// The full-text index needs a build tag of the SQLite driver. Without it nothing here may compile,
// because such a program would only fail when a person searches.
var _ = build_with_tags_sqlite_fts5__run_make_build
