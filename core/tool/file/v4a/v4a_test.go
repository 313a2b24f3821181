package v4a

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestApply(t *testing.T) {
	t.Parallel()
	const file = "package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\treturn\n}\n"
	for name, c := range map[string]struct{ body, content, want, err string }{
		"replace":        {" func one() {\n-\treturn\n+\tprintln()\n }", file, strings.Replace(file, "return", "println()", 1), ""},
		"anchor chooses": {"@@ func two() {\n-\treturn\n+\tprintln(2)", file, "package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\tprintln(2)\n}\n", ""},
		"ambiguous":      {"-\treturn\n+\tx", file, "", "lines are there 2 times (at lines 4, 8)"},
		"hint twice": {
			"@@ func two() {\n-\treturn\n+\t2\n@@ func two() {\n-}\n+} // two", file,
			"package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\t2\n} // two\n", "",
		},
		"hint twice, the same lines": {
			"@@ a\n-x\n+1\n@@ a\n-x\n+2", "a\nx\ny\nx\n", "a\n1\ny\n2\n", "",
		},
		"hint is also the context":     {"@@ func two() {\n func two() {\n-\treturn\n+\t2", file, "package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\t2\n}\n", ""},
		"hint is not there, one place": {"@@ func nine() {\n func two() {\n-\treturn\n+\t2", file, "package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\t2\n}\n", ""},
		"no hint, one hunk each":       {"-\treturn\n+\t1\n@@\n-\treturn\n+\t2", file, "package a\n\nfunc one() {\n\t1\n}\n\nfunc two() {\n\t2\n}\n", ""},
		"no hint, the same hunk each":  {"-\treturn\n+\tx\n@@\n-\treturn\n+\tx", file, strings.ReplaceAll(file, "return", "x"), ""},
		"hint in two places":           {"@@ }\n-x\n+y", "}\nx\n}\nx\n", "", "line after @@ is there 2 times"},
		"hint in two places, one fits": {"@@ }\n-x\n+y", "}\n}\nx\n", "}\n}\ny\n", ""},
		"the same hunk in two places":  {"@@ }\n-x\n+y\n@@ }\n-x\n+y", "}\nx\n}\nx\n", "}\ny\n}\ny\n", ""},
		"out of order": {
			"@@ func two() {\n-\treturn\n+\t2\n@@ func one() {\n-\treturn\n+\t1", file,
			"package a\n\nfunc one() {\n\t1\n}\n\nfunc two() {\n\t2\n}\n", "",
		},
		"out of order, no hints": {"-c\n+C\n@@\n-a\n+A", "a\nb\nc\n", "A\nb\nC\n", ""},
		"twice the same line":    {"-a\n+A\n@@\n-a\n+B", "a\nb\n", "", "hunk 1 changes these lines already"},
		"add at a repeated hint": {"@@ }\n+x", "a {\n}\nb {\n}\n", "", "line after @@ is there 2 times"},
		"add at a missing hint":  {"@@ zzz\n+x", "a\n", "", "was not found"},
		"add twice at one hint":  {"@@ a\n+1\n@@ a\n+2", "a\nb\n", "a\n1\n2\nb\n", ""},
		"add above":              {"@@ c\n+3\n@@ a\n+1", "a\nb\nc\n", "a\n1\nb\nc\n3\n", ""},
		"add without a place":    {" a\n-b\n+c\n@@\n+d", "a\nb\n", "", "no place"},
		"two hunks":              {"@@ func one() {\n-\treturn\n+\t1\n@@ func two() {\n-\treturn\n+\t2", file, "package a\n\nfunc one() {\n\t1\n}\n\nfunc two() {\n\t2\n}\n", ""},
		"insert at anchor":       {"@@ package a\n+\n+import \"fmt\"", file, "package a\n\nimport \"fmt\"" + file[len("package a"):], ""},
		"append":                 {"+// end\n*** End of File", file, file + "// end\n", ""},
		"append without eol":     {"+b\n*** End of File", "a", "a\nb", ""},
		"no place":               {"+b", "a\n", "", "no place"},
		"inside a line":          {"-foo\n+bar", "xfoo\n", "", "inside a longer line"},
		"empty file":             {"+b", "", "b\n", ""},
		"not found":              {"-nothing like it at all\n+b", file, "", "lines were not found"},
		"missing anchor":         {"@@ func nine()\n-\treturn\n+x", file, "", `"func nine()" was not found`},
		"eof picks the last":     {"-x\n+y\n*** End of File", "x\na\nx\n", "x\na\ny\n", ""},
		"fuzzy":                  {" func one() {\n-    return\n+    stop()", file, strings.Replace(file, "return", "stop()", 1), ""},
		"no final newline":       {" a\n-b\n+c", "a\nb", "a\nc", ""},
		"unified header":         {"@@ -7,3 +7,3 @@ func two() {\n-\treturn\n+\t2", file, "package a\n\nfunc one() {\n\treturn\n}\n\nfunc two() {\n\t2\n}\n", ""},
	} {
		ops, err := Parse(begin + "\n" + update + " f\n" + c.body + "\n" + end + "\n")
		if err != nil {
			t.Errorf("%s: parse: %v", name, err)
			continue
		}
		got, _, err := Apply(c.content, ops[0].Hunks)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "_string") {
				t.Errorf("%s: %v speaks of another tool's arguments", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case got != c.want:
			t.Errorf("%s: got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	ops, err := Parse("```\n*** Begin Patch\n*** Add File: a\n+1\n+\n+2\n\n*** Delete File: b\n*** Move File: c -> d\n*** Update File: e\n*** Move to: f\n@@\n x\n\n-y\n+z\n*** End Patch\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(ops) != 4 || ops[0].Content != "1\n\n2\n" || ops[1].Kind != Delete || ops[2].To != "d" || ops[3].To != "f" {
		t.Fatalf("%+v", ops)
	}
	if got := Paths(ops); strings.Join(got, "") != "abcdef" {
		t.Errorf("paths %v", got)
	}
	if l := ops[3].Hunks[0].Lines; len(l) != 4 || l[1] != (Line{' ', ""}) {
		t.Errorf("lines %+v", l)
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{
		"":                                    1,
		"*** Begin Patch\n*** Update File:\n": 2,
		"*** Begin Patch\nhello\n":            2,
		"*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch":            3,
		"*** Begin Patch\n*** Move File: a\n*** End Patch":                    2,
		"*** Begin Patch\n*** Update File: a\n*** End Patch":                  2,
		"*** Begin Patch\n*** Update File: a\n same\n*** End Patch":           3,
		"*** Begin Patch\n*** Update File: a\n-x\n+y\nzzz\n*** End Patch":     5,
		"*** Begin Patch\n*** Update File: a\n*** Move to:\n*** End Patch":    3,
		"*** Begin Patch\n*** Frobnicate File: a\n-x\n+y\nz\n*** End Patch\n": 2,
	} {
		_, err := Parse(text)
		var syn *SyntaxError
		if !errors.As(err, &syn) || syn.Line != line {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
}

// A hunk made from a file and a changed copy must give the changed copy.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z\t ]{0,8}[a-z0-9]{6,9}`), 3, 12, rapid.ID[string]).Draw(t, "before")
		at := rapid.IntRange(0, len(before)-1).Draw(t, "at")
		added := rapid.SliceOfN(rapid.StringMatching(`[A-Z ]{0,9}`), 0, 3).Draw(t, "added")
		after := append(append(append([]string{}, before[:at]...), added...), before[at+1:]...)
		var body strings.Builder
		for i, s := range before {
			if i != at {
				body.WriteString(" " + s + "\n")
				continue
			}
			body.WriteString("-" + s + "\n")
			for _, a := range added {
				body.WriteString("+" + a + "\n")
			}
		}
		ops, err := Parse("*** Begin Patch\n*** Update File: f\n" + body.String() + "*** End Patch")
		if err != nil {
			t.Fatal(err)
		}
		got, notes, err := Apply(joinLines(before), ops[0].Hunks)
		if err != nil || got != joinLines(after) || notes != nil {
			t.Fatalf("%v %v\ngot  %q\nwant %q", err, notes, got, joinLines(after))
		}
	})
}

func FuzzParseApply(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: f\n@@ a\n-b\n+c\n*** End of File\n*** End Patch", "a\nb\n")
	f.Add("*** Add File: x\n+1\n*** Move File: a -> b", "")
	f.Add("*** Update File: f\n-x\n", "x\r\ny")
	f.Fuzz(func(t *testing.T, patch, content string) {
		ops, err := Parse(patch)
		if err != nil {
			return
		}
		for _, op := range ops {
			if op.Path == "" || op.Line < 1 {
				t.Fatalf("op without place: %+v", op)
			}
			if op.Kind == Update {
				_, _, _ = Apply(content, op.Hunks)
			}
		}
	})
}
