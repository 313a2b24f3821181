package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// changesData reports why statements are more than reading; "" when they only read.
func changesData(q string) string {
	for l := range strings.SplitSeq(q, "\n") {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, ".") || strings.HasPrefix(l, `\`) {
			if why := clientCommand(l); why != "" {
				return why
			}
		}
	}
	if t := strings.TrimSpace(q); strings.HasPrefix(t, ".") || strings.HasPrefix(t, `\`) {
		return ""
	}
	code := sqlCode(q)
	if strings.Contains(code, `\`) {
		return "the database client runs a command"
	}
	for stmt := range strings.SplitSeq(code, ";") {
		if why := judgeStatement(stmt); why != "" {
			return why
		}
	}
	return ""
}

// clientCommand is a line that the client itself understands: .tables, \dt.
func clientCommand(l string) string {
	words := strings.Fields(strings.ToLower(strings.TrimSuffix(l, ";")))
	if len(words) == 0 || strings.Contains(l, "|") {
		return "the database client runs a command"
	}
	switch {
	case isOneOf(`.tables .schema .headers .header .mode .help .indexes .indices .databases .dump .show .fullschema .dbinfo .width .eqp .quit .exit .timer .nullvalue .separator .stats .lint .expert
		\d \dt \d+ \dt+ \l \l+ \dn \dn+ \du \du+ \df \df+ \di \di+ \dv \dv+ \dm \ds \dp \z \dx \dg \x \conninfo \timing \q \pset \a \t \sf \sv \encoding \? \h `, words[0]):
		if rest := l[len(words[0]):]; strings.Contains(rest, `\`) && strings.HasPrefix(l, `\`) {
			return "the database client runs a command"
		}
		return ""
	default:
		return "the database client runs " + words[0]
	}
}

// sqlCode is SQL in capitals without what stands in its strings and comments.
func sqlCode(q string) string {
	var b strings.Builder
	for i := 0; i < len(q); i++ {
		switch c := q[i]; {
		case c == '\'':
			end := strings.IndexByte(q[i+1:], c)
			if end < 0 {
				end = len(q) - i - 1
			}
			i += end + 1
			b.WriteString("''")
		case c == '-' && strings.HasPrefix(q[i:], "--"):
			end := strings.IndexByte(q[i:], '\n')
			if end < 0 {
				return strings.ToUpper(b.String())
			}
			i += end
			b.WriteByte(' ')
		case c == '/' && strings.HasPrefix(q[i:], "/*") && !strings.HasPrefix(q[i:], "/*!"): // MySQL runs what is in /*! */
			end := strings.Index(q[i+2:], "*/")
			if end < 0 {
				end = len(q) - i - 4
			}
			i += max(end, 0) + 3
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToUpper(b.String())
}

func judgeStatement(stmt string) string {
	words := strings.FieldsFunc(stmt, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	if len(words) == 0 {
		return ""
	}
	if !isOneOf(wordList("sql.reads"), words[0]) {
		return "the statement changes data or settings (" + strings.ToLower(words[0]) + ")"
	}
	if words[0] == "PRAGMA" && (strings.Contains(stmt, "=") || strings.Contains(stmt, "WRITABLE")) {
		return "the statement changes settings of the database"
	}
	for i, word := range words {
		if isOneOf(sqlVerbs, word) && !asName(stmt, words, i) || isOneOf(sqlActs, word) || slices.ContainsFunc(sqlFamilies, func(p string) bool { return strings.HasPrefix(word, p) }) {
			return "the statement changes data or files (" + strings.ToLower(word) + ")"
		}
	}
	return ""
}

// Words of statements that change something, functions that do, and beginnings of their names.
const (
	sqlVerbs = "REPLACE EDIT SET DO CALL LOAD KILL RENAME COPY MERGE SYSTEM EXECUTE EXEC UPDATE DELETE INSERT CREATE ALTER DROP TRUNCATE GRANT REVOKE"
	sqlActs  = "INTO ATTACH DETACH VACUUM REINDEX LOAD_EXTENSION LOAD_FILE WRITEFILE READFILE XP_CMDSHELL SHUTDOWN SETVAL NEXTVAL FTS3_TOKENIZER SYS_EXEC SYS_EVAL"
)

var sqlFamilies = []string{
	"PG_TERMINATE", "PG_CANCEL", "PG_RELOAD", "PG_READ", "PG_LS_", "PG_ROTATE", "PG_SWITCH", "PG_DROP", "PG_CREATE", "PG_PROMOTE", "PG_FILE", "PG_STAT_RESET", "PG_ADVISORY", "LO_", "DBLINK",
	"QUERY_TO_XML", "UTL_", "DBMS_",
}

// asName reports whether a word is a function, a lock or the name of a column, and not what the
// statement does.
func asName(stmt string, words []string, i int) bool {
	word := words[i]
	called := strings.HasPrefix(strings.TrimLeft(textAfter(stmt, word), " "), "(")
	switch {
	case word == "REPLACE", isOneOf("EDIT INSERT LOAD", word) && !called: // replace(x, 'a', 'b'); INTO follows the statement
		return true
	case i == 0:
		return false
	case word == "UPDATE" && words[i-1] == "FOR", words[0] == "SHOW":
		return true
	default:
		return words[i-1] == "AS" && strings.Count(stmt, word) == strings.Count(stmt, "AS "+word)
	}
}

// textAfter is what follows the first occurrence of word.
func textAfter(s, word string) string {
	_, rest, _ := strings.Cut(s, word)
	return rest
}

var mongoCall = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([A-Za-z_$][\w$]*)\s*\(`) })

// judgeMongo judges a shell of JavaScript: its calls are those that read, or it asks.
func (w *walker) judgeMongo(c cmd, o options) {
	scripts := o.valuesOf("eval")
	if len(scripts) == 0 && o.hasOption("version", "help") {
		return
	}
	if len(scripts) == 0 && w.in.any && w.in.plain {
		scripts = []field{{text: w.in.text}}
	}
	if len(scripts) == 0 || len(o.valuesOf("f", "file")) > 0 ||
		strings.HasSuffix(firstOperand(c), ".js") {
		w.addEffect(System, LevelSensitive, c.name, c.name+" runs statements that nobody sees")
		return
	}
	for _, s := range scripts {
		why := ""
		for _, m := range mongoCall().FindAllStringSubmatch(s.text, -1) {
			if !isOneOf(wordList("mongo.reads"), m[1]) {
				why = "the statement calls " + m[1]
			}
		}
		for _, bad := range []string{"$out", "$merge", "[\"", "['", "`", "load", "process", "require", "eval"} {
			if strings.Contains(s.text, bad) && (bad[0] != '[' || strings.Contains(s.text, bad) && strings.Contains(s.text, "](")) {
				why = "the statement runs or writes something (" + bad + ")"
			}
		}
		if s.dyn && why == "" {
			why = "what it asks the database is known only when it runs"
		}
		if why != "" {
			w.addEffect(System, LevelSensitive, strings.ReplaceAll(s.text, unknown, "…"), why)
		}
	}
	w.addEffect(NetIn, LevelStandard, c.name, "reads a database")
}
