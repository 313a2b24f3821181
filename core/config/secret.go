package config

import (
	"errors"
	"fmt"
	"strings"
)

// SecretName reports whether a key of `config set` means a variable of .env: upper case, like
// OPENAI_API_KEY.
func SecretName(key string) bool {
	return isName(key) && strings.Contains(key, "_") && key == strings.ToUpper(key)
}

// SetSecret writes NAME='value' into .env, readable by its owner only. Every other line stays as it
// is.
func SetSecret(p Paths, name, value string) error {
	editing.Lock()
	defer editing.Unlock()
	if !isName(name) {
		return fmt.Errorf("%q is not a name for a variable: use letters, digits and underscore", name)
	}
	if strings.ContainsAny(value, "\n\r\x00") {
		return errors.New("a secret is one line: the value has a line break in it")
	}
	raw, problems := readFile(p.EnvFile, ".env")
	if len(problems) > 0 {
		return fmt.Errorf("%s: nothing was changed", problems[0])
	}
	before, err := parseDotenv(raw)
	if err != nil {
		return fmt.Errorf(".env has a line that is not NAME=value: nothing was changed; repair %s first", p.EnvFile)
	}
	text := setLine(string(raw), name, name+"="+quoteSecret(value))
	after, err := parseDotenv([]byte(text))
	if err != nil || after[name] != value || !othersEqual(before, after, name) {
		return fmt.Errorf(".env is written in a way that %s cannot be set in: nothing was changed; edit %s by hand", name, p.EnvFile)
	}
	return replaceFile(p.EnvFile, []byte(text))
}

// quoteSecret keeps $ and # from having a meaning.
func quoteSecret(value string) string {
	if !strings.Contains(value, "'") {
		return "'" + value + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value) + `"`
}

func setLine(text, name, assignment string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimPrefix(strings.TrimSpace(line), "export ")
		if head, _, ok := strings.Cut(rest, "="); ok && strings.TrimSpace(head) == name {
			lines[i] = assignment
			return strings.Join(lines, "\n")
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + assignment + "\n"
}

func othersEqual(before, after map[string]string, name string) bool {
	for k, v := range before {
		if k != name && after[k] != v {
			return false
		}
	}
	for k := range after {
		if _, ok := before[k]; !ok && k != name {
			return false
		}
	}
	return true
}
