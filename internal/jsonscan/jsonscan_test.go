package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// checks are texts with the message and the offset of their first fault; none
// for a text that is good.
var checks = []struct {
	text    string
	message string
	offset  int
}{
	{`{}`, "", 0},
	{`[]`, "", 0},
	{` [1, -0, 0.5, 1e9, 1E-2, -12.5e+3] `, "", 0},
	{`{"a": {"a": [{"a": 1}, {"a": 2}]}, "b": "\ud83d\ude00 †"}`, "", 0},
	{`"\"\\\/\b\f\n\r\t\u0041"`, "", 0},
	{`true`, "", 0},
	{"", `found the end of the text, want a value`, 0},
	{"  ", `found the end of the text, want a value`, 2},
	{`[1`, `found the end of the text, want "," or the end of the list or object`, 2},
	{`[1}`, `found "}", want "," or the end of the list or object`, 2},
	{`{"a":1]`, `found "]", want "," or the end of the list or object`, 6},
	{`[1,]`, `found "]", want a value`, 3},
	{`{"a":1,}`, `found "}", want a name in double quotes`, 7},
	{`[,1]`, `found ",", want a value or "]"`, 1},
	{`{1:2}`, `found a number, want a name in double quotes or "}"`, 1},
	{`{"a" 1}`, `found a number, want ":" after a name`, 5},
	{`{"a":}`, `found "}", want a value`, 5},
	{`1 2`, `found a number, want the end of the text`, 2},
	{`]`, `found "]", want a value`, 0},
	{`}`, `found "}", want a value`, 0},
	{`[true false]`, `found false, want "," or the end of the list or object`, 6},
	{`nul`, `"nul" is not JSON`, 0},
	{`nulls`, `"nulls" is not JSON`, 0},
	{`[NaN]`, `"NaN" is not JSON`, 1},
	{`01`, `"01" is not a number in JSON`, 0},
	{`-`, `"-" is not a number in JSON`, 0},
	{`1.`, `"1." is not a number in JSON`, 0},
	{`.5`, `".5" is not JSON`, 0},
	{`1e`, `"1e" is not a number in JSON`, 0},
	{`+1`, `"+1" is not JSON`, 0},
	{`0x10`, `"0x10" is not a number in JSON`, 0},
	{`[1_000]`, `"1_000" is not a number in JSON`, 1},
	{`-Infinity`, `"-Infinity" is not a number in JSON`, 0},
	{`'a'`, `strings are written in double quotes`, 0},
	{"\x00", `'\x00' is not JSON`, 0},
	{"\ufeff[]", `'\ufeff' (U+FEFF) is not JSON`, 0},
	{"[1]\xff", `the byte 0xff is not UTF-8`, 3},
	{"// c\n1", `comments are not JSON`, 0},
	{`"abc`, `the string that starts here is not closed`, 0},
	{`"abc\`, `the string that starts here is not closed`, 0},
	{`["a` + "\n" + `"]`, `the string that starts here is not closed on its line (a line break in it is written \n)`, 1},
	{"\"a\tb\"", `the control character U+0009 in a string is written \u0009`, 2},
	{"\"a\x00b\"", `the control character U+0000 in a string is written \u0000`, 2},
	{`"C:\users"`, `\u wants four hexadecimal digits; a backslash is written \\`, 3},
	{`"a\'b"`, `"\\'" is no escape in JSON; a backslash is written \\`, 2},
	{`"\ud800"`, `\ud800 is half of a surrogate pair`, 1},
	{`"\ude00"`, `\ude00 is half of a surrogate pair`, 1},
	{`"\ud83dxx"`, `\ud83d is half of a surrogate pair`, 1},
	{`"\ud83d\u0041"`, `\ud83d is half of a surrogate pair`, 1},
	{"\"12345678\xff\"", `the byte 0xff is not UTF-8`, 9},
	{"\"\xed\xa0\x80\"", `the byte 0xed is not UTF-8`, 1},
	{`{"a":1,"b":2,"a":3}`, `the name "a" stands twice in one object`, 13},
	{`{"a":1,"\u0061":3}`, `the name "\u0061" stands twice in one object`, 7},
	{`{"†":1,"\u2020":3}`, `the name "\u2020" stands twice in one object`, 9},
	{`[{"a":{"b":1},"b":{"a":1}},{"a":1}]`, "", 0},
}

func TestCheck(t *testing.T) {
	for _, c := range checks {
		err := Check([]byte(c.text), Limits{})
		var e *Error
		switch {
		case err == nil && c.message != "":
			t.Errorf("%q passes, want %q", c.text, c.message)
		case errors.As(err, &e) && (e.Message != c.message || e.Offset != c.offset):
			t.Errorf("%q: %d: %s\nwant %d: %s", c.text, e.Offset, e.Message, c.offset, c.message)
		}
	}
}

func TestDuplicateSaysWhereTheFirstIs(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 100, 5000} {
		var b strings.Builder
		b.WriteString(`[{"other":1},{`)
		first := 0
		for i := range n {
			if i == n/2 {
				first = b.Len()
			}
			fmt.Fprintf(&b, `"n%d":{"n%d":1},`, i, i)
		}
		again := b.Len()
		fmt.Fprintf(&b, `"\u006e%d":0}]`, n/2)
		var e *Error
		if !errors.As(Check([]byte(b.String()), Limits{}), &e) || e.Kind != Duplicate || e.Offset != again || e.Other != first {
			t.Errorf("%d names: %+v, want a duplicate at %d of %d", n, e, again, first)
		}
	}
}

func TestNamesOfManyObjectsWithinOneAnother(t *testing.T) {
	var b strings.Builder
	const depth, width = 40, 40
	for range depth {
		b.WriteString("{")
		for i := range width {
			fmt.Fprintf(&b, `"n%d":{},`, i)
		}
		b.WriteString(`"in":`)
	}
	b.WriteString("0")
	for range depth {
		for i := range width {
			fmt.Fprintf(&b, `,"m%d":[]`, i)
		}
		b.WriteString("}")
	}
	if err := Check([]byte(b.String()), Limits{}); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for _, c := range []struct {
		text []byte
		lim  Limits
		ok   bool
	}{
		{deep(256), Limits{}, true},
		{deep(257), Limits{}, false},
		{deep(100_000), Limits{MaxDepth: 100_000}, true},
		{[]byte("[1]"), Limits{MaxBytes: 3}, true},
		{[]byte("[12]"), Limits{MaxBytes: 3}, false},
		{bytes.Repeat([]byte("["), 100<<20), Limits{}, false},
		{bytes.Repeat([]byte("["), 100<<20), Limits{MaxBytes: 1 << 30}, false},
	} {
		err := Check(c.text, c.lim)
		var e *Error
		if (err == nil) != c.ok || errors.As(err, &e) && e.Kind != Limit {
			t.Errorf("%d bytes under %+v: %v", len(c.text), c.lim, err)
		}
	}
}

func TestHostileNames(t *testing.T) {
	same := []byte("{" + strings.Repeat(`"a":1,`, 200_000) + `"b":1}`)
	var e *Error
	if !errors.As(Check(same, Limits{}), &e) || e.Offset != 7 {
		t.Errorf("200,000 names that are the same: %+v", e)
	}
	var b bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&b, `%c"n%d":1`, "{,"[min(i, 1)], i)
	}
	b.WriteString("}")
	if err := Check(b.Bytes(), Limits{}); err != nil {
		t.Errorf("200,000 names: %v", err)
	}
}

func TestCheckAllocatesNothingForSmallObjects(t *testing.T) {
	text := []byte(`{"a": [{"b": 1.5, "c": "x\n"}, {"b": {"d": null}}], "e": "†state.x"}`)
	if n := testing.AllocsPerRun(100, func() { _ = Check(text, Limits{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLexerWithComments(t *testing.T) {
	for text, want := range map[string]string{
		"// a\n1/* b */,//c":  "a number,\",\",the end of the text",
		"/**/ /*/ */ [/*":     `"[",something that is not JSON`,
		"/ 1":                 "something that is not JSON",
		"1 // a\r2 // †\n":    "a number,a number,the end of the text",
		"/* \xff */1":         "something that is not JSON",
		`"/* no comment */" `: "a string,the end of the text",
	} {
		l := Lexer{Text: []byte(text), Comments: true}
		var got []string
		for tok := l.Next(); ; tok = l.Next() {
			got = append(got, tok.String())
			if tok == EOF || tok == Invalid {
				break
			}
		}
		if s := strings.Join(got, ","); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

func TestManyCommentsNeedNoStack(t *testing.T) {
	l := Lexer{Text: bytes.Repeat([]byte("/**/"), 5_000_000), Comments: true}
	if tok := l.Next(); tok != EOF {
		t.Error(tok)
	}
}

func TestAppendString(t *testing.T) {
	for token, want := range map[string]string{
		`""`:                         "",
		`"a\"\\\/\b\f\n\r\té"`:       "a\"\\/\b\f\n\r\té",
		`"\u2020\ud83d\ude00\uD83D"`: "†😀\ufffd",
		`"C:\Users"`:                 `C:\Users`,
		`"\u12"`:                     `\u12`,
		`'it\'s "x"'`:                `it's "x"`,
	} {
		if got := string(AppendString(nil, []byte(token[1:len(token)-1]))); got != want {
			t.Errorf("%s: %q, want %q", token, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, c := range checks {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := Check(text, Limits{MaxDepth: 10000})
		var e *Error
		if errors.As(err, &e) && (e.Offset < 0 || e.Offset > len(text) || e.Other > len(text)) {
			t.Fatalf("%+v is outside of the text", e)
		}
		valid := json.Valid(text)
		if err == nil && (!valid || !utf8.Valid(text)) {
			t.Fatal("passes, and is no JSON")
		}
		if stricter := e != nil && (e.Kind == Duplicate || strings.Contains(e.Message, "UTF-8") ||
			strings.Contains(e.Message, "surrogate")); err != nil && valid && !stricter {
			t.Fatalf("is JSON, but %v", err)
		}
		if err == nil {
			sameMeaning(t, text)
		}
	})
}

func sameMeaning(t *testing.T, text []byte) {
	var want bytes.Buffer
	if err := json.Compact(&want, text); err != nil {
		t.Fatal(err)
	}
	if got := Compact(nil, text); !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("compact: %s, want %s", got, want.Bytes())
	}
	var s string
	if text[0] == '"' && json.Unmarshal(text, &s) == nil {
		inside := bytes.TrimSpace(text)
		if got := string(AppendString(nil, inside[1:len(inside)-1])); got != s {
			t.Fatalf("says %q, want %q", got, s)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	call := `{"_tool": "fetchUserProfile", "userName": "Alice", "age": 42, "tags": ["a", "b"], "profile": "†state.user.profile", "_outputPath": "†state.userProfileData"}`
	for _, n := range []int{1, 100, 100_000} {
		text := []byte("[" + strings.Repeat(call+",\n  ", n-1) + call + "]")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Check(text, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Compacted gives the text itself when it is compact, and what Compact gives when not.
func TestCompacted(t *testing.T) {
	for text, same := range map[string]bool{
		`1`: true, `"a b"`: true, `{"a \" b":["\\"," "]}`: true, `["\\\" ",1]`: true, `[]`: true,
		` 1`: false, `1 `: false, `{"a" :1}`: false, `["\\\\" ,1]`: false, "[1,\n2]": false,
	} {
		got := Compacted([]byte(text))
		if want := Compact(nil, []byte(text)); string(got) != string(want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if len(got) == len(text) != same {
			t.Errorf("%s: %s", text, got)
		}
		if checked, err := Compacting([]byte(text), Limits{}); err != nil || string(checked) != string(got) {
			t.Errorf("%s: checked %s, %v", text, checked, err)
		}
	}
	for _, text := range []string{``, ` `, `{`, `[1,]`, `{"a":1,"a":2}`, `1 2`} {
		if _, err := Compacting([]byte(text), Limits{}); err == nil {
			t.Errorf("%q is no JSON", text)
		}
	}
	if _, err := Compacting([]byte(`[1]`), Limits{MaxBytes: 2}); err == nil {
		t.Error("a text over the limit was taken")
	}
}
