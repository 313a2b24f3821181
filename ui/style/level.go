package style

import "strings"

// Level is how many colours the terminal shows.
type Level int

// Colour levels.
const (
	None    Level = iota // attributes only
	Basic                // the sixteen of the terminal's own palette
	Indexed              // 256
	True                 // 24 bits
)

// String names the level as configuration does.
func (l Level) String() string { return [...]string{"none", "16", "256", "true"}[l] }

// Detect reads the level from the environment: NO_COLOR, COLORTERM and TERM. It asks the terminal
// nothing.
func Detect(getenv func(string) string) Level {
	term := getenv("TERM")
	switch {
	case getenv("NO_COLOR") != "" || term == "dumb":
		return None
	case hasAny(getenv("COLORTERM"), "truecolor", "24bit"):
		return True
	case hasAny(term, "direct", "kitty", "alacritty", "ghostty", "wezterm", "foot", "contour"):
		return True
	case hasAny(term, "256color") || hasAny(getenv("COLORTERM"), "1", "yes"):
		return Indexed
	default:
		return Basic
	}
}

// DarkBackground guesses from COLORFGBG whether the terminal is dark; true when nothing is known.
// Asking the terminal costs a round trip before the first frame, and seconds where nothing answers.
func DarkBackground(getenv func(string) string) bool {
	v := getenv("COLORFGBG")
	switch v[strings.LastIndexByte(v, ';')+1:] {
	case "7", "15":
		return false
	default:
		return true
	}
}

// DetectASCII reports a locale or terminal that cannot be trusted with box drawing.
func DetectASCII(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !hasAny(v, "utf-8", "utf8")
		}
	}
	return false
}

func hasAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
