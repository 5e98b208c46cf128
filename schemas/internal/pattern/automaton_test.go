package pattern

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/plc-lang/plc/schemas/internal/value"
)

// runs reports whether the automaton of a pattern accepts a text.
func runs(prog *syntax.Prog, neg bool, text string) bool {
	free := func(int) bool { return true }
	p := &Pattern{prog: prog}
	reps, _ := Classes([]*Pattern{p}, []rune(text), free)
	a := NewAutomaton(p, neg, reps, free)
	state := int32(0)
	for _, r := range text {
		state = a.Step(state, slices.Index(reps, r)) // each rune of the text is a class of its own
		if a.Dead(state) {
			return false
		}
	}
	return a.Accepts(state)
}

// The automaton of a pattern and the regexp package agree.
func FuzzAutomaton(f *testing.F) {
	for _, pattern := range []string{
		"", "a", "^a", "a$", "^a$", "^(a|b)*c$", `\bfoo\b`, `\Bo`, "(?i)straße", "(?m)^b$", "(?s)a.b", "a.b", `^\d{3}-\w+$`,
		`\p{Lu}`, "[^a-c]", "(a?){5}a{5}", "x*", "^$", `\Aab\z`, "(?i)k", "a|^b|c$", `[\x{1F600}-\x{1F64F}]`,
	} {
		for _, text := range []string{"", "a", "b", "ab", "abc", "foo", "a foo b", "oo", "STRASSE", "a\nb", "b\n", "123-x", "Ä", "aaaaa", "\u212a", "😀"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := regexp.Compile(pattern)
		if err != nil || !utf8.ValidString(text) || len(pattern) > 100 || len(text) > 100 {
			return
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil || len(prog.Inst) > 2000 {
			return
		}
		want := re.MatchString(text)
		if runs(prog, false, text) != want || runs(prog, true, text) == want {
			t.Errorf("%q on %q: regexp says %v", pattern, text, want)
		}
	})
}

// The automaton that matches long texts agrees with RE2.
func TestAutomatonMatch(t *testing.T) {
	for _, pattern := range []string{`^a+$`, `\bfoo\b`, `(?i)k+é`, `^$`, `x*$`, `(ab|a)(c|bcd)(d*)`, `[^\n]{3}\n`, `\w+\.`, `(?s).\z`, `^.{2,4}$`} {
		p, err := Compile(pattern, MaxInsts)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "a", "aaa", "foo bar", "a foo", "KK\u00c9", "abcd", "x\n", "xyz\n", "a.b", "\U0001F600\u00e9\u00e9", "日本"} {
			got, _ := p.MatchSlowly(text)
			if want := value.VerdictOf(p.re.MatchString(text)); got != want {
				t.Errorf("%s on %q: %d, want %d", pattern, text, got, want)
			}
		}
	}
}
