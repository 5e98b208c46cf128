package jq_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/builtin/jq"
)

// ask runs a query; its error is "" or "code: message".
func ask(t testing.TB, query, value string) (result, fault string) {
	t.Helper()
	q, err := json.Marshal(query)
	if err != nil {
		t.Fatal(err)
	}
	res, err := jq.Tool().Activity.Call(t.Context(), &tool.Request{
		Params: json.RawMessage(`{"query":` + string(q) + `,"value":` + value + `,"args":{"limit":2}}`),
	})
	if err != nil {
		var e *tool.Error
		if !errors.As(err, &e) || !e.Permanent {
			t.Fatalf("%s: %v", query, err)
		}
		return "", e.Error()
	}
	return string(res.Value), ""
}

// queries are queries of all kinds, on shop.
var queries = []struct{ query, want string }{
	{".", shop},
	{".items[0].name", `"pen"`},
	{"[.items[] | select(.price > $limit) | .name]", `["book"]`},
	{".items | map(.price * 2)", `[3,24]`},
	{"[.items[].price] | add", "13.5"},
	{".items | group_by(.price > 3) | map(length)", "[1,1]"},
	{".big", "12345678901234567890123"},
	{".big + 1", "12345678901234567890124"},
	{"(.items[] | select(.name == \"pen\") | .price) |= . + 1 | .items[0].price", "2.5"},
	{".items[0].price *= 4 | .items[0].price", "6"},
	{".items[1:] | length", "1"},
	{"del(.items) | keys", `["big","tags"]`},
	{"[paths(type == \"number\")] | length", "3"},
	{"to_entries | map(.key)", `["big","items","tags"]`},
	{"[limit(3; range(10))]", "[0,1,2]"},
	{"first(.items[] | select(.price > 100)) // null", "null"},
	{"reduce .items[] as $i (0; . + $i.price)", "13.5"},
	{"[foreach .items[] as {price: $p} (0; . + $p)]", "[1.5,13.5]"},
	{".items[] as {name: $n} ?// [$n] | select($n == \"pen\") | $n", `"pen"`},
	{"def f(x): x * x; f(3)", "9"},
	{"def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 20 | fac", "2432902008176640000"},
	{`"\(.items[0].name)s: \(.items | length)"`, `"pens: 2"`},
	{`@csv "\(.tags)"`, `"\"a\",\"b\""`},
	{`.tags | join("-")`, `"a-b"`},
	{`"ab" * 3`, `"ababab"`},
	{"[[1,2],[3]] | transpose", "[[1,3],[2,null]]"},
	{"[.[]? | numbers]", "[12345678901234567890123]"},
	{"try error(\"x\") catch .", `"x"`},
	{"label $out | 1, break $out", "1"},
	{"{a: 1, (.tags[0] + \"b\"): 2, \"c\\(1)\": 3} | length", "3"},
	{"[.items[] | {name}] | last.name", `"book"`},
	{"path(.items[0].price)", `["items",0,"price"]`},
	{"walk(if type == \"number\" then 0 else . end) | .big", "0"},
	{`.tags | index("b")`, "1"},
	{`"a1b22" | [scan("[0-9]+")]`, `["1","22"]`},
	{`with_entries(select(.key == "tags"))`, `{"tags":["a","b"]}`},
	{"{} * {a: {b: 1}} * {a: {c: 2}}", `{"a":{"b":1,"c":2}}`},
	{`[.items[] | .name |= ascii_upcase | .name]`, `["PEN","BOOK"]`},
	{"input_line_number?", ""},
}

const shop = `{"big":12345678901234567890123,"items":[{"name":"pen","price":1.5},{"name":"book","price":12}],"tags":["a","b"]}`

