package base

import "fmt"

// foreignCommand is a command of another program of this kind, the Python hermes first of all.
type foreignCommand struct {
	here string // what does the same here; "" when nothing does yet
	noun bool   // no prompt begins with it: more words behind it are no prompt either
}

var foreignCommands = map[string]foreignCommand{
	"acp":       {"", true},
	"auth":      {"hermes setup", true},
	"backup":    {"", false},
	"chat":      {`hermes run "..."`, true},
	"cron":      {"", true},
	"curator":   {"hermes learn", true},
	"dashboard": {"", true},
	"debug":     {"hermes doctor", false},
	"dump":      {"hermes doctor", false},
	"exec":      {`hermes run "..."`, true},
	"gateway":   {"", true},
	"honcho":    {"hermes memory user", true},
	"import":    {"hermes sessions import", false},
	"insights":  {"hermes usage", true},
	"kanban":    {"", true},
	"login":     {"hermes setup", true},
	"logout":    {"hermes setup", true},
	"pairing":   {"", true},
	"resume":    {"hermes --resume", false},
	"send":      {"", false},
	"skin":      {"hermes config set display.theme", true},
	"uninstall": {"", false},
	"update":    {"", false},
	"webhook":   {"", true},
	"whatsapp":  {"", true},
}

// foreignWords say what a command of another program is called here.
func foreignWords(word string) (string, bool) {
	c, known := foreignCommands[word]
	switch {
	case !known:
		return "", false
	case c.here == "":
		return fmt.Sprintf("this version has no %q", word), true
	default:
		return fmt.Sprintf("there is no command %q; here it is `%s`", word, c.here), true
	}
}
