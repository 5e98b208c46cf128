package approval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// changes is how many changes TestEveryChangeIsRefused makes; more with
// go test ./approval -args -changes 10000.
var changes = flag.Int("changes", effort.Of(40, 300), "changes between approving and running that are tried")

// given is what a run is given.
type given struct{ plan, tools, input, state, flags string }

func (g *given) parts() []*string { return []*string{&g.plan, &g.tools, &g.input, &g.state, &g.flags} }

// examples are plans with what they run with: one that has a bit of everything, and those
// of the conformance cases.
func examples(t testing.TB) []given {
	all := []given{{
		plan: `{"context": [{"type": "state", "state": {"seen": [1, 2.50]}, "schema": {"type": "object", "properties": {"seen": {"type": "array"}}}}, {"type": "text", "text": "be careful"}],
			"schema": {"type": "object"},
			"solution": {"calls": [
				{"_tool": "fetch", "_id": "f", "user": "†input.user", "opts": {"deep": [true, null, "a †{input.user} b ††{c}"]}, "_outputPath": "†state.user", "_retry": {"max": 2, "delay": "1s", "on": ["busy"]}, "_timeout": 5},
				{"_tool": "pay", "amount": 12.5, "to": "†state.user.email || 'nobody'", "_outputPath": "†state.receipt || †state.error", "_approve": "it costs", "_description": "pays", "_expect": {"type": "object"}, "_when": "†state.user", "_fallback": {"_tool": "fetch", "user": "x"}, "_onFailure": "skip"},
				{"_tool": "note", "text": "†state.error.message", "_dependsOn": ["f"], "_outputMethod": "push", "_outputPath": "†state.notes", "_scopes": ["state.seen"], "_estimatedTokens": 10, "_reasoningForCall": "so that it is known"}],
				"output": {"r": "†state.receipt", "all": [1, "†{state.user.name}!"]}}}`,
		tools: `{"tools": {"fetch": {"description": "gets", "properties": {"user": {"type": "string", "maxLength": 40}, "opts": {"type": "object"}}, "effects": {"readOnly": true}},
			"pay": {"properties": {"amount": {"type": "number", "maximum": 1000}, "to": {"type": "string"}, "_output": {"type": "object"}}, "required": ["amount"], "effects": {"destructive": true, "domain": "money"}},
			"note": {"properties": {"text": {"type": "string"}}}},
			"activities": {"fetch": {"http": {"url": "https://api.example/{user}", "headers": {"X-Key": {"env": "KEY"}}}, "timeout": "3s"},
			"pay": {"process": {"command": ["pay", "--to={to}"], "env": {"A": "b"}, "okExit": [3]}}, "note": {"return": {"ok": true}, "after": "1ms"}},
			"limits": {"pay": {"parallel": 1, "perSecond": 2.5}}}`,
		input: `{"user": "Ada", "unused": {"deep": [1, {"x": "y"}]}}`, state: `{"other": 1, "list": ["a", {"b": null}]}`,
		flags: `{"effects": "declared", "refs": "strict", "max-steps": 0}`,
	}}
	names, err := filepath.Glob("../testdata/conformance/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c struct{ Files map[string]json.RawMessage }
		if json.Unmarshal(text, &c) != nil || c.Files["plan.json"] == nil || c.Files["plan.json"][0] == '"' {
			continue
		}
		g := given{
			plan: string(c.Files["plan.json"]), tools: string(c.Files["tools.json"]),
			input: string(c.Files["input.json"]), state: string(c.Files["state.json"]), flags: `{"effects": "none"}`,
		}
		for _, p := range g.parts() {
			if *p == "" || *p == "null" {
				*p = "{}"
			}
		}
		if _, ok := g.manifest(); ok && json.Valid([]byte(g.plan)) {
			all = append(all, g)
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d examples", len(all))
	}
	return all
}

// manifest is what would execute; ok is false when the plan has errors, so that nothing would.
func (g *given) manifest() (m report.Manifest, ok bool) {
	f, findings := file.Read(diag.NewFile("tools.json", []byte(g.tools)))
	f.Secrets = &file.Secrets{LookupEnv: func(string) (string, bool) { return "secret", true }, ReadFile: func(string) ([]byte, error) { return nil, nil }}
	cat, policy, more := file.Catalogue(f)
	doc, faults := lang.Parse(diag.NewFile("plan.json", []byte(g.plan)), nil)
	opts := &compile.Options{Catalogue: cat, Allow: policy.Allow, Deny: policy.Deny, Values: map[string]compile.Given{
		"input": {JSON: json.RawMessage(strings.TrimSpace(g.input))}, "state": {JSON: json.RawMessage(strings.TrimSpace(g.state))},
	}}
	prog, wrong := compile.Compile(doc, opts)
	if slices.Concat(findings, more, faults, wrong).HasErrors() {
		return nil, false
	}
	policyText, err := json.Marshal(policy)
	if err != nil {
		panic(err)
	}
	return report.Of(prog, map[string]json.RawMessage{"flags": json.RawMessage(g.flags), "policy": policyText}), true
}

// approved is an approval of what is given.
func approved(t testing.TB, g *given) *approval.File {
	m, ok := g.manifest()
	if !ok {
		t.Fatalf("the example has errors: %s", g.plan)
	}
	f := approval.Request("plan.json", m, now)
	if err := f.Approve("ada", now); err != nil {
		t.Fatal(err)
	}
	return f
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// TestEveryChangeIsRefused changes one leaf or one name, each there is, of the plan, the
// tools, the input, the state or the flags between approving and running.
func TestEveryChangeIsRefused(t *testing.T) {
	all := examples(t)
	tried, broken := 0, 0
	for round := 0; tried < *changes; round++ {
		before := tried
		for i := range all {
			if tried >= *changes {
				break
			}
			f := approved(t, &all[i])
			for part := range all[i].parts() {
				texts := mutations(*all[i].parts()[part], round)
				for _, text := range texts {
					changed := all[i]
					*changed.parts()[part] = text
					m, ok := changed.manifest()
					if !ok {
						broken++ // it does not run at all
						continue
					}
					tried++
					if err := f.Allows(m, now); err == nil {
						t.Errorf("a change is not refused:\n%s\n%s", *all[i].parts()[part], text)
					} else if r := new(approval.Refusal); !errors.As(err, &r) || len(r.Differences) == 0 {
						t.Errorf("nothing differs: %v\n%s", err, text)
					}
				}
			}
		}
		if tried == before {
			t.Fatalf("only %d changes could be made", tried)
		}
	}
	t.Logf("%d changes refused, and %d that are no plan", tried, broken)
}

// mutations are texts that differ in one leaf or name; another round makes other ones.
func mutations(text string, round int) (out []string) {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	show := func() {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err)
		}
		out = append(out, b.String())
	}
	each(&v, round, show)
	return out
}

