package agentframework_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/loop/agentframework"
)

func refs(t testing.TB, warned *[]string) *agentframework.References {
	return &agentframework.References{
		InvocationParameters: values(t, `{"player_id":"42","fetch":"a parameter"}`),
		StepResults:          values(t, `{"fetch":{"content":"hello","items":["a",{"b":1.50}],"0":"zero","t":true,"n":null,"q":"it's","o":{"x":[1]}},"s":"text","list":[[1],[2]]}`),
		RunID:                "r", AgentID: "a", StepID: "s", Warn: func(w string) { *warned = append(*warned, w) },
	}
}

// values are the members of an object.
func values(t testing.TB, object string) *agentframework.Values {
	v := &agentframework.Values{}
	if err := json.Unmarshal([]byte(object), v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestResolver(t *testing.T) {
	for _, test := range []struct {
		value, want string
		warning     string // "" is none; strict then is the same
	}{
		// A whole text keeps the type.
		{`"{{fetch.content}}"`, `"hello"`, ""},
		{`" {{ fetch.content }} "`, `"hello"`, ""},
		{`"{{fetch.o}}"`, `{"x":[1]}`, ""},
		{`"{{fetch.items.1.b}}"`, `1.50`, ""},
		{`"{{fetch.items.00}}"`, `"a"`, ""},
		{`"{{fetch.0}}"`, `"zero"`, ""},
		{`"{{list.1.0}}"`, `2`, ""},
		{`"{{fetch.t}}"`, `true`, ""},
		{`"{{fetch.n}}"`, `null`, ""},
		{`"{{player_id}}"`, `"42"`, ""},
		// Parts of texts.
		{`"id={{player_id}}"`, `"id=42"`, ""},
		{`"{{fetch.t}},{{fetch.n}},{{fetch.items.1.b}}"`, `"true,null,1.50"`, ""},
		{`"{{fetch.o}} {{fetch.items}} {{fetch.q}}"`, `"{\"x\":[1]} [\"a\",{\"b\":1.50}] it's"`, ""},
		{`"{{s}}{{s}}"`, `"texttext"`, ""},
		// All places but the names of members; other values stay as they are.
		{`{"{{s}}":["{{s}}",{"a":"{{s}}"}],"n":1.0e3,"b":false,"z":null}`, `{"{{s}}":["text",{"a":"text"}],"n":1.0e3,"b":false,"z":null}`, ""},
		{`"plain <b>"`, `"plain <b>"`, ""}, {`""`, `""`, ""}, {`"{ {s} }"`, `"{ {s} }"`, ""},
		// What leads nowhere.
		{`"{{nobody}}"`, `""`, "step_reference: token {{nobody}} not found — resolving to empty string (run_id=r, agent_id=a, step_id=s)"},
		{`{"a":[0,"x{{nobody}}y"]}`, `{"a":[0,"xy"]}`, "step_reference: token {{nobody}} not found — resolving to empty string (run_id=r, agent_id=a, step_id=s, path=a[1])"},
		{`"{{fetch.items.2}}"`, `""`, "step_reference: token {{fetch.items.2}} — list index 2 out of range (length=2) — resolving to empty string"},
		{`"{{fetch.items.99999999999999999999}}"`, `""`, "step_reference: token {{fetch.items.99999999999999999999}} — list index 99999999999999999999 out of range (length=2)"},
		{`"{{fetch.items.a}}"`, `""`, "step_reference: token {{fetch.items.a}} — cannot traverse segment 'a' into list"},
		{`"{{fetch.gone}}"`, `""`, "step_reference: token {{fetch.gone}} — key 'gone' not found in dict at this traversal level"},
		{`"{{s.x}}"`, `""`, "step_reference: token {{s.x}} — cannot traverse segment 'x' into str"},
		{`"{{fetch.n.x}}"`, `""`, "step_reference: token {{fetch.n.x}} — cannot traverse segment 'x' into NoneType"},
		// What is no reference.
		{`"{{0.x}}"`, `"{{0.x}}"`, "step_reference: string at path '' still contains unresolved {{…}} after substitution — check token syntax (run_id=r, agent_id=a, step_id=s): '{{0.x}}'"},
		{`"{{a-b}}"`, `"{{a-b}}"`, "step_reference: string"}, {`"{{}}"`, `"{{}}"`, "step_reference: string"},
		{`"{{list[0]}} {{s}}"`, `"{{list[0]}} text"`, "step_reference: string"},
		{`"{{{{s}}}}"`, `"{{text}}"`, "step_reference: string"},
	} {
		var warned []string
		got, err := agentframework.Resolver{}.Resolve(json.RawMessage(test.value), refs(t, &warned))
		if err != nil || string(got) != test.want {
			t.Errorf("%s is %s, %v; want %s", test.value, got, err, test.want)
		}
		if len(warned) > 0 != (test.warning != "") || len(warned) > 0 && !strings.HasPrefix(warned[0], test.warning) {
			t.Errorf("%s: warned %q; want %q", test.value, warned, test.warning)
		}
		_, err = agentframework.Resolver{Strict: true}.Resolve(json.RawMessage(test.value), refs(t, &warned))
		if err != nil != (test.warning != "") || err != nil && !strings.HasPrefix(err.Error(), strings.Replace(test.warning, " — resolving to empty string", "", 1)) {
			t.Errorf("strict, %s: %v", test.value, err)
		}
	}
}

// What was put in is not looked at again.
func TestResolverOnce(t *testing.T) {
	known := &agentframework.References{InvocationParameters: &agentframework.Values{}, StepResults: values(t, `{"a":"{{b}}","b":"secret","c":["{{b}}"]}`)}
	for value, want := range map[string]string{`"{{a}}"`: `"{{b}}"`, `"x {{a}}"`: `"x {{b}}"`, `"{{c}}"`: `["{{b}}"]`} {
		if got, err := (agentframework.Resolver{}).Resolve(json.RawMessage(value), known); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v", value, got, err)
		}
	}
}

func FuzzResolver(f *testing.F) {
	for _, s := range []string{`"{{fetch.items.0}}"`, `{"a":["x {{s}} {{nobody.x}}"]}`, `"{{{s}}}"`, `"{{s}"`, `[[["{{ fetch }}"]]]`, `"\ud800{{s}}"`, "\"{{\xff}}\"", `{"a":1,"a":"{{s}}"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) {
			return
		}
		var warned []string
		got, err := agentframework.Resolver{}.Resolve(value, refs(t, &warned))
		if err != nil || !json.Valid(got) {
			t.Errorf("%s is %s, %v", value, got, err)
		}
		strict, err := agentframework.Resolver{Strict: true}.Resolve(value, refs(t, &[]string{}))
		if (err == nil) != (len(warned) == 0) || err == nil && !slices.Equal(strict, got) {
			t.Errorf("strict is %s, %v, where %q", strict, err, warned)
		}
	})
}

func BenchmarkResolver(b *testing.B) {
	value := json.RawMessage(`{"a":"{{fetch.items.1.b}}","list":[` + strings.TrimSuffix(strings.Repeat(`"some text {{s}} and more",`, 100), ",") + `]}`)
	var warned []string
	known := refs(b, &warned)
	b.ReportAllocs()
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if _, err := (agentframework.Resolver{}).Resolve(value, known); err != nil {
			b.Fatal(err)
		}
	}
}
