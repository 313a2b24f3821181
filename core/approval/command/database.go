package command

import "strings"

func databases() map[string]handler {
	return map[string]handler{
		"psql mysql mariadb sqlite3 sqlite duckdb clickhouse clickhouse-client cqlsh sqlplus usql pgcli mycli litecli bq snowsql sqlcmd isql trino": sqlClient,
		"mongo mongosh mongod": func(w *walker, c cmd) {
			w.database(c, parseOptions(c.args, "eval f file u p host port", false).values("eval"))
		},
		"redis-cli valkey-cli": func(w *walker, c cmd) { redis(w, c) },
		"dropdb createdb dropuser createuser pg_restore pg_ctl initdb mysqladmin mysqlimport mongorestore mongoimport influx etcdctl cockroach pg_resetwal vacuumdb reindexdb": func(w *walker, c cmd) {
			w.add(System, LevelSensitive, operand(c), c.name+" changes a database")
		},
		"pg_dump pg_dumpall mysqldump mongodump": func(w *walker, c cmd) {
			w.outputs(parseOptions(c.args, "f file o out r result-file", false).values("f", "file", "o", "out", "result-file"))
			w.add(NetIn, LevelStandard, operand(c), "reads a database")
		},
		"pg_isready": filter,
	}
}

func sqlClient(w *walker, c cmd) {
	o := parseOptions(c.args, "c command e execute f file d dbname D database h host p port U username u user cmd init o output P variable v set password S socket q query", false)
	queries := o.values("c", "command", "e", "execute", "cmd", "q", "query")
	if c.name == "mysql" || c.name == "mariadb" {
		o = parseOptions(c.args, "e execute D database h host P port u user S socket", false)
		queries = o.values("e", "execute")
	}
	if strings.HasPrefix(c.name, "sqlite") || c.name == "duckdb" {
		queries = append(append([]field(nil), queries...), o.after(1)...)
	}
	if o.has("version", "V", "help") || c.name == "psql" && o.has("l", "list") {
		return
	}
	w.outputs(o.values("o", "output"))
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

// changesData reports why a statement is more than reading.
func changesData(q string) string {
	up := strings.ToUpper(q)
	trimmed := strings.TrimSpace(up)
	if strings.HasPrefix(trimmed, ".") || strings.HasPrefix(trimmed, `\`) {
		verb := strings.Fields(trimmed)[0]
		switch {
		case one(`.TABLES .SCHEMA .HEADERS .MODE .HELP .INDEXES .INDICES .DATABASES .DUMP .SHOW .FULLSCHEMA .DBINFO .WIDTH .EQP \D \DT \D+ \DT+ \L \L+ \DN \DU \DF \DI \DV \X \CONNINFO \TIMING \Q .QUIT`, verb):
			return ""
		default:
			return "the database client runs " + verb
		}
	}
	for word := range strings.FieldsFuncSeq(up, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		switch word {
		case "DROP", "DELETE", "TRUNCATE", "UPDATE", "INSERT", "ALTER", "CREATE", "GRANT", "REVOKE", "COPY", "INTO", "REPLACE", "ATTACH", "DETACH", "VACUUM", "REINDEX", "MERGE", "CALL", "EXEC", "EXECUTE", "LOAD", "RENAME", "KILL",
			"LOAD_EXTENSION", "PG_READ_FILE", "LO_EXPORT", "LO_IMPORT", "LOAD_FILE", "WRITEFILE", "READFILE", "EDIT", "PG_TERMINATE_BACKEND", "SET", "DBLINK", "XP_CMDSHELL", "SYSTEM", "SHUTDOWN", "DROPDATABASE", "DELETEMANY", "DELETEONE",
			"INSERTONE", "INSERTMANY", "UPDATEONE", "UPDATEMANY", "REMOVE", "DELETE_MANY", "DO":
			return "the statement changes data or files (" + strings.ToLower(word) + ")"
		}
	}
	if strings.Contains(q, `\!`) || strings.Contains(q, `\copy`) || strings.Contains(q, "\n.") {
		return "the database client runs a command"
	}
	return ""
}

func redis(w *walker, c cmd) {
	o := parseOptions(c.args, "h p a n u s r i user pass eval x", true)
	verb := strings.ToUpper(o.first())
	if o.has("version", "v") || one("GET MGET KEYS SCAN TTL PTTL EXISTS TYPE INFO PING DBSIZE LLEN LRANGE SMEMBERS SCARD HGET HGETALL HKEYS HLEN ZRANGE ZCARD STRLEN MONITOR TIME ECHO OBJECT HMGET SISMEMBER HEXISTS XLEN XRANGE", verb) || verb == "CONFIG" && strings.EqualFold(second(o), "get") {
		w.add(NetIn, LevelStandard, verb, "reads a database")
		return
	}
	w.add(System, LevelSensitive, verb, "changes the database: "+verb)
}