// each calls f for each change of one place in a value, with the change made.
func each(at *any, round int, f func()) {
	was := *at
	try := func(v any) { *at = v; f(); *at = was }
	mark := strings.Repeat("x", round+1)
	switch v := was.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(mapsKeys(v)) {
			member := v[name]
			each(&member, round, func() { old := v[name]; v[name] = member; f(); v[name] = old })
			delete(v, name)
			f()
			v[name+mark] = member
			f()
			delete(v, name+mark)
			v[name] = member
		}
		v["new"+mark] = json.Number(strconv.Itoa(round))
		f()
		delete(v, "new"+mark)
	case []any:
		for i := range v {
			element := v[i]
			each(&element, round, func() { old := v[i]; v[i] = element; f(); v[i] = old })
			try(slices.Delete(slices.Clone(v), i, i+1))
		}
		try(append(slices.Clone(v), json.Number(strconv.Itoa(round))))
	case string:
		try(v + mark)
		try(mark + v)
		try(json.Number(strconv.Itoa(round)))
	case json.Number:
		n, err := strconv.ParseFloat(string(v), 64)
		if err == nil {
			try(json.Number(fmt.Sprint(n + float64(round+1))))
		}
		try(json.Number(string(v) + map[bool]string{true: "0001", false: ".0001"}[strings.Contains(string(v), ".")]))
		try(string(v))
	case bool:
		try(!v)
		try(nil)
	case nil:
		try(false)
		try(json.Number(strconv.Itoa(round)))
	}
}

func mapsKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestNoFormatIsRefused writes the same in other ways: white space, comments, the order of
// members, the spelling of strings, and in the file of the approval that of numbers.
func TestNoFormatIsRefused(t *testing.T) {
	all := examples(t)
	for n := range max(150, *changes/10) {
		g := all[n%len(all)]
		draw := rand.New(rand.NewPCG(uint64(n), 1))
		changed := g
		for i, p := range changed.parts() {
			*p = reformat(*p, draw, i == 0, true)
		}
		m, ok := changed.manifest()
		if !ok {
			t.Fatalf("not a plan any more:\n%s\n%s", g.plan, changed.plan)
		}
		if err := approved(t, &g).Allows(m, now); err != nil {
			r := &approval.Refusal{}
			errors.As(err, &r)
			t.Fatalf("refused: %v %v\n%s\n%s", err, r.Differences, g.plan, changed.plan)
		}
		text := reformat(string(approved(t, &g).JSON(nil)), draw, false, false)
		f, err := approval.Read([]byte(text), nil)
		if err == nil {
			err = f.Allows(m, now)
		}
		if err != nil {
			t.Fatalf("the file: %v", err)
		}
	}
}

// reformat spells a JSON text otherwise: with comments, where they may stand, and with
// numbers as they are, when tools are given their text.
func reformat(text string, draw *rand.Rand, comments, whole bool) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	w := &rewriter{draw: draw, comments: comments, whole: whole}
	w.value(v)
	return w.String()
}

type rewriter struct {
	strings.Builder
	draw     *rand.Rand
	comments bool
	whole    bool
}

func (w *rewriter) space() {
	w.WriteString([]string{"", "", " ", "\n", "\t\r\n "}[w.draw.IntN(5)])
	if w.comments && w.draw.IntN(4) == 0 {
		w.WriteString([]string{"/* \"a\": 1 */", "// {\n"}[w.draw.IntN(2)])
	}
}

func (w *rewriter) value(v any) {
	w.space()
	defer w.space()
	switch v := v.(type) {
	case map[string]any:
		w.WriteByte('{')
		names := slices.Sorted(mapsKeys(v))
		w.draw.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for i, name := range names {
			if i > 0 {
				w.WriteByte(',')
			}
			w.space()
			w.str(name)
			w.space()
			w.WriteByte(':')
			w.value(v[name])
		}
		w.WriteByte('}')
	case []any:
		w.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				w.WriteByte(',')
			}
			w.value(e)
		}
		w.WriteByte(']')
	case string:
		w.str(v)
	case json.Number:
		w.number(string(v))
	default:
		fmt.Fprintf(w, "%v", map[any]string{nil: "null", true: "true", false: "false"}[v])
	}
}

