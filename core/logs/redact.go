package logs

import (
	"regexp"
	"sort"
	"strings"
	"sync"
)

// Hidden stands where a secret was.
const Hidden = "[hidden]"

// shortest is the length in bytes below which a value of .env is taken for a plain word: true, 8080, dev.
const shortest = 8

var known struct {
	sync.RWMutex
	set      map[string]bool
	replacer *strings.Replacer
}

// AddSecrets makes Redact hide these values, wherever they stand. Values shorter than 8 bytes are left out.
func AddSecrets(values ...string) {
	known.Lock()
	defer known.Unlock()
	if known.set == nil {
		known.set = map[string]bool{}
	}
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= shortest {
			known.set[v] = true
		}
	}
	known.replacer = replacer(known.set)
}

// replacer takes the longest secret first, so that one which begins like another leaves no rest behind.
func replacer(set map[string]bool) *strings.Replacer {
	list := make([]string, 0, len(set))
	for v := range set {
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	pairs := make([]string, 0, 2*len(list))
	for _, v := range list {
		pairs = append(pairs, v, Hidden)
	}
	return strings.NewReplacer(pairs...)
}

// shapes are what keys look like. A group, where there is one, is what stays in front.
var shapes = sync.OnceValue(func() []*regexp.Regexp {
	sources := []string{
		`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}`,
		`\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}`,
		`\bglpat-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bxai-[A-Za-z0-9]{20,}`,
		`\bxox[abposr]-[A-Za-z0-9-]{10,}`,
		`\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}`,
		`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}`,
		`\b\d{8,10}:[A-Za-z0-9_-]{35}\b`,
		`(?i)(\bbearer\s+|\bbasic\s+)[A-Za-z0-9._~+/=-]{12,}`,
		`(?i)("?\b[a-z0-9_-]*(?:api[_-]?key|secret|token|passw(?:or)?d|credential)s?"?\s*[=:]\s*"?)[^\s"',;&}]{6,}`,
		`(\b[a-z][a-z0-9+.-]*://[^/\s:@]*:)[^/\s:@]+(?:@)`,
		`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
	}
	out := make([]*regexp.Regexp, len(sources))
	for i, s := range sources {
		out[i] = regexp.MustCompile(s)
	}
	return out
})

// Redact returns text with every known secret and everything that looks like a key replaced by Hidden.
func Redact(text string) string {
	known.RLock()
	r := known.replacer
	known.RUnlock()
	if r != nil {
		text = r.Replace(text)
	}
	for _, shape := range shapes() {
		if !shape.MatchString(text) {
			continue
		}
		if shape.NumSubexp() == 0 {
			text = shape.ReplaceAllLiteralString(text, Hidden)
			continue
		}
		text = shape.ReplaceAllStringFunc(text, func(m string) string {
			keep := shape.FindStringSubmatch(m)[1]
			if strings.HasSuffix(m, "@") {
				return keep + Hidden + "@"
			}
			return keep + Hidden
		})
	}
	return text
}
