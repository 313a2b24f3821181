package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// declared finds the types of events in the source of this package: what embeds fact or delta.
func declared(t testing.TB) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && embedsEvent(s) && s.Name.Name != "Unknown" {
				out = append(out, s.Name.Name)
			}
			return true
		})
	}
	return out
}

func embedsEvent(s *ast.TypeSpec) bool {
	body, ok := s.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(body.Fields.List, func(f *ast.Field) bool {
		id, ok := f.Type.(*ast.Ident)
		return ok && len(f.Names) == 0 && (id.Name == "fact" || id.Name == "delta")
	})
}

// fill gives every field of v that JSON holds a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 1, 2, 3, 4, 5, *n, time.UTC)
		return
	case *json.RawMessage:
		*x = json.RawMessage(fmt.Sprintf(`{"n":%d}`, *n))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("<%d>\x1b世 \"", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) << 33)
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	default:
		panic("fill cannot make a " + v.Type().String())
	}
}

// filled is one event of each type that can be read, with a value in every field.
func filled(t testing.TB) []Event {
	var out []Event
	for _, name := range slices.Sorted(maps.Keys(decoders())) {
		empty, err := decoders()[name](json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		v, n := reflect.New(reflect.TypeOf(empty)).Elem(), 0
		fill(v, &n)
		out = append(out, v.Interface().(Event))
	}
	return out
}

func TestEveryEventIsReadAsItWasWritten(t *testing.T) {
	all := filled(t)
	var names []string
	var lines bytes.Buffer
	for i, e := range all {
		names = append(names, Kind(e))
		h := Header{Seq: uint64(i + 1), At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Session: "s", Turn: "t", Parent: "p"}
		if err := json.NewEncoder(&lines).Encode(Envelope{Header: h, Event: e}); err != nil {
			t.Fatal(err)
		}
	}
	want := declared(t)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Fatalf("decoders in json.go know %v,\nthe package declares %v", names, want)
	}
	i := 0
	for got, err := range ReadLines(&lines) {
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Event, all[i]) || got.Seq != uint64(i+1) || got.Session != "s" || got.Turn != "t" || got.Parent != "p" {
			t.Errorf("written %+v\nread %+v", all[i], got)
		}
		i++
	}
	if i != len(all) {
		t.Fatalf("%d of %d events were read", i, len(all))
	}
}

func TestWhatIsNotKnownIsKept(t *testing.T) {
	const line = `{"seq":7,"at":"2030-01-02T03:04:05Z","session":"s","type":"FromTheFuture","data":{"x":[1,{"y":null}]}}`
	for e, err := range ReadLines(strings.NewReader("\n" + line + "\n\n")) {
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := e.Event.(Unknown); !ok || u.Type != "FromTheFuture" || e.Seq != 7 {
			t.Fatalf("read %+v", e)
		}
		if got, err := json.Marshal(e); err != nil || string(got) != line {
			t.Fatalf("written again: %s, %v", got, err)
		}
	}
}

func TestALineThatIsNoEventIsNamed(t *testing.T) {
	for _, bad := range []string{"{", `{}`, `[]`, `{"type":"TurnEnded","data":{"steps":"many"}}`, `{"type":"TurnEnded","data":3}`} {
		var events int
		var last error
		for _, err := range ReadLines(strings.NewReader(`{"type":"SessionDeleted","data":{}}` + "\n" + bad + "\n{}")) {
			if last = err; err == nil {
				events++
			}
		}
		if events != 1 || last == nil || !strings.HasPrefix(last.Error(), "line 2: ") {
			t.Errorf("%s: %d events, then %v", bad, events, last)
		}
	}
}

func FuzzReadLines(f *testing.F) {
	for _, e := range filled(f) {
		line, err := json.Marshal(Envelope{Event: e})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"type":"X","data":null}`))
	f.Add([]byte(`{"type":"X"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		for e, err := range ReadLines(bytes.NewReader(in)) {
			if err != nil {
				return
			}
			once, err := json.Marshal(e)
			if err != nil {
				t.Fatalf("read and not writable: %v", err)
			}
			var again Envelope
			if err := json.Unmarshal(once, &again); err != nil {
				t.Fatalf("written and not readable: %v\n%s", err, once)
			}
			if twice, err := json.Marshal(again); err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("written twice, and different: %v\n%s\n%s", err, once, twice)
			}
		}
	})
}
