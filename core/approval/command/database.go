package command

import "strings"

func databaseHandlers() map[string]handler {
	return map[string]handler{
		"psql mysql mariadb sqlite3 sqlite duckdb clickhouse clickhouse-client cqlsh sqlplus usql pgcli mycli litecli bq snowsql sqlcmd isql trino": sqlClient,
		"mongo mongosh mongod": func(w *walker, c cmd) {
			w.judgeMongo(c, parseOptions(c.args, wordList("mongo.options"), false))
		},
		"redis-cli valkey-cli": func(w *walker, c cmd) { judgeRedis(w, c) },
	}
}

func sqlClient(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("sql.options"), false)
	queries := o.valuesOf("c", "command", "e", "execute", "cmd", "q", "query")
	if c.name == "mysql" || c.name == "mariadb" {
		o = parseOptions(c.args, wordList("mysql.options"), false)
		queries = append(o.valuesOf("e", "execute"), o.valuesOf("init-command")...)
		if o.hasOption("pager") {
			w.addEffect(Exec, LevelAlways, "pager", c.name+" runs a pager of the command's choice")
		}
		w.addOutputs(o.valuesOf("tee"))
	}
	if strings.HasPrefix(c.name, "sqlite") { // its options are words behind one dash
		o = parseOptions(c.args, wordList("sqlite.options"), false)
		queries = o.valuesOf("cmd")
		if o.hasOption("A") && !strings.Contains(joinedText(c.args), " -Alist") {
			w.addEffect(System, LevelSensitive, c.name, c.name+" packs or unpacks files")
		}
	}
	if strings.HasPrefix(c.name, "sqlite") || c.name == "duckdb" {
		queries = append(append([]field(nil), queries...), o.operandsAfter(1)...)
	}
	if o.hasOption("version", "V", "help") || c.name == "psql" && o.hasOption("l", "list") {
		return
	}
	for _, v := range o.valuesOf("o", "output", "L", "log-file") {
		if text, ok := strings.CutPrefix(v.text, "|"); ok {
			w.walkInnerText(partOf(v, text))
			w.addEffect(Exec, LevelAlways, v.text, c.name+" runs "+text)
			continue
		}
		w.addOutputs([]field{v})
	}
	for _, v := range append(o.valuesOf("f", "file"), o.valuesOf("init")...) {
		if c.name != "mysql" && c.name != "mariadb" {
			w.addEffect(System, LevelSensitive, v.text, "runs the statements of "+v.text)
		}
	}
	w.judgeDatabase(c, queries)
}

// judgeDatabase asks about statements that change something, or that nobody sees.
func (w *walker) judgeDatabase(c cmd, queries []field) {
	if len(queries) == 0 {
		switch {
		case w.in.any && w.in.plain:
			queries = []field{{text: w.in.text}}
		default:
			w.addEffect(System, LevelSensitive, c.name, c.name+" runs statements that nobody sees")
			return
		}
	}
	for _, q := range queries {
		if why := changesData(q.text); why != "" || q.dyn {
			if why == "" {
				why = "what it asks the database is known only when it runs"
			}
			w.addEffect(System, LevelSensitive, strings.ReplaceAll(q.text, unknown, "…"), why)
		}
	}
	w.addEffect(NetIn, LevelStandard, c.name, "reads a database")
}

func judgeRedis(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("redis.options"), true)
	verb := strings.ToUpper(o.firstOperand())
	if o.hasOption("version", "v", "latency", "latency-history", "stat", "bigkeys", "memkeys", "scan", "help") && verb == "" || isOneOf(wordList("redis.reads"), verb) || verb == "CONFIG" && strings.EqualFold(secondOperand(o), "get") {
		w.addEffect(NetIn, LevelStandard, verb, "reads a database")
		return
	}
	w.addEffect(System, LevelSensitive, verb, "changes the database: "+verb)
}
