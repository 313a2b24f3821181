package config

import (
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// badValue says why a text is not a value of its setting. It is turned into a Problem where the
// place is known.
type badValue struct{ why, fix string }

// setScalar parses text into v by v's type and f's bounds. It leaves v alone when text is bad.
func setScalar(v reflect.Value, f field, text string) *badValue {
	switch {
	case v.Type() == durationType:
		return setDuration(v, f, text)
	case v.Type() == sizeType:
		return setSize(v, text)
	case v.Kind() == reflect.Bool:
		return setBool(v, text)
	case v.Kind() == reflect.Int:
		return setInt(v, f, text)
	case v.Kind() == reflect.Float64:
		return setFloat(v, f, text)
	default:
		return setText(v, f, text)
	}
}

func setBool(v reflect.Value, text string) *badValue {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		v.SetBool(true)
	case "false", "no", "off", "0":
		v.SetBool(false)
	default:
		return &badValue{"expected yes or no, found", "write true or false"}
	}
	return nil
}

func setInt(v reflect.Value, f field, text string) *badValue {
	clean := strings.ReplaceAll(strings.TrimSpace(text), "_", "")
	if f.tag.Get("null") == "0" && (strings.EqualFold(clean, "none") || strings.EqualFold(clean, "unlimited")) {
		clean = "0"
	}
	n, err := strconv.ParseInt(clean, 10, 32)
	if err != nil {
		return &badValue{"expected a whole number, found", "write it in digits, for example " + exampleOf(f)}
	}
	if bad := checkBounds(f, float64(n)); bad != nil {
		return bad
	}
	v.SetInt(n)
	return nil
}

func setFloat(v reflect.Value, f field, text string) *badValue {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return &badValue{"expected a number, found", "write it in digits, for example " + exampleOf(f)}
	}
	if bad := checkBounds(f, n); bad != nil {
		return bad
	}
	v.SetFloat(n)
	return nil
}

func exampleOf(f field) string {
	if lo := f.tag.Get("min"); lo != "" && lo != "0" {
		return lo
	}
	return "10"
}

func checkBounds(f field, n float64) *badValue {
	lo, errLo := strconv.ParseFloat(f.tag.Get("min"), 64)
	hi, errHi := strconv.ParseFloat(f.tag.Get("max"), 64)
	switch {
	case errLo == nil && errHi == nil && (n < lo || n > hi):
		return &badValue{"out of range:", fmt.Sprintf("write a number from %s to %s", f.tag.Get("min"), f.tag.Get("max"))}
	case errLo == nil && n < lo:
		return &badValue{"too small:", "the least is " + f.tag.Get("min")}
	case errHi == nil && n > hi:
		return &badValue{"too large:", "the most is " + f.tag.Get("max")}
	}
	return nil
}

// setDuration takes seconds ("180", "1.5") or a Go duration, with d for days ("30m", "1h30m",
// "2d").
func setDuration(v reflect.Value, f field, text string) *badValue {
	seconds, ok := parseSeconds(strings.TrimSpace(text))
	const tenYears = 10 * 365 * 24 * 3600
	if !ok || seconds > tenYears {
		return &badValue{"expected a length of time, found", "write seconds (90) or a number with a unit (90s, 30m, 2h)"}
	}
	if bad := checkBounds(f, seconds); bad != nil {
		return &badValue{bad.why, bad.fix + " seconds"}
	}
	v.SetInt(int64(seconds * float64(time.Second)))
	return nil
}

func parseSeconds(text string) (float64, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.ParseFloat(days, 64)
		return n * 86400, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil
}

func setText(v reflect.Value, f field, text string) *badValue {
	if list := choicesOf(f); list != nil {
		choice, ok := pickChoice(f, list, text)
		if !ok {
			return &badValue{"not one of the choices:", choiceHint(text, list)}
		}
		text = choice
	}
	if f.hasTag("url") && text != "" {
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return &badValue{"not a web address:", "write it with http:// or https://, for example http://localhost:11434/v1"}
		}
	}
	if f.hasTag("regexp") {
		if _, err := regexp.Compile(text); err != nil {
			return &badValue{"not a regular expression:", "write one as in terminal|write_.* ; " + err.Error()}
		}
	}
	v.SetString(text)
	return nil
}

// pickChoice matches text with a choice. YAML reads a bare `off` or `no` as a boolean in some
// programs, so that those stand for the choices that the bools tag names (for true, for false).
func pickChoice(f field, list []string, text string) (string, bool) {
	if f.hasTag("fold") {
		text = strings.ToLower(text)
		if text == "warning" {
			text = "warn"
		}
	}
	for _, c := range list {
		if c == text {
			return c, true
		}
	}
	yes, no, ok := strings.Cut(f.tag.Get("bools"), ",")
	switch {
	case ok && text == "true" && yes != "":
		return yes, true
	case ok && text == "false" && no != "":
		return no, true
	}
	return "", false
}

func choiceHint(text string, list []string) string {
	if near := nearestMeant(text, list); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	var named []string
	for _, c := range list {
		if c != "" {
			named = append(named, c)
		}
	}
	return "write one of " + strings.Join(named, ", ")
}

// renderValue is a value as text, as it would stand in the file.
func renderValue(v reflect.Value) string {
	switch {
	case v.Type() == durationType:
		return renderDuration(time.Duration(v.Int()))
	case v.Kind() == reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = renderValue(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Kind() == reflect.Map:
		var items []string
		for _, k := range mapKeys(v) {
			items = append(items, k+": "+renderValue(v.MapIndex(reflect.ValueOf(k))))
		}
		return "{" + strings.Join(items, ", ") + "}"
	default:
		return fmt.Sprint(v.Interface())
	}
}

// renderDuration drops the zero parts that time.Duration prints: 30m, not 30m0s.
func renderDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
