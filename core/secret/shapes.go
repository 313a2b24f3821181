package secret

import (
	"strings"
	"sync"
)

// An anchor is a short text that a secret begins with or stands behind. Only where one is found is
// anything looked at more closely.
type anchor struct {
	word string
	fold bool // any case
	look func(s string, at, end int) span
}

// span is what an anchor's look found: hidden from, to; nothing when they are equal. Open says that
// the text broke off inside of it.
type span struct {
	from, to int
	open     bool
}

type shapeTable struct {
	anchors []anchor
	find    *finder
}

var table = sync.OnceValue(func() *shapeTable {
	t := &shapeTable{anchors: append(tokenAnchors(), phraseAnchors()...)}
	words, folds := make([]string, len(t.anchors)), make([]bool, len(t.anchors))
	for i, a := range t.anchors {
		words[i], folds[i] = a.word, a.fold
	}
	t.find = buildFinder(words, folds)
	return t
})

// findShapes returns what in s looks like a secret. Unless s is final, open is the first place
// where one may begin that s breaks off in; else -1.
func findShapes(s string, final bool) (hits []hit, open int) {
	open = -1
	t := table()
	note := func(got span) {
		if got.open && !final && (open < 0 || got.from < open) {
			open = got.from
		}
		if got.to > got.from {
			hits = append(hits, hit{from: got.from, to: got.to})
		}
	}
	t.find.eachMatch(s, func(n, at int) int {
		a := t.anchors[n]
		got := a.look(s, at, at+len(a.word))
		note(got)
		return got.to
	})
	findJoinedKeys(s, note)
	return hits, open
}

// class is a set of bytes.
type class [256]bool

