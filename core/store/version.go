package store

import sqlite3 "github.com/mattn/go-sqlite3"

// SQLiteVersion returns the version of the database library that is built in.
func SQLiteVersion() string {
	version, _, _ := sqlite3.Version()
	return version
}
