package schemas_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

// space is what \s of ECMA-262 matches: WhiteSpace and LineTerminator, §12.2 and §12.3.
const space = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// TestPatternsOfECMA has patterns, what they match and what they don't; the validator and the
// prover must agree.
func TestPatternsOfECMA(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not []string
	}{
		{`^\s$`, strings.Split(space, ""), []string{"a", "\u200b", "\u180e", "\u0085", "\x1c", ""}},
		{`^\S$`, []string{"a", "\u200b", "\u180e", "\u0085", "\x1c", "😀"}, strings.Split(space, "")},
		{`^[\s]$`, strings.Split(space, ""), []string{"s", "\\"}},
		{`^[^\s]$`, []string{"x", "\u200b"}, strings.Split(space, "")},
		{`^[\S]$`, []string{"x", "\u200b"}, strings.Split(space, "")},
		{`^[^\S]$`, strings.Split(space, ""), []string{"x"}},
		{`^[\s\S]$`, append(strings.Split(space, ""), "x", "😀", "\x00", "\U0010ffff"), []string{""}},
		{`^\S+@\S+$`, []string{"a@b"}, []string{"a@\u00a0", "a @b"}},
		{`^[\s-x]$`, []string{"-", "x", "\u3000"}, []string{"y", "!"}},
		{`^[+-\s]$`, []string{"-", "+", " "}, []string{","}},
		{`^[\w-]+$`, []string{"a-b_1"}, []string{"é", " "}},
		{`^.$`, []string{"a", "\u0085", "😀"}, []string{"\n", "\r", "\u2028", "\u2029"}},
		{`^[.]$`, []string{"."}, []string{"a"}},
		{`^\.$`, []string{"."}, []string{"a"}},
		{`(?s)^.$`, []string{"\n"}, []string{""}},
		{`^\u00e9$`, []string{"é"}, []string{"e"}},
		{`^[\u0041-\u0043]$`, []string{"A", "C"}, []string{"D"}},
		{`^\ud83d\ude00$`, []string{"😀"}, []string{"😁"}},
		{`^\u{1F600}$`, []string{"😀"}, []string{"😁"}},
		{`^\cI\0$`, []string{"\t\x00"}, []string{"cI0"}},
		{`^[\b]$`, []string{"\b"}, []string{"b"}},
		{`\bfoo\b`, []string{"a foo."}, []string{"food"}},
		{`^[^]$`, []string{"\n", "a"}, []string{""}},
		{`[]`, nil, []string{"", "]", "a"}},
		{`^[[:alpha:]]$`, []string{"a]", ":]", "[]"}, []string{"b", "a"}},
		{`^\a\_\é\/\-$`, []string{"a_é/-"}, []string{"\x07_é/-"}},
		{`^é[é]$`, []string{"éé"}, []string{"e"}},
		{`^\d\D\w\W$`, []string{"1xa "}, []string{"\u0661xa "}},
	} {
		schema := json.RawMessage(fmt.Sprintf(`{"type":"string","pattern":%s}`, quoted(test.pattern)))
		s, err := schemas.Compile(schema, nil)
		if err != nil {
			t.Fatal(test.pattern, err)
		}
		if w := s.Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", test.pattern, w)
		}
		for i, text := range append(test.yes[:len(test.yes):len(test.yes)], test.not...) {
			value, want := quoted(text), i < len(test.yes)
			if err := s.Validate(value); (err == nil) != want {
				t.Errorf("%s of %s: valid: %v", test.pattern, value, err == nil)
			}
			verdict := schemas.No
			if want {
				verdict = schemas.Yes
			}
			one := mustCompile(t, fmt.Sprintf(`{"enum":[%s]}`, value))
			if got := schemas.Assignable(one, s, nil).Verdict; got != verdict {
				t.Errorf("%s from %s: %v, want %v", test.pattern, value, got, verdict)
			}
		}
	}
}

// TestProverKnowsSpaces has the prover decide about all texts, not one.
func TestProverKnowsSpaces(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     schemas.Verdict
	}{
		{`^\S$`, `^[^\s]$`, schemas.Yes},
		{`^[^\s]$`, `^\S$`, schemas.Yes},
		{`^[\t\n\v\f\r ]$`, `^\s$`, schemas.Yes},
		{`^\s$`, `^[\t\n\v\f\r ]$`, schemas.No},
		{`^\u00a0$`, `^\S$`, schemas.No},
		{`^.$`, `^[\s\S]$`, schemas.Yes},
		{`^[\s\S]$`, `^.$`, schemas.No},
	} {
		from := mustCompile(t, fmt.Sprintf(`{"type":"string","pattern":%s}`, quoted(test.from)))
		to := mustCompile(t, fmt.Sprintf(`{"type":"string","pattern":%s}`, quoted(test.to)))
		if got := schemas.Assignable(from, to, nil).Verdict; got != test.want {
			t.Errorf("%s to %s: %v, want %v", test.from, test.to, got, test.want)
		}
	}
}

// TestPatternsOfMembers has the patterns of members, of a schema and of a part of one.
func TestPatternsOfMembers(t *testing.T) {
	whole := mustCompile(t, `{"properties":{"in":{"patternProperties":{"^\\S+$":{"type":"integer","minimum":1}},"unevaluatedProperties":false}}}`)
	part, err := schemas.Compile(json.RawMessage(`{"patternProperties":{"^\\s~/$":{"patternProperties":{"^\\S$":{"type":"null"}},"unevaluatedProperties":false}}}`),
		&schemas.Options{Pointer: `/patternProperties/^\s~0~1$`})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		schema *schemas.Schema
		value  string
		valid  bool
	}{
		{whole, `{"in":{"a":1}}`, true},
		{whole, `{"in":{"a":0}}`, false},
		{whole, `{"in":{"\u00a0":1}}`, false},
		{whole, `{"in":{"\u200b":1}}`, true},
		{part, `{"a":null}`, true},
		{part, `{"\u00a0":null}`, false},
	} {
		if err := test.schema.Validate(json.RawMessage(test.value)); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.value, err)
		}
	}
}

func quoted(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}
