package lang

import "testing"

func TestExprString(t *testing.T) {
	tests := []struct{ text, want string }{
		{" †state ", "†state"},
		{`†state['a']["odd name"][0][*].1`, `†state.a["odd name"][0][*].1`},
		{`†state["1"]["01"]["-1"][""]`, `†state["1"].01.-1[""]`},
		{`†state["\u0041é"]['\ud83d\ude42']`, "†state.Aé.🙂"},
		{`†state['a"b\\\n\u0001\'']`, `†state["a\"b\\\n\u0001'"]`},
		{"†state[01][-0]", "†state[1][0]"},
		{"(†a)||((†b))", "†a || †b"},
		{"†a || (†b || †c)", "†a || †b || †c"},
		{"(†a||†b)&&(†c)", "(†a || †b) && †c"},
		{"†a <|> †b || †c", "†a <|> †b <|> †c"},
		{"(†a *> †b) || †c", "(†a *> †b) || †c"},
		{`†a || "en"`, "†a || 'en'"},
		{`†a || 'it\'s'`, `†a || "it's"`},
		{`†a || 'it\'s "so"'`, `†a || "it's \"so\""`},
		{`†a || '\/\u002f\b\f\n\r\t\u001f\\'`, `†a || '//\b\f\n\r\t\u001f\\'`},
		{"†a || 1.50E+03 || -0 || null", "†a || 1.50E+03 || -0 || null"},
	}
	for _, test := range tests {
		e, err := ParseRead(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		} else if got := e.String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestSegmentString(t *testing.T) {
	tests := []struct {
		segment Segment
		want    string
	}{
		{Segment{Name: "a"}, ".a"},
		{Segment{Name: "odd name"}, `["odd name"]`},
		{Segment{Kind: Number, Index: 1, Name: "1"}, ".1"},
		{Segment{Name: "1"}, `["1"]`},
		{Segment{Kind: Index, Index: -1}, "[-1]"},
		{Segment{Kind: Star}, "[*]"},
	}
	for _, test := range tests {
		if got := test.segment.String(); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.segment, got, test.want)
		}
	}
}
