package store

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"hermes/core/chat"
)

// What was spent is summed up in each way, adds up in all of them, and outlives its session.
func TestUsageAddsUp(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	create(t, s, "a")
	create(t, s, "b")
	call := func(uid string, prompt int64, model, purpose string, u chat.Usage) {
		must(t, s.CountUsage(ctx, uid, Spent{Prompt: prompt, Provider: "p", Model: model, Purpose: purpose, Usage: u}))
	}
	call("a", 1, "m", "", chat.Usage{Input: 100, Cached: 80, Written: 15, Output: 10, Reasoning: 4, Cost: 7, CostKnown: true})
	call("a", 1, "small", "compression", chat.Usage{Input: 50, Output: 5})
	call("a", 2, "m", "", chat.Usage{Input: 10, Output: 1, Cost: 1, CostKnown: true})
	call("b", 3, "m", "", chat.Usage{Input: 1, Output: 1, Cost: 2, CostKnown: true})
	sums := map[string]int{}
	for _, by := range []UsageBy{UsageTotal, UsageDay, UsageModel, UsageSession, UsageTurn, UsagePurpose} {
		rows, err := s.UsageBy(ctx, by, UsageFilter{})
		must(t, err)
		all := UsageRow{}
		for _, r := range rows {
			all.Calls, all.Unpriced, all.Usage = all.Calls+r.Calls, all.Unpriced+r.Unpriced, all.Usage.Add(r.Usage)
			sums[string(by)+" "+r.Key] = r.Usage.Input
		}
		if all.Calls != 4 || all.Unpriced != 1 || all.Usage.Input != 161 || all.Usage.Cost != 10 || all.Usage.CostKnown ||
			all.Usage.Written != 15 || all.Usage.Reasoning != 4 {
			t.Errorf("by %s: %+v", by, all)
		}
	}
	for key, want := range map[string]int{"model p/m": 111, "model p/small": 50, "session a": 160, "turn 1": 150, "purpose compression": 50} {
		if sums[key] != want {
			t.Errorf("%s: %d, want %d", key, sums[key], want)
		}
	}
	must(t, s.DeleteSession(ctx, "a"))
	rows, err := s.UsageBy(ctx, UsageSession, UsageFilter{})
	must(t, err)
	if len(rows) != 2 || rows[0].Usage.Input+rows[1].Usage.Input != 161 {
		t.Errorf("after the deletion: %+v", rows)
	}
	if rows, err = s.UsageBy(ctx, UsageTotal, UsageFilter{Since: time.Now().Add(time.Hour)}); err != nil || len(rows) != 0 {
		t.Errorf("in future: %+v, %v", rows, err)
	}
	if _, err := s.UsageBy(ctx, "colour", UsageFilter{}); err == nil {
		t.Error("an unknown grouping is taken")
	}
}

// A database of version 2 has what its answers used in the new table.
func TestMigrationToUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	execFile(t, path, schemaV1+indexSQL+schemaV2+`INSERT INTO meta VALUES('schema_version','2'),('fts_version','`+indexVersion+`'),('created_ms','7');
 INSERT INTO sessions(id,uid,started_ms,last_ms,last_seq,provider,model) VALUES(1,'u',1,1,3,'p','m');
 INSERT INTO messages(id,session_id,seq,ts_ms,role,status,content,extra) VALUES(5,1,1,1000,'user','final','what is it?',''),
  (6,1,2,1001,'assistant','final','this','{"usage":{"input":10,"output":2,"cost_micro":3,"cost_known":true}}'),
  (7,1,3,1002,'assistant','final','that','{"usage":broken');`)
	s := openAt(t, path, Options{})
	rows, err := s.UsageBy(context.Background(), UsageTurn, UsageFilter{Session: "u"})
	must(t, err)
	if len(rows) != 1 || rows[0].Key != "5" || rows[0].Name != "what is it?" || rows[0].Usage != (chat.Usage{Input: 10, Output: 2, Cost: 3, CostKnown: true}) {
		t.Errorf("%+v", rows)
	}
}

// Rows of before a migration have a column less. A database that is made anew keeps them.
func TestRescueOfUsageOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	execFile(t, path, schemaV1+indexSQL+schemaV2+schemaV3+`INSERT INTO meta VALUES('schema_version','3'),('fts_version','`+indexVersion+`'),('created_ms','7');
 INSERT INTO sessions(id,uid,started_ms,last_ms,provider,model) VALUES(1,'u',1,1,'p','m');
 INSERT INTO spent(session_id,at_ms,provider,model,in_tok,cost_micro,cost_known) VALUES(1,5,'p','old',100,3,1);`)
	s := openAt(t, path, Options{})
	must(t, s.CountUsage(context.Background(), "u", Spent{Provider: "p", Model: "new", Usage: chat.Usage{Input: 10, Written: 9, Cost: 1, CostKnown: true}}))
	must(t, s.Close())
	execFile(t, path, "PRAGMA writable_schema=ON; DELETE FROM sqlite_schema") // nothing says any more where which table begins
	s = openAt(t, path, Options{})
	rows, err := s.UsageBy(context.Background(), UsageModel, UsageFilter{Session: "u"})
	must(t, err)
	if len(rows) != 2 || rows[0].Key != "p/new" || rows[0].Usage.Written != 9 || rows[1].Usage != (chat.Usage{Input: 100, Cost: 3, CostKnown: true}) {
		t.Errorf("%+v", rows)
	}
}
