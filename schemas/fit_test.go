package schemas

import "testing"

func TestFit(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     Fit
	}{
		{`{"type":"integer"}`, `{"type":"number"}`, Fits},
		{`{"type":"string"}`, `{"type":"number"}`, NeverFit},
		{`{"type":"number"}`, `{"type":"integer"}`, Unsure},
		{`{"type":"string"}`, `{"enum":["a","b"]}`, Unsure},
		{`{"enum":["a","b"]}`, `{"enum":["c","d"]}`, NeverFit},
		{`{"enum":["a","b"]}`, `{"enum":["b","c"]}`, Unsure},
		{`{"type":["string","null"]}`, `{"type":"string"}`, Unsure},
		{`{}`, `{"type":"string"}`, Unsure},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"number"}}`, NeverFit},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"minItems":1}`, Unsure},
		{`{"type":"array","maxItems":0,"items":{"type":"string"}}`, `{"type":"array","items":{"type":"number"}}`, Fits},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"number"}}}`, NeverFit},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"required":["a"]}`, Unsure},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"required":["b"]}`, NeverFit},
		{`{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}}}}`, `{"properties":{"l":{"items":{"type":"number"}}}}`, NeverFit},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"kid":{"$ref":"#/$defs/t"},"n":{"type":"string"}}}}}`, `{"properties":{"n":{"type":"number"}}}`, NeverFit},
		{`{"type":"integer","minimum":5}`, `{"type":"integer","maximum":4}`, NeverFit},
	} {
		from, err := Compile([]byte(c.from), nil)
		if err != nil {
			t.Fatal(err)
		}
		to, err := Compile([]byte(c.to), nil)
		if err != nil {
			t.Fatal(err)
		}
		var r Relation
		if got, a := r.Fit(from, to); got != c.want {
			t.Errorf("%s → %s: %d (%s), want %d", c.from, c.to, got, a.Reason, c.want)
		}
	}
}
