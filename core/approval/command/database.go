package command

import "strings"

func databases() map[string]handler {
	return map[string]handler{
		"psql mysql mariadb sqlite3 sqlite duckdb clickhouse clickhouse-client cqlsh sqlplus usql pgcli mycli litecli bq snowsql sqlcmd isql trino": sqlClient,
		"mongo mongosh mongod": func(w *walker, c cmd) {
			w.mongo(c, parseOptions(c.args, wordList("mongo.options"), false))
		},
		"redis-cli valkey-cli": func(w *walker, c cmd) { redis(w, c) },
	}
}

func sqlClient(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("sql.options"), false)
	queries := o.values("c", "command", "e", "execute", "cmd", "q", "query")
	if c.name == "mysql" || c.name == "mariadb" {
		o = parseOptions(c.args, wordList("mysql.options"), false)
		queries = append(o.values("e", "execute"), o.values("init-command")...)
		if o.has("pager") {
			w.add(Exec, LevelAlways, "pager", c.name+" runs a pager of the command's choice")
		}
		w.outputs(o.values("tee"))
	}
	if strings.HasPrefix(c.name, "sqlite") { // its options are words behind one dash
		o = parseOptions(c.args, wordList("sqlite.options"), false)
		queries = o.values("cmd")
		if o.has("A") && !strings.Contains(joinedText(c.args), " -Alist") {
			w.add(System, LevelSensitive, c.name, c.name+" packs or unpacks files")
		}
	}
	if strings.HasPrefix(c.name, "sqlite") || c.name == "duckdb" {
		queries = append(append([]field(nil), queries...), o.after(1)...)
	}
	if o.has("version", "V", "help") || c.name == "psql" && o.has("l", "list") {
		return
	}
	for _, v := range o.values("o", "output", "L", "log-file") {
		if text, ok := strings.CutPrefix(v.text, "|"); ok {
			w.walkInnerText(part(v, text))
			w.add(Exec, LevelAlways, v.text, c.name+" runs "+text)
			continue
		}
		w.outputs([]field{v})
	}
	for _, v := range append(o.values("f", "file"), o.values("init")...) {
		if c.name != "mysql" && c.name != "mariadb" {
			w.add(System, LevelSensitive, v.text, "runs the statements of "+v.text)
		}
	}
	w.database(c, queries)
}

// database asks about statements that change something, or that nobody sees.
func (w *walker) database(c cmd, queries []field) {
	if len(queries) == 0 {
		switch {
		case w.in.any && w.in.plain:
			queries = []field{{text: w.in.text}}
		default:
			w.add(System, LevelSensitive, c.name, c.name+" runs statements that nobody sees")
			return
		}
	}
	for _, q := range queries {
		if why := changesData(q.text); why != "" || q.dyn {
			if why == "" {
				why = "what it asks the database is known only when it runs"
			}
			w.add(System, LevelSensitive, strings.ReplaceAll(q.text, unknown, "…"), why)
		}
	}
	w.add(NetIn, LevelStandard, c.name, "reads a database")
}

func redis(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("redis.options"), true)
	verb := strings.ToUpper(o.first())
	if o.has("version", "v", "latency", "latency-history", "stat", "bigkeys", "memkeys", "scan", "help") && verb == "" || isOneOf(wordList("redis.reads"), verb) || verb == "CONFIG" && strings.EqualFold(secondOperand(o), "get") {
		w.add(NetIn, LevelStandard, verb, "reads a database")
		return
	}
	w.add(System, LevelSensitive, verb, "changes the database: "+verb)
}
