package markdown

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
)

// Simple maths is written the way people write it without a formula editor: $E = mc^2$ is E = mc²,
// and so are \(E = mc^2\) and \[E = mc^2\]. What is not simple stays as it was written: half a
// formula is worse than its source.

// maxFormula bounds what is looked at.
const maxFormula = 120

// formula finds what stands between dollars. A price has a blank before its next dollar, a variable
// of a shell a letter behind it.
var formula = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\$\s*([^$\n]+?)\s*\$\$|\$([^\s$](?:[^$\n]*[^\s$])?)\$`)
})

// Marks of \( \) \[ \], which Markdown takes for brackets. They are in no text of ours.
const (
	openRound  = "\x0e"
	closeRound = "\x0f"
	openBox    = "\x10"
	closeBox   = "\x11"
)

var (
	marksOfMaths = sync.OnceValue(func() *strings.Replacer {
		return strings.NewReplacer(`\\`, `\\`, `\(`, openRound, `\)`, closeRound, `\[`, openBox, `\]`, closeBox)
	})
	bracketsOfMarks = sync.OnceValue(func() *strings.Replacer {
		return strings.NewReplacer(openRound, "(", closeRound, ")", openBox, "[", closeBox, "]")
	})
	marked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\W)[\x0e\x10][^\x0e-\x11]+[\x0f\x11]`) })
)

// markMaths is the plain text of t with marks where a formula may begin and end.
func (d *draw) markMaths(t *ast.Text) string {
	v := string(t.Segment.Value(d.src))
	if t.IsRaw() || !strings.Contains(v, `\(`) && !strings.Contains(v, `\[`) && !strings.Contains(v, `\)`) && !strings.Contains(v, `\]`) {
		return d.plainText(t)
	}
	var b strings.Builder
	for rest := marksOfMaths().Replace(v); rest != ""; {
		at := strings.IndexAny(rest, openRound+closeRound+openBox+closeBox)
		if at < 0 {
			at = len(rest)
		}
		b.WriteString(unescape([]byte(rest[:at])))
		b.WriteString(rest[at:min(at+1, len(rest))])
		rest = rest[min(at+1, len(rest)):]
	}
	return b.String()
}

func simpleMaths(s string) string {
	if strings.ContainsAny(s, openRound+openBox) {
		s = marked().ReplaceAllStringFunc(s, sayMarked)
	}
	s = bracketsOfMarks().Replace(s)
	if strings.Count(s, "$") < 2 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, m := range formula().FindAllStringSubmatchIndex(s, -1) {
		if m[0] > 0 && wordByte(s[m[0]-1]) || m[1] < len(s) && wordByte(s[m[1]]) {
			continue
		}
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if said, ok := sayFormula(s[from:to]); ok {
			b.WriteString(s[done:m[0]] + said)
			done = m[1]
		}
	}
	return b.String() + s[done:]
}

// sayMarked is a formula between marks, with what stands before it. One letter in brackets is most
// often that.
func sayMarked(m string) string {
	at := strings.IndexAny(m, openRound+openBox)
	inner := strings.TrimSpace(m[at+1 : len(m)-1])
	if said, ok := sayFormula(inner); ok && len(inner) > 1 {
		return m[:at] + said
	}
	return m
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// sayFormula writes a formula in plain characters; false when it is not simple, or none.
func sayFormula(f string) (string, bool) {
	if len(f) > maxFormula || !strings.ContainsAny(f, "^_=\\<>+") && len(f) > 1 {
		return "", false
	}
	var b strings.Builder
	for f != "" {
		var part string
		ok := true
		switch c := f[0]; {
		case c == '\\':
			part, f, ok = command(f[1:])
		case c == '^':
			part, f, ok = raised(f[1:], superscripts())
		case c == '_':
			part, f, ok = raised(f[1:], subscripts())
		case c == '{', c == '}':
			f = f[1:]
		case c == '-':
			part, f = "−", f[1:]
		case c == '$', c == '/' && strings.HasPrefix(f, "//"):
			ok = false
		default:
			part, f = f[:1], f[1:]
		}
		if !ok {
			return "", false
		}
		b.WriteString(part)
	}
	return b.String(), true
}

// command is what a word behind a backslash means.
func command(f string) (said, rest string, ok bool) {
	n := 0
	for n < len(f) && (f[n] >= 'a' && f[n] <= 'z' || f[n] >= 'A' && f[n] <= 'Z') {
		n++
	}
	said, ok = symbols()[f[:n]]
	return said, f[n:], ok
}

// raised is a character, or what stands in braces, above or below the line.
func raised(f string, places map[rune]rune) (said, rest string, ok bool) {
	what := f
	if inner, found := strings.CutPrefix(f, "{"); found {
		if what, rest, ok = strings.Cut(inner, "}"); !ok {
			return "", "", false
		}
	} else if f != "" {
		what, rest = f[:1], f[1:]
	}
	var b strings.Builder
	for _, r := range what {
		to, known := places[r]
		if !known {
			return "", "", false
		}
		b.WriteRune(to)
	}
	return b.String(), rest, what != ""
}

func pairs(from, to string) map[rune]rune {
	out := map[rune]rune{}
	all := []rune(to)
	for i, r := range []rune(from) {
		out[r] = all[i]
	}
	return out
}

var superscripts = sync.OnceValue(func() map[rune]rune {
	return pairs("0123456789+-=()nixyT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣʸᵀ")
})

var subscripts = sync.OnceValue(func() map[rune]rune {
	return pairs("0123456789+-=()aeijkmnoprtuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₒₚᵣₜᵤᵥₓ")
})

// symbols are the words that have a character.
var symbols = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	words := strings.Fields(`alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ
		sigma σ tau τ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω
		times × cdot · div ÷ pm ± le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ propto ∝ infty ∞ sum ∑ prod ∏ int ∫ partial ∂ nabla ∇
		in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ emptyset ∅ forall ∀ exists ∃ to → rightarrow → leftarrow ← Rightarrow ⇒ iff ⇔ sqrt √ degree ° ldots … dots …
		log log ln ln sin sin cos cos tan tan min min max max lim lim exp exp`)
	for i := 0; i+1 < len(words); i += 2 {
		out[words[i]] = words[i+1]
	}
	return out
})