func classOf(chars string) *class {
	var c class
	for i := 0; i < len(chars); i++ {
		if i+2 < len(chars) && chars[i+1] == '-' {
			for b := int(chars[i]); b <= int(chars[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[chars[i]] = true
	}
	return &c
}

// runEnd returns where the bytes of the class end, from at on.
func (c *class) runEnd(s string, at int) int {
	for at < len(s) && c[s[at]] {
		at++
	}
	return at
}

var (
	alnum  = classOf("A-Za-z0-9")
	wordly = classOf("A-Za-z0-9_-")
	dotted = classOf("A-Za-z0-9_.-")
	hexes  = classOf("0-9a-f")
	base   = classOf("A-Za-z0-9_+/.~=-")
	upper  = classOf("A-Z0-9")
)

// isWordStart reports whether a word begins at "at": before it is nothing that words are made of,
// but for what escapes leave there (\n, %3D).
func isWordStart(s string, at int) bool {
	if at == 0 || !wordly[s[at-1]] {
		return true
	}
	if at >= 2 && s[at-2] == '\\' && strings.IndexByte("nrt", s[at-1]) >= 0 {
		return true
	}
	return at >= 3 && s[at-3] == '%' && isHex(s[at-1]) && isHex(s[at-2])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// token is what a vendor's keys look like: a beginning that nothing else has, and a run of
// characters.
type token struct {
	prefix   string
	chars    *class
	min, max int  // length of the run behind the prefix; max 0: no limit
	mixed    bool // the run must look like chance: else an English word would do
}

func (k token) findToken(s string, at, end int) span {
	if !isWordStart(s, at) && alnum[s[at-1]] { // -key and _key are keys
		return span{}
	}
	const look = 200 // bytes that decide
	to := k.chars.runEnd(s[:min(len(s), end+look)], end)
	n := to - end
	got := span{from: at, open: to == len(s) && (k.max == 0 || n <= k.max)}
	if n < k.min || k.max > 0 && n > k.max || k.mixed && !k.isLikelyKey(s[end:to]) {
		return got
	}
	if k.max > 0 && to < len(s) && alnum[s[to]] {
		return got
	}
	got.to = to
	if n == look {
		got.to = k.chars.runEnd(s, to)
		got.open = got.to == len(s)
	}
	return got
}

// isLikelyKey reports whether a run is no words. What looks like one long word can be a key of a
// model's vendor too.
func (k token) isLikelyKey(run string) bool {
	return looksLikeChance(run, 12) || k.prefix == "sk-" && longestPiece(run) >= 16
}

// tokenAnchors are the shapes of keys that say themselves what they are.
func tokenAnchors() []anchor {
	var out []anchor
	add := func(chars *class, least, most int, mixed bool, prefixes ...string) {
		for _, p := range prefixes {
			k := token{prefix: p, chars: chars, min: least, max: most, mixed: mixed}
			out = append(out, anchor{word: p, look: k.findToken})
		}
	}
	// Models.
	add(wordly, 16, 0, true, "sk-", "rk-", "pk-")
	add(wordly, 20, 0, true, "gsk_", "xai-", "hf_", "pplx-", "r8_", "csk-", "fw_", "nvapi-", "tvly-", "tgp_v1_", "lsv2_pt_", "lsv2_sk_", "api_org_", "jina_", "fc-")
	add(hexes, 40, 0, false, "sk_") // speech
	add(wordly, 27, 28, true, "BSA")
	// Version control and packages.
	add(alnum, 20, 0, false, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_", "dckr_pat_", "dckr_oat_", "rubygems_", "crates_io_")
	add(wordly, 20, 0, false, "github_pat_", "pypi-AgE", "CFPAT-", "dp.pt.", "dp.st.")
	add(dotted, 16, 0, true, "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "GR1348941")
	add(classOf("A-Za-z0-9_=-"), 24, 0, true, "ATATT3xFfGF0", "ATCTT3xFfGF0", "ATBB", "PMAK-", "figd_", "lin_api_", "ntn_", "secret_", "sntrys_", "sntryu_", "shippo_live_")
	// Clouds.
	add(upper, 16, 16, false, "AKIA", "ASIA", "ABIA", "ACCA")
	add(wordly, 30, 0, true, "AIza", "ya29.", "GOCSPX-")
	add(alnum, 40, 0, false, "dop_v1_", "doo_v1_", "dor_v1_", "sbp_", "sb_secret_")
	add(hexes, 32, 0, false, "dapi", "key-", "v1.0-")
	for _, first := range "0123456789abcdef" {
		add(hexes, 31, 31, false, "SK"+string(first))
	}
	add(dotted, 20, 0, true, "hvs.", "hvb.", "hvr.", "glsa_", "glc_", "tskey-", "NRAK-", "NRJS-", "LTAI", "AKID", "ops_eyJ", "EAACEdEose0cBA", "flyv1_", "FlyV1 ", "rnd_", "vcp_", "vck_", "pscale_tkn_", "pscale_pw_")
	add(upper, 50, 0, false, "AGE-SECRET-KEY-1")
	// Chat, mail, payment, shops.
	add(wordly, 10, 0, true, "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.", "xoxd-", "xapp-")
	add(hexes, 64, 64, false, "SEC") // robots of DingTalk
	add(wordly, 60, 0, true, "mfa.")
	add(dotted, 40, 0, true, "SG.", "xkeysib-", "xsmtpsib-", "EAAA")
	add(alnum, 16, 0, false, "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "shpat_", "shpss_", "shpca_", "shppa_", "sq0atp-", "sq0csp-")
	add(classOf("A-Za-z0-9/_-"), 20, 0, true, "hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/")
	// Password hashes of /etc/shadow and htpasswd, which can be tried at leisure.
	add(classOf("A-Za-z0-9./$="), 40, 0, false, "$6$", "$5$", "$y$", "$2a$", "$2b$", "$2x$", "$2y$")
	add(classOf("A-Za-z0-9./$=,+"), 40, 0, false, "$argon2")
	add(classOf("A-Za-z0-9/+="), 24, 0, false, "{SHA}", "{SSHA}", "{SHA256}", "{SSHA256}", "{SHA512}", "{SSHA512}", "{SMD5}")
	for _, p := range []string{"$1$", "$apr1$"} {
		out = append(out, anchor{word: p, look: findMD5Crypt})
	}
	for _, p := range []string{"machine ", "default login "} {
		out = append(out, anchor{word: p, look: findNetrcPassword})
	}
	out = append(out, anchor{word: "eyJ", look: findJWT}, anchor{word: ":AA", look: findTelegramToken}, anchor{word: "-----BEGIN ", look: findPrivateKey}, anchor{word: "://", look: findURLPassword})
	return out
}

// looksLikeChance reports whether a run looks like chance rather than like words: some piece of at
// least n letters and digits has both kinds, or changes its case often.
func looksLikeChance(s string, n int) bool {
	for len(s) > 0 {
		to := alnum.runEnd(s, 0)
		if to >= n && isMixedCase(s[:to]) {
			return true
		}
		s = s[min(len(s), to+1):]
	}
	return false
}

// longestPiece is the length of the longest piece of letters and digits.
func longestPiece(s string) (n int) {
	for len(s) > 0 {
		to := alnum.runEnd(s, 0)
		n = max(n, to)
		s = s[min(len(s), to+1):]
	}
	return n
}

// isMixedCase reports digits between letters, or letters whose case changes more than names do.
func isMixedCase(s string) bool {
	digits, letters, turns := 0, 0, 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		default:
			letters++
			if i > 0 && s[i-1] >= 'a' && c >= 'A' && c <= 'Z' {
				turns++
			}
		}
	}
	return digits >= 2 && letters > 0 || digits >= 10 || turns >= 4 && turns*6 >= len(s)
}

// findJWT finds a token whose first part is an encoded JSON object: with a second one, signed or
// not, with padding or without, and the five parts of an encrypted one.
func findJWT(s string, at, end int) span {
	if !isWordStart(s, at) {
		return span{}
	}
	var parts []string
	ends := []int{}
	for from := at; len(parts) < 5; {
		to := wordly.runEnd(s, from)
		for pad := to + 2; to < min(len(s), pad) && s[to] == '='; {
			to++
		}
		parts, ends = append(parts, s[from:to]), append(ends, to)
		if to == len(s) || s[to] != '.' {
			break
		}
		from = to + 1
	}
	last := len(parts) - 1
	got := span{from: at, open: ends[last] == len(s)}
	switch n := len(parts); {
	case len(parts[0]) < 5 || n < 2:
	case strings.HasPrefix(parts[1], "eyJ") && len(parts[1]) >= 10:
		got.to = ends[min(2, last)]
	case n == 5 && len(parts[2]) >= 5:
		got.to = ends[4]
	case n > 2 && len(parts[1]) >= 5 && len(parts[2]) >= 5:
		got.to = ends[2]
	}
	return got
}

// findTelegramToken finds a bot's token: its number, a colon, 35 characters.
func findTelegramToken(s string, at, end int) span {
	from := at
	for from > 0 && at-from < 11 && s[from-1] >= '0' && s[from-1] <= '9' {
		from--
	}
	to := wordly.runEnd(s, end)
	if at-from < 8 || at-from > 10 || from > 0 && wordly[s[from-1]] && !strings.HasSuffix(s[:from], "bot") {
		return span{}
	}
	got := span{from: from, open: to == len(s) && to-end <= 33}
	if to-end == 33 {
		got.to = to
	}
	return got
}

// findPrivateKey finds a private key in its armour. Without an end everything is hidden.
func findPrivateKey(s string, at, end int) span {
	const most = 64
	head := s[end:min(len(s), end+most)]
	kind, _, closed := strings.Cut(head, "-----")
	if !closed && len(head) < most {
		return span{from: at, open: true}
	}
	if !closed || !strings.Contains(kind, "PRIVATE KEY") {
		return span{}
	}
	last := "-----END " + kind + "-----"
	if i := strings.Index(s[end:], last); i >= 0 {
		return span{from: at, to: end + i + len(last)}
	}
	return span{from: at, to: len(s), open: true}
}

const address = 512 // bytes of scheme://user:password@ that are looked at

// findURLPassword finds the password in scheme://user:password@host.
func findURLPassword(s string, at, end int) span {
	most := min(len(s), end+address)
	colon := strings.IndexAny(s[end:most], ":@/ \t\r\n\"'`<>")
	if colon < 0 || s[end+colon] != ':' {
		return span{}
	}
	from := end + colon + 1
	for i := from; i < most; i++ {
		switch c := s[i]; {
		case c == '@' && (i == from || notPassword(s, at, from)):
			return span{}
		case c == '@':
			return span{from: from, to: lastAt(s[:most], i)}
		case c <= ' ' || strings.IndexByte("\"'`<>", c) >= 0, c == '/' && isDigits(s[from:i]): // a port
			return span{}
		}
	}
	if most < len(s) {
		return span{}
	}
	return span{from: from, open: true}
}

// notPassword reports what stands before the @ to be no password: the scheme has no name, or it is
// a variable or a placeholder.
func notPassword(s string, at, from int) bool {
	return at == 0 || !alnum[s[at-1]] || strings.IndexByte("$<{%[*", s[from]) >= 0
}

// lastAt returns the last @ before the host ends: a password may hold @ itself.
func lastAt(s string, i int) int {
	for j := i + 1; j < len(s) && strings.IndexByte("/ \t\r\n\"'`<>?#,;)]}\\", s[j]) < 0; j++ {
		if s[j] == '@' {
			i = j
		}
	}
	return i
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
