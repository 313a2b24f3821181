package checkpoint

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hermes/core/atomicfile"
)

// FuzzRecord puts any bytes in the place of a record: listing, planning and sweeping live with it,
// and nothing outside is touched.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"aaaa","kind":"turn","session":"s","began":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:00Z","files":[{"path":"/x","before":{"kind":"file","sha256":"ab"},"after":{"kind":"none"}}]}`))
	f.Add([]byte(`{"version":1,"id":"aaaa","session":"s","files":[{"path":{"base64":"/w=="},"before":{"kind":"dir"}}],"trees":[{"root":"/nowhere","manifest":"00"}],"of":["aaaa"]}`))
	f.Add([]byte(`{"version":9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Open(Options{Dir: filepath.Join(t.TempDir(), "store")})
		defer s.Close()
		if err := atomicfile.Write(s.recordPathOf("aaaa"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := s.List("")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			_, _ = r.Title(), r.Standing()
			s.Diff(r)
			_, _ = s.Plan(context.Background(), Selection{Records: []string{r.ID}})
		}
		if _, err := s.Sweep(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.indexPath("/x"), data, 0o600); err == nil {
			s.loadIndex("/x")
		}
	})
}
