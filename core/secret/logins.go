package secret

import "strings"

var crypted = classOf("A-Za-z0-9./")

// findMD5Crypt finds the hash of a password as htpasswd writes it: a salt, $, 22 characters.
func findMD5Crypt(s string, at, end int) span {
	const salt, sum = 8, 22
	dollar := crypted.runEnd(s, end)
	if dollar == end || dollar-end > salt {
		return span{}
	}
	if dollar == len(s) {
		return span{from: at, open: true}
	}
	if s[dollar] != '$' {
		return span{}
	}
	to := crypted.runEnd(s, dollar+1)
	got := span{from: at, open: to == len(s) && to-dollar-1 <= sum}
	if to-dollar-1 == sum {
		got.to = to
	}
	return got
}

// findNetrcPassword finds the password of a machine, as .netrc has it: words that come in pairs.
func findNetrcPassword(s string, at, end int) span {
	const reach = 512 // bytes from the machine's name to its password
	if !isWordStart(s, at) {
		return span{}
	}
	text := s[:min(len(s), end+reach)]
	word := func() string {
		for end < len(text) && text[end] <= ' ' {
			end++
		}
		from := end
		for end < len(text) && text[end] > ' ' && strings.IndexByte("\"'`\\", text[end]) < 0 {
			end++
		}
		return text[from:end]
	}
	open := func() bool { return end == len(s) }
	if s[at] == 'm' {
		word() // the name of the machine
	} else {
		end -= len("login ")
	}
	login := false
	for {
		name := word()
		if open() {
			return span{from: at, open: true}
		}
		value := word()
		switch name {
		case "login", "account":
			login = true
		case "password":
			got := span{from: end - len(value), open: open()}
			if value != "" && !isPlaceholder(value) && (login || looksRandom(value, name)) {
				got.to = end
			}
			return got
		default:
			return span{}
		}
	}
}
