package secret

import (
	"encoding/base64"
	"strings"
)

// joint is the mark between the parts of a key that has no beginning of its own.
type joint struct {
	mark byte
	look func(s string, at int) span // at is the mark
}

var joints = []joint{{'.', findZhipuKey}, {'.', findDiscordToken}, {':', findFalKey}}

// findJoinedKeys finds the keys that are told by the two sides of a mark only.
func findJoinedKeys(s string, note func(span)) {
	note(findBegunKey(s))
	for _, j := range joints {
		for at := strings.IndexByte(s, j.mark); at >= 0 && at < len(s); {
			note(j.look(s, at))
			next := strings.IndexByte(s[at+1:], j.mark)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
}

// findBegunKey finds what may be the part before the mark, in a text that breaks off there.
func findBegunKey(s string) span {
	const least, most = 12, 36 // a short number is shown at once
	from := len(s)
	for from > 0 && len(s)-from <= most && wordly[s[from-1]] {
		from--
	}
	run := s[from:]
	if len(run) < least || len(run) > most {
		return span{}
	}
	id, err := base64.RawStdEncoding.DecodeString(run[:len(run)/4*4])
	for strings.IndexByte("0123456789abcdefABCDEF-", run[0]) >= 0 {
		if run = run[1:]; run == "" {
			return span{from: from, open: true}
		}
	}
	return span{from: from, open: err == nil && isDigits(string(id))}
}

// findZhipuKey finds 32 hexadecimal digits, a dot, 16 letters and digits.
func findZhipuKey(s string, at int) span {
	const id, rest = 32, 16
	from := at - id
	if from < 0 || hexes.runEnd(s[:at], from) != at || from > 0 && wordly[s[from-1]] {
		return span{}
	}
	to := alnum.runEnd(s, at+1)
	got := span{from: from, open: to == len(s) && to-at-1 <= rest}
	if key := s[at+1 : to]; len(key) == rest && isMixedCase(key) && (to == len(s) || !wordly[s[to]]) {
		got.to = to
	}
	return got
}

// findDiscordToken finds a bot's token: its number in base64, six characters of time, at least 27
// of a signature.
func findDiscordToken(s string, at int) span {
	const stamp, sign = 6, 27
	if end := at + 1 + stamp; end < len(s) && s[end] != '.' {
		return span{}
	}
	from := at
	for from > 0 && at-from < 30 && wordly[s[from-1]] {
		from--
	}
	id, err := base64.RawStdEncoding.DecodeString(s[from:at])
	if err != nil || len(id) < 17 || len(id) > 20 || !isDigits(string(id)) {
		return span{}
	}
	dot := wordly.runEnd(s, at+1)
	if dot-at-1 > stamp {
		return span{}
	}
	if dot == len(s) {
		return span{from: from, open: true}
	}
	to := wordly.runEnd(s, dot+1)
	got := span{from: from, open: to == len(s)}
	if to-dot-1 >= sign {
		got.to = to
	}
	return got
}

// findFalKey finds a UUID, a colon, 32 hexadecimal digits.
func findFalKey(s string, at int) span {
	const id, rest = 36, 32
	from := at - id
	if from < 0 || s[at-13] != '-' || from > 0 && wordly[s[from-1]] {
		return span{}
	}
	for i, c := range []byte(s[from:at]) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !isHex(c) {
			return span{}
		}
	}
	to := hexes.runEnd(s, at+1)
	got := span{from: from, open: to == len(s) && to-at-1 <= rest}
	if to-at-1 == rest && (to == len(s) || !wordly[s[to]]) {
		got.to = to
	}
	return got
}
