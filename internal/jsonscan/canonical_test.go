package jsonscan

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null ] } `:                       `{"a":[true,null],"b":1}`,
		`"\u0041\/\u2020\n\u001f\u007f"`:                              "\"A/†\\n\\u001f\u007f\"",
		`"\ud83d\ude00"`:                                              `"😀"`,
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"😀":5,"\u0080":6,"ö":7}`: "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}", // RFC 8785, 3.2.3
		`{"a":{},"":[]}`:                                              `{"":[],"a":{}}`,
		`[]`:                                                          `[]`,

		`0`: `0`, `-0`: `0`, `0.0e5`: `0`, `1.0`: `1`, `10e-1`: `1`, `1E0`: `1`, `1e+2`: `100`, `-1.50`: `-1.5`,
		`9007199254740993`: `9007199254740993`, `0.1e-5`: `0.000001`, `1e-7`: `1e-7`, `1e21`: `1e+21`,
		`123456789012345678901`: `123456789012345678901`, `1234567890123456789012`: `1.234567890123456789012e+21`,
		`1e20`: `100000000000000000000`, `333333333.33333329`: `333333333.33333329`, `0.000001230`: `0.00000123`,
		`1e99999999999999999999`: `1e99999999999999999999`, `-1e99999999999999999999`: `-1e99999999999999999999`,
	} {
		got := string(Canonical(nil, []byte(in)))
		if got != want {
			t.Errorf("Canonical(%s) = %s, want %s", in, got, want)
		}
		if again := string(Canonical(nil, []byte(got))); again != got {
			t.Errorf("Canonical(%s) = %s: canonical twice is another", got, again)
		}
	}
}

// Where a number is a float64, its canonical form is that of RFC 8785: encoding/json
// writes numbers like ECMAScript, but for the exponent of small ones.
func TestCanonicalNumbersAreThoseOfECMAScript(t *testing.T) {
	for _, f := range []float64{5e-324, math.MaxFloat64, 1e23, 0.1, 1. / 3, 295147905179352830000, 4.35, 1e-6, 123e-9, -42} {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Canonical(nil, text)); got != string(text) {
			t.Errorf("Canonical(%s) = %s", text, got)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x\u0041"],"b":{"c":null}}`, `1e400`, `-0.00120e+3`, `[[{}],{"":""}]`, `{"\ud83d\ude00":1,"\uffff":2}`, `"\\\"\b"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Check(text, Limits{}) != nil {
			return
		}
		got := Canonical(nil, text)
		if err := Check(got, Limits{}); err != nil {
			t.Fatalf("%q becomes %q: %s", text, got, err)
		}
		if again := Canonical(nil, got); string(again) != string(got) {
			t.Fatalf("%q becomes %q, and then %q", text, got, again)
		}
		if !sameValue(decoded(t, text), decoded(t, got)) {
			t.Fatalf("%q becomes another value: %q", text, got)
		}
	})
}

func decoded(t *testing.T, text []byte) (v any) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameValue(a[i], b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		if _, exp, found := strings.Cut(strings.ToLower(string(a)), "e"); found && len(exp) > 5 {
			return ok // beyond what a fraction should be made of
		}
		x, _ := new(big.Rat).SetString(string(a))
		y, _ := new(big.Rat).SetString(string(b))
		return ok && x.Cmp(y) == 0
	}
	return a == b
}

func BenchmarkCanonical(b *testing.B) {
	text := []byte("[" + strings.Repeat(`{"name":"Ada","id":12345.50,"tags":["a","b"],"at":{"y":1,"x":2}},`, 10000) + "null]")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Canonical(nil, text)
	}
}
