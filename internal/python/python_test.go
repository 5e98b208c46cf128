package python

import "testing"

func TestRepr(t *testing.T) {
	for text, want := range map[string]string{
		"":                `''`,
		"a b":             `'a b'`,
		"it's":            `"it's"`,
		`"both" 'kinds'`:  `'"both" \'kinds\''`,
		`a\b`:             `'a\\b'`,
		"a\n\r\t\x00\x7f": `'a\n\r\t\x00\x7f'`,
		"é†\u200b":        `'é†\u200b'`,
		"\U000e0001":      `'\U000e0001'`,
	} {
		if got := Repr(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if got := List([]string{"a", "it's"}); got != `['a', "it's"]` {
		t.Error(got)
	}
}

func TestPrint(t *testing.T) {
	const value = `{"a": [1.50, true, null, "it's é†"], "b": {}, "c": [], "d": "x\n\u0001\ud83d\ude00"}`
	for name, c := range map[string]struct{ got, want string }{
		"str":           {Str([]byte(value)), `{'a': [1.50, True, None, "it's é†"], 'b': {}, 'c': [], 'd': 'x\n\x01😀'}`},
		"str of a text": {Str([]byte(`"it's"`)), `it's`},
		"str of none":   {Str(nil), `None`},
		"dumps":         {Dumps([]byte(value), false, false), `{"a": [1.50, true, null, "it's é†"], "b": {}, "c": [], "d": "x\n\u0001😀"}`},
		"ascii":         {Dumps([]byte(value), false, true), `{"a": [1.50, true, null, "it's \u00e9\u2020"], "b": {}, "c": [], "d": "x\n\u0001\ud83d\ude00"}`},
		"indent":        {Dumps([]byte(`{"a":[1,{"b":2}],"c":{}}`), true, true), "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": {}\n}"},
		"no JSON":       {Dumps([]byte(`[1,`), true, true), `[1,`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}

func TestTruthy(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "null": false, "false": false, "true": true, `""`: false, `" "`: true, "0": false, "-0.0e3": false, "0.1": true,
		"-1": true, "1e999": true, "[]": false, "[ ]": false, "[0]": true, "{}": false, "{\n}": false, ` {"a":0} `: true,
	} {
		if got := Truthy([]byte(value)); got != want {
			t.Errorf("%s is %v", value, got)
		}
	}
}

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{{0, ""}, {1, "é"}, {2, "éa"}, {3, "éa†"}, {4, "éa†"}} {
		if got := First("éa†", c.n); got != c.want {
			t.Errorf("%d: %q", c.n, got)
		}
	}
}