// Queries mean what they mean to the library: that they pay for their steps does not show.
func TestQueries(t *testing.T) {
	for _, c := range queries {
		got, fault := ask(t, c.query, shop)
		if got != c.want || (fault == "") != (c.want != "") {
			t.Errorf("%s: %s %s, want %s", c.query, got, fault, c.want)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{".items[", "bad-params: query: unexpected EOF"},
		{".items[]", "query: the query gives more than one value"},
		{"empty", "query: the query gives no value"},
		{".tags.x", "query: expected an object"},
		{"now", "bad-params: query: now is not to be had here"},
		{"input", "bad-params"},
		{"env", "bad-params"},
		{"$ENV.PATH", "bad-params"},
		{`import "a" as a; 1`, "bad-params: query: there are no modules"},
		{`include "a"; 1`, "bad-params: query: there are no modules"},
		{"_plc_pay", "bad-params"},
		{"def _plc_pay: .; 1", "bad-params"},
		{"$nothing", "bad-params: query: variable not defined: $nothing"},
		{"nan", ""},
		{"error", "query: "},
		{"halt", "bad-params"},
	} {
		got, fault := ask(t, c.query, shop)
		if !strings.HasPrefix(fault, c.want) || got != "" && c.want != "" {
			t.Errorf("%s: %s %s, want %s", c.query, got, fault, c.want)
		}
	}
}

// What would take all memory, or no end, is refused.
func TestBounds(t *testing.T) {
	queries := []string{
		`reduce range(60) as $i ("x"; . + .)`,
		`reduce range(60) as $i ([1]; . + .)`,
		`reduce range(60) as $i (1; [., .])`,
		`(reduce range(60) as $i (1; [., .])) as $x | $x == $x`,
		`reduce range(60) as $i (1; {a: ., b: .}) | tojson`,
		`reduce range(100) as $i (3; . * .)`,
		`"x" * 1e9`,
		`1e9 * "x"`,
		`"x" | . *= 1e9`,
		`"x" as $x | [range(1e4)] | map($x * 1e6)`,
		`[range(1e9)]`,
		`[repeat(1)]`,
		`last(range(1e12))`,
		`until(false; .)`,
		`def f: f; f`,
		`def f: 1 + f; f`,
		`range(1e12) | empty`,
		`reduce range(1e6) as $i (1; [.])`,
		`([range(1e5) | "x"] | join("x" * 1e6))`,
		`("x" * 1e6) | gsub(""; "y" * 1e6)`,
		`"x" | ascii_downcase | [., .] | combinations(60)`,
		`[splits("";"x")] | last(recurse(.))`,
	}
	if effort.Long() {
		queries = append(queries,
			`("x" * 6e3) | gsub(""; "y" * 1e6)`, // 9 s: sub adds each piece to all before it
			`("x" * 6e4) | gsub(""; "y" * 1e6)`,
			`last(repeat(1))`,
			`("x" * 6e3) | gsub(""; "y" * 3e7)`,
			`[.[]?, (range(1e9))] | add`,
			`def f: [f]; f`,
			`[range(1e9) | {a: .}]`,
			`{} | {(range(1e9) | tostring): 1} | empty`,
			`[[range(1e5)], (range(1e5) | [])] | transpose`,
			`[limit(1e9; repeat("xxxxxxxx"))] | length`,
		)
	}
	for _, query := range queries {
		if got, fault := ask(t, query, "null"); fault == "" || got != "" {
			t.Errorf("%s: %.60s", query, got)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := jq.Tool().Activity.Call(ctx, &tool.Request{Params: json.RawMessage(`{"query":"[range(100)]","value":1}`)})
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != "cancelled" {
		t.Error(err)
	}
}

// FuzzQuery: a query that ends gives what it gives without an account, and none takes the
// process with it.
func FuzzQuery(f *testing.F) {
	for _, c := range queries {
		f.Add(c.query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := gojq.Parse(query)
		got, fault := ask(t, query, shop)
		if err != nil || fault != "" || len(query) > 60 {
			return
		}
		var v any
		dec := json.NewDecoder(strings.NewReader(shop))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		code, err := gojq.Compile(q, gojq.WithVariables([]string{"$limit"}))
		if err != nil {
			t.Fatalf("%s gave %s: %v", query, got, err)
		}
		want, _ := code.Run(v, 2).Next()
		text, err := gojq.Marshal(want)
		if err != nil || string(text) != got {
			t.Errorf("%s: %s, want %s (%v)", query, got, text, err)
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	items := strings.Repeat(`{"name":"pen","price":1.5},`, 1000)
	params := json.RawMessage(`{"query":"[.[] | select(.price > 1) | .name]","value":[` + items[:len(items)-1] + `]}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(params)))
	for b.Loop() {
		if _, err := jq.Tool().Activity.Call(b.Context(), &tool.Request{Params: params}); err != nil {
			b.Fatal(err)
		}
	}
}
