package mcp

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hermes/core/clip"

	"github.com/DataDog/go-sqllexer"
	"go.yaml.in/yaml/v3"
)

//go:embed arguments.yaml
var argumentWords []byte

// words say what arguments mean by the names that servers give them, and which words begin what
// kind of SQL.
type words struct {
	Paths      []string `yaml:"paths"`
	Texts      []string `yaml:"texts"`
	Statements []string `yaml:"statements"`
	Operations []string `yaml:"operations"`
	Changing   []string `yaml:"changing"`
}

var known = sync.OnceValue(func() words {
	var w words
	if err := yaml.Unmarshal(argumentWords, &w); err != nil {
		panic("core/mcp: arguments.yaml: " + err.Error()) // it is part of the program, and tested
	}
	return w
})

// sqlRules bound the operations of SQL statements.
type sqlRules struct{ allowed, denied []string }

func newSQLRules(allowed, denied []string) sqlRules {
	upper := func(list []string) (out []string) {
		for _, s := range list {
			out = append(out, strings.ToUpper(strings.Join(strings.Fields(s), " ")))
		}
		return out
	}
	return sqlRules{upper(allowed), upper(denied)}
}

// whyRefused says why a statement in arguments is not sent.
func (r sqlRules) whyRefused(args any) string {
	if len(r.allowed) == 0 && len(r.denied) == 0 {
		return ""
	}
	return eachText(args, "", func(key, text string) string {
		if !slices.Contains(known().Statements, strings.ToLower(key)) && !looksSQL(text) {
			return ""
		}
		ops, err := sqlOperations(text)
		if err != nil {
			return err.Error()
		}
		for _, op := range ops {
			switch {
			case slices.Contains(r.denied, op):
				return op + " is among denied_operations"
			case len(r.allowed) > 0 && !slices.Contains(r.allowed, op):
				return fmt.Sprintf("%s is not among allowed_operations (%s)", op, strings.Join(r.allowed, ", "))
			}
		}
		return ""
	})
}

// looksSQL reports whether a text begins like a statement.
func looksSQL(text string) bool {
	first, rest := "", false
	for _, t := range sqlTokens(text, "") {
		if t.Value == "(" {
			continue
		}
		if first != "" {
			rest = true
			break
		}
		first = strings.ToUpper(t.Value)
	}
	return rest && slices.Contains(known().Operations, first)
}

// dialects are ways to read a text that differ in where its strings and comments end. A statement
// has what it has in any of them: which one the server speaks is not known.
var dialects = []sqllexer.DBMSType{"", sqllexer.DBMSPostgres, sqllexer.DBMSMySQL, sqllexer.DBMSSQLServer}

// sqlOperations lists what a text of SQL does: the first word of each statement, and every word in
// it that changes something, wherever it stands. What cannot be read for sure is an error.
func sqlOperations(text string) ([]string, error) {
	var out []string
	for _, dialect := range dialects {
		for _, statement := range cutStatements(sqlTokens(text, dialect)) {
			ops, err := statementOps(statement)
			if err != nil {
				return nil, err
			}
			out = append(out, ops...)
		}
	}
	if err := whyAmbiguous(text); err != nil {
		return nil, err
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return nil, fmt.Errorf("there is no SQL statement in it")
	}
	return out, nil
}

// whyAmbiguous is what dialects read in ways that a lexer cannot settle: comments that MySQL runs,
// comments in comments, a comment that only some see.
func whyAmbiguous(text string) error {
	switch {
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("the statement holds a NUL")
	case strings.Contains(text, "/*!"), strings.Contains(text, "/*M!"):
		return fmt.Errorf("the statement has a comment that some databases run (/*!)")
	}
	if _, inside, ok := strings.Cut(text, "/*"); ok {
		comment, _, closed := strings.Cut(inside, "*/")
		if !closed || strings.Contains(comment, "/*") {
			return fmt.Errorf("the statement has a comment that databases end in different places")
		}
	}
	return nil
}

// sqlTokens are those of a text, without space and comments.
func sqlTokens(text string, dialect sqllexer.DBMSType) []sqllexer.Token {
	l := sqllexer.New(text)
	if dialect != "" {
		l = sqllexer.New(text, sqllexer.WithDBMS(dialect))
	}
	var out []sqllexer.Token
	for range len(text) + 1 {
		t := l.Scan()
		switch t.Type {
		case sqllexer.EOF:
			return out
		case sqllexer.SPACE, sqllexer.COMMENT, sqllexer.MULTILINE_COMMENT:
		default:
			out = append(out, *t)
		}
	}
	return out
}

// cutStatements cuts tokens at semicolons.
func cutStatements(list []sqllexer.Token) [][]sqllexer.Token {
	var out [][]sqllexer.Token
	var one []sqllexer.Token
	for _, t := range list {
		if t.Value != ";" {
			one = append(one, t)
			continue
		}
		out, one = append(out, one), nil
	}
	out = append(out, one)
	return slices.DeleteFunc(out, func(s []sqllexer.Token) bool { return len(s) == 0 })
}

// statementOps lists the operations of one statement.
func statementOps(list []sqllexer.Token) ([]string, error) {
	first := 0
	for first < len(list) && list[first].Value == "(" {
		first++
	}
	if first == len(list) {
		return nil, fmt.Errorf("a statement is only brackets")
	}
	verb := strings.ToUpper(list[first].Value)
	if !slices.Contains(known().Operations, verb) {
		return nil, fmt.Errorf("%q is no known SQL operation", clip.Runes(list[first].Value, 40, "…"))
	}
	var out []string
	if verb != "WITH" {
		out = append(out, verb)
	}
	shows := verb == "SHOW" || verb == "DESCRIBE" || verb == "DESC"
	for i := first; i < len(list) && !shows; i++ {
		if op := changingOperation(list, i); op != "" {
			out = append(out, op)
		}
	}
	if verb == "WITH" && len(out) == 0 {
		out = append(out, "SELECT")
	}
	return out, nil
}

// changingOperation is the operation that a token stands for, "" when it changes nothing.
func changingOperation(list []sqllexer.Token, i int) string {
	t := list[i]
	if t.Type == sqllexer.STRING || t.Type == sqllexer.QUOTED_IDENT || i > 0 && list[i-1].Value == "." {
		return ""
	}
	op := strings.ToUpper(t.Value)
	if t.Type == sqllexer.DOLLAR_QUOTED_FUNCTION {
		return "DO"
	}
	if !slices.Contains(known().Changing, op) {
		return ""
	}
	before := ""
	if i > 0 {
		before = strings.ToUpper(list[i-1].Value)
	}
	switch {
	case op == "UPDATE" && locksRows(list[:i]): // SELECT ... FOR UPDATE
		return ""
	case op == "INTO" && (before == "INSERT" || before == "MERGE" || before == "REPLACE" || before == "IGNORE"):
		return ""
	case op == "INTO":
		return "SELECT INTO"
	}
	return op
}

// locksRows reports whether tokens end like a clause that locks rows: FOR, FOR NO KEY.
func locksRows(before []sqllexer.Token) bool {
	n := len(before)
	word := func(back int) string {
		if n < back {
			return ""
		}
		return strings.ToUpper(before[n-back].Value)
	}
	return word(1) == "FOR" || word(1) == "KEY" && word(2) == "NO" && word(3) == "FOR"
}