func (w *rewriter) str(s string) {
	w.WriteByte('"')
	for _, r := range s {
		switch {
		case r < 0x10000 && (r < 0x20 || r == '"' || r == '\\' || w.draw.IntN(6) == 0):
			fmt.Fprintf(w, []string{`\u%04x`, `\u%04X`}[w.draw.IntN(2)], r)
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
}

func (w *rewriter) number(s string) {
	if !strings.ContainsAny(s, "eE") && !w.whole {
		switch point := strings.Contains(s, "."); w.draw.IntN(4) {
		case 0:
			s += map[bool]string{true: "00", false: ".0"}[point]
		case 1:
			s += "e0"
		case 2:
			s += "E+00"
		}
	}
	w.WriteString(s)
}

// TestFile changes each leaf and name of the file itself.
func TestFile(t *testing.T) {
	g := examples(t)[0]
	f := approved(t, &g)
	at := now.Add(time.Hour)
	f.Expires = &at
	m, _ := g.manifest()
	text := string(f.JSON(nil))
	if read, err := approval.Read([]byte(text), nil); err != nil || read.Allows(m, now) != nil {
		t.Fatalf("%v", err)
	}
	n, step := 0, 12 // of the changes one in twelve, unless many are asked for
	if *changes >= 1000 {
		step = 1
	}
	for round := range 3 {
		for i, changed := range mutations(text, round) {
			if (i+round)%step > 0 {
				continue
			}
			n++
			if read, err := approval.Read([]byte(changed), nil); err == nil && read.Allows(m, now) == nil {
				t.Errorf("an edited file is taken: %s", changed)
			}
		}
	}
	if n < 1000/step {
		t.Errorf("only %d changes", n)
	}
}

// A member that can't be read at all is an edit as any other.
func TestUnreadableMembers(t *testing.T) {
	g := examples(t)[0]
	text := string(approved(t, &g).JSON(nil))
	for _, member := range []string{"created", "approvedAt", "approvedBy", "plan"} {
		i := strings.Index(text, `"`+member+`": "`) + len(member) + 5
		_, err := approval.Read([]byte(text[:i]+"2026-13-41"+text[i:]), nil)
		var refusal *approval.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "edited") {
			t.Errorf("%s: %v", member, err)
		}
	}
}

// TestStates goes through what can become of an approval.
func TestStates(t *testing.T) {
	g := examples(t)[0]
	m, _ := g.manifest()
	later := now.Add(time.Hour)
	for _, c := range []struct {
		name string
		make func(f *approval.File) error
		want string // of Allows; "" is none
	}{
		{"asked", func(*approval.File) error { return nil }, "not approved yet"},
		{"approved", func(f *approval.File) error { return f.Approve("ada", now) }, ""},
		{"nobody approved", func(f *approval.File) error { return f.Approve("", now) }, "not approved yet"},
		{"rejected", func(f *approval.File) error { return f.Reject("eve", "no", now) }, "rejected by eve: no"},
		{"taken back", func(f *approval.File) error { return errors.Join(f.Approve("ada", now), f.Reject("eve", "", now)) }, "rejected by eve"},
		{"used", func(f *approval.File) error { f.Use("01J", now); return nil }, "used already, by the run 01J"},
		{"expired", func(f *approval.File) error { f.Expires = &later; return f.Approve("ada", now) }, "expired"},
	} {
		f := approval.Request("plan.json", m, now)
		if err := c.make(f); err != nil {
			t.Fatal(err)
		}
		read, err := approval.Read(f.JSON(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Allows(m, later); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A Go function is told by its name, which stands for it.
func TestFunctions(t *testing.T) {
	type in struct{ A int }
	f := tool.Func("f", "does", func(context.Context, in) (int, error) { return 1, nil })
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[{"_tool": "f", "A": 1}]`)), nil)
	prog, _ := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(f)})
	if !strings.Contains(string(report.Of(prog, nil)), `"driver":"go"`) {
		t.Errorf("%s", report.Of(prog, nil))
	}
}

func FuzzRead(f *testing.F) {
	g := examples(f)[0]
	file := approved(f, &g)
	m, _ := g.manifest()
	// Each process of the fuzzer makes a file of its own, with another id.
	ownID := regexp.MustCompile(`"(id|seal)": "[0-9a-f]+"`)
	content := func(f *approval.File) string { return ownID.ReplaceAllString(string(f.JSON(nil)), "") }
	f.Add(file.JSON(nil))
	f.Add([]byte(`{"plc": "approval", "version": 2}`))
	f.Fuzz(func(t *testing.T, changed []byte) {
		read, err := approval.Read(changed, nil)
		if err != nil || read.Allows(m, now) != nil {
			return
		}
		if content(read) != content(file) {
			t.Errorf("a file that nobody wrote: %s", changed)
		}
	})
}

func BenchmarkManifest(b *testing.B) {
	var plan strings.Builder
	plan.WriteString("[")
	for i := range 100_000 {
		fmt.Fprintf(&plan, `{"_tool":"t","_id":"c%d","v":{"n":%d,"s":"†state.c%d"},"_outputPath":"†state.c%d"},`, i, i, max(0, i-1), i)
	}
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(plan.String()+"]")), nil)
	def, _ := tool.ParseDefinition([]byte(`{}`), "t", diag.Loc{})
	prog, _ := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(&tool.Tool{Definition: def})})
	b.ReportAllocs()
	for b.Loop() {
		report.Digest(prog, nil)
	}
}
