package nearest

import (
	"testing"

	"pgregory.net/rapid"
)

func TestName(t *testing.T) {
	t.Parallel()
	names := []string{"read_file", "write_file", "search_files", "terminal", "todo"}
	for got, want := range map[string]string{
		"readfile": "read_file", "raed_file": "read_file", "search": "search_files", "Terminal": "terminal",
		"tdoo": "todo", "zebra": "", "": "",
	} {
		if name, ok := Name(got, names); name != want || ok != (want != "") {
			t.Errorf("Name(%q) = %q, %v; want %q", got, name, ok, want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := []rune(rapid.StringN(0, 12, -1).Draw(t, "a"))
		b := []rune(rapid.StringN(0, 12, -1).Draw(t, "b"))
		d := Distance(a, b)
		if d != Distance(b, a) {
			t.Fatal("not symmetric")
		}
		if (d == 0) != (string(a) == string(b)) {
			t.Fatalf("distance %d of %q and %q", d, string(a), string(b))
		}
		if d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
			t.Fatalf("distance %d out of bounds", d)
		}
	})
}
