package guard

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
)

// Blocklist is the sites that a person does not want visited. Rules are those of the Python
// program: a domain means itself and everything below it; *.domain means only what is below; a URL
// means its host. nil matches nothing.
type Blocklist struct{ rules []rule }

type rule struct{ pattern, source string }

// NewBlocklist makes a list of rules written in the settings and of files with a rule a line (#
// begins a comment). A file that cannot be read is an error that names it; the list then holds the
// rest.
func NewBlocklist(domains, files []string) (*Blocklist, []error) {
	b := &Blocklist{}
	for _, d := range domains {
		b.addRules(d, "config.yaml")
	}
	var errs []error
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("the blocklist file %s is not used: %w", name, err))
			continue
		}
		for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			text, _, _ := strings.Cut(string(line), "#")
			b.addRules(text, name)
		}
	}
	return b, errs
}

func (b *Blocklist) addRules(text, source string) {
	pattern := hostOf(strings.TrimSpace(text))
	if pattern != "" {
		b.rules = append(b.rules, rule{pattern, source})
	}
}

// hostOf reduces what people write in blocklists to a host: URLs, ports and paths go, and so does
// www.
func hostOf(text string) string {
	text = strings.ToLower(text)
	if text == "" || strings.HasPrefix(text, "#") {
		return ""
	}
	if !strings.Contains(text, "://") {
		text = "//" + text
	}
	host := text
	if u, err := url.Parse(text); err == nil {
		host = u.Hostname()
	} else if _, rest, ok := strings.Cut(text, "//"); ok {
		host, _, _ = strings.Cut(rest, "/")
	}
	wild := ""
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		wild, host = "*.", rest
	}
	host = strings.TrimPrefix(strings.TrimSuffix(host, "."), "www.")
	if ascii, err := normalHost(host); err == nil {
		host = strings.Trim(ascii, "[]")
	}
	if host == "" {
		return ""
	}
	return wild + host
}

// Match returns the rule that blocks a host and where it stands, or "".
func (b *Blocklist) Match(host string) string {
	if b == nil {
		return ""
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	for _, r := range b.rules {
		if r.matches(host) {
			return fmt.Sprintf("%s in %s", r.pattern, r.source)
		}
	}
	return ""
}

func (r rule) matches(host string) bool {
	if below, ok := strings.CutPrefix(r.pattern, "*."); ok && !strings.ContainsAny(below, "*?[") {
		return strings.HasSuffix(host, "."+below)
	}
	if strings.ContainsAny(r.pattern, "*?[") {
		ok, err := path.Match(r.pattern, host)
		return err == nil && ok
	}
	return host == r.pattern || strings.HasSuffix(host, "."+r.pattern)
}
