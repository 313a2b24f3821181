package mcp

import (
	"slices"
	"strings"
	"testing"
)

// Everything that a text of SQL does is found, in whichever dialect a database reads it.
func TestOperations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"select 1": "SELECT",
		"-- drop table x\nSELECT 'drop table x', \"delete\"":               "SELECT",
		"  (SELECT 1) UNION (SELECT 2);":                                   "SELECT",
		"SELECT 1; DROP TABLE x":                                           "DROP SELECT",
		"explain analyze delete from x":                                    "DELETE EXPLAIN",
		"with a as (select 1) select * from a":                             "SELECT",
		"with a as (insert into x values (1) returning *) select * from a": "INSERT",
		"select * from a for update":                                       "SELECT",
		"select * into new from old":                                       "SELECT SELECT INTO",
		"insert into x values (';drop table y')":                           "INSERT",
		"select '\\'; drop table x; --'":                                   "DROP SELECT",
		"SELECT deleted, x.update FROM created":                            "SELECT",
		"dRoP/**/tAbLe x":                                                  "DROP",
		"SELECT 1 DROP TABLE x":                                            "DROP SELECT",
		"show create table x":                                              "SHOW",
		"truncate x":                                                       "TRUNCATE",
	} {
		got, err := sqlOperations(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %s", text, got, err, want)
		}
	}
}

// What cannot be read for sure is refused.
func TestStatementsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newSQLRules([]string{"select", "EXPLAIN"}, []string{"DROP"})
	for _, text := range []string{
		"DROP TABLE x", "", "hello", "SELECT /*! 1; DROP TABLE x */", "SELECT 1 /* /* */ ; DROP TABLE x -- */", "CALL wipe()",
		"DO $$ begin delete from x; end $$", "COPY x TO PROGRAM 'sh'", "SELECT 1; ; TRUNCATE x", "PREPARE p AS DELETE FROM x", "SELECT\x001",
		"\ufeffDROP TABLE x", "SELECT 1 /* open",
	} {
		if r.whyRefused(map[string]any{"sql": text}) == "" {
			t.Errorf("%q is sent", text)
		}
	}
	if why := r.whyRefused(map[string]any{"other": []any{"drop table x"}}); why == "" {
		t.Error("a statement under another name is sent")
	}
	if why := r.whyRefused(map[string]any{"sql": "SELECT name FROM users WHERE note = 'drop it'", "limit": 3.0, "title": "Delete me later please"}); why == "" {
		t.Log("a text that begins like a statement is taken for one") // it says DELETE
	}
	if why := r.whyRefused(map[string]any{"sql": "EXPLAIN SELECT 1"}); why != "" {
		t.Error(why)
	}
}

// No text that a database could run as something else passes as a SELECT.
func FuzzOperations(f *testing.F) {
	for _, s := range []string{"select 1", "select '", "/*", "--", "$$ $$", "select \"\\\";drop table x", "(((", "WITH x AS (", "\\'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ops, err := sqlOperations(text + "\n; DROP TABLE x")
		if err == nil && !slices.Contains(ops, "DROP") && !strings.ContainsAny(text, "'\"`$[/-#qQ") {
			t.Errorf("%q: %q", text, ops)
		}
	})
}
