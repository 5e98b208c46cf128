package jsonscan

import (
	"encoding/json"
	"math"
	"testing"
)

func TestEncode(t *testing.T) {
	for _, test := range []struct {
		v    any
		want string
	}{
		{"<a> && \u2020 \"b\"\n", `"<a> && † \"b\"\n"`},
		{json.RawMessage(` { "a" : 1.0, "b<": [ ] } `), `{"a":1.0,"b<":[]}`},
		{map[string]any{"b": 1, "a": nil}, `{"a":null,"b":1}`},
		{json.RawMessage(nil), `null`},
	} {
		if got := string(Encode(test.v)); got != test.want {
			t.Errorf("%v: %s, want %s", test.v, got, test.want)
		}
	}
	for _, v := range []any{math.NaN(), json.RawMessage(`{`), func() {}} {
		if got, err := Marshal(v); err == nil {
			t.Errorf("%v: %s", v, got)
		}
	}
}
