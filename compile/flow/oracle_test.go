package flow_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

var (
	plans = flag.Int("flow.plans", effort.Of(60, 300), "how many generated plans TestOracle and TestNonInterference run each")
	seed  = flag.Uint64("flow.seed", 1, "the seed of the first plan")
)

// A generated plan is about these tools.
//
//   - source0 … source3 give values that name where they come from: see token.
//   - copy gives its params, and is pure; wrap gives them inside of something, and is not.
//   - choose3 takes one of its outcomes by what it is given. picky fails for some params, and quotes
//     them.
//   - forget gives nothing of its params, and the policy says so; pickyForget too, unless it fails.
//   - sink is where values are looked for.
const sources = 4

var policyOfPlans = &label.Policy{
	Trust: []string{"t0", "t1", "t2", "t3"}, Secrecy: []string{"s0", "s1", "s2", "s3"}, Categories: []string{"c0", "c1"},
	Plan: &label.Label{Trust: 3}, Default: &label.Label{Trust: 3},
	Given: []label.Path{{Names: []string{"input"}, Label: givenLabel}},
	Tools: []label.Tool{
		{Pattern: "source*", Gives: &label.Label{Trust: 3}},
		sourceRule(0), sourceRule(1), sourceRule(2), sourceRule(3),
		{Pattern: "*orget", Gives: &label.Label{Trust: 3}, Drops: true},
		{Pattern: "sink", Takes: map[string]label.Bound{"p": {HasTrust: true, HasSecrecy: true}, "q": {HasTrust: true, HasSecrecy: true}}},
	},
}

var givenLabel = label.Label{Trust: 2, Secrecy: 1, Categories: []string{"c1"}}

// labelOf returns the label of a part of what a source gives: "a", "b" or "list".
func labelOf(source int, part string) label.Label {
	switch part {
	case "a":
		return label.Label{Trust: label.Level(source), Secrecy: label.Level(3 - source)}
	case "list":
		return label.Label{Trust: 3, Secrecy: label.Level(source), Categories: []string{"c" + strconv.Itoa(source%2)}}
	}
	return label.Label{Trust: label.Level(3 - source), Secrecy: 0}
}

func sourceRule(i int) label.Tool {
	rest := labelOf(i, "b")
	return label.Tool{Pattern: "source" + strconv.Itoa(i), Gives: &rest, Parts: []label.Path{
		{Names: []string{"a"}, Label: labelOf(i, "a")},
		{Names: []string{"list"}, Label: labelOf(i, "list")},
		{Names: []string{"objects"}, Label: labelOf(i, "list")},
	}}
}

// token is a text that names the part of a source that it comes from.
func token(source int, part string) string { return fmt.Sprintf("<%d%s>", source, part) }

var tokens = regexp.MustCompile(`<(\d)(a|b|list)>|<given>`)

// found returns the label of all tokens in a text.
func found(text string) label.Label {
	l := label.Label{Trust: 3}
	for _, m := range tokens.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			l = l.Join(givenLabel)
			continue
		}
		i, _ := strconv.Atoi(m[1])
		l = l.Join(labelOf(i, m[2]))
	}
	return l
}

// world runs the tools of one run.
type world struct {
	mu    sync.Mutex
	sunk  map[string]label.Label // what each sink was given, by call and param
	calls []string               // of sinks, with their params
	shift map[int]int            // how much what a source gives differs from other runs
}

func (w *world) catalogue() *tool.Catalogue {
	var all []*tool.Tool
	add := func(name, definition string, call tool.ActivityFunc) {
		def, _ := tool.ParseDefinition(json.RawMessage(definition), name, diag.Loc{})
		all = append(all, &tool.Tool{Definition: def, Activity: call, Source: "go", Driver: "go"})
	}
	const closed = `{"properties": {}, "additionalProperties": true, "effects": {"readOnly": true, "openWorld": false}}`
	for i := range sources {
		add("source"+strconv.Itoa(i), closed, func(context.Context, *tool.Request) (tool.Result, error) {
			value := map[string]any{
				"a": token(i, "a"), "b": map[string]any{"c": token(i, "b")}, "list": []string{token(i, "list"), token(i, "list") + "2"},
			}
			n := w.shift[i]
			if n > 0 {
				value["a"] = fmt.Sprint(value["a"], n)
				value["list"] = slices.Repeat([]string{fmt.Sprint(token(i, "list"), n)}, n%3)
			}
			value["objects"] = slices.Repeat([]any{map[string]any{"x": token(i, "list")}}, 1+n%3)
			return result(value)
		})
	}
	add("copy", `{"properties": {}, "additionalProperties": true, "effects": {"pure": true}}`, func(_ context.Context, req *tool.Request) (tool.Result, error) {
		return tool.Result{Value: req.Params}, nil
	})
	add("wrap", closed, func(_ context.Context, req *tool.Request) (tool.Result, error) {
		return result(map[string]any{"in": req.Params, "out": []any{"x", req.Params}})
	})
	add("choose3", closed, func(_ context.Context, req *tool.Request) (tool.Result, error) {
		return result(map[string]any{"_outcome": []string{"one", "two", "three"}[hash(req.Params)%3], "_value": "chosen"})
	})
	add("picky", closed, func(_ context.Context, req *tool.Request) (tool.Result, error) {
		if hash(req.Params)%2 == 0 {
			return tool.Result{}, &tool.Error{Code: "picky", Message: "can't use " + string(req.Params), Permanent: true}
		}
		return tool.Result{Value: req.Params}, nil
	})
	add("pickyForget", closed, func(_ context.Context, req *tool.Request) (tool.Result, error) {
		if hash(req.Params)%2 == 0 {
			return tool.Result{}, &tool.Error{Code: "picky", Message: "can't use " + string(req.Params), Permanent: true}
		}
		return result("fine")
	})
	add("forget", closed, func(context.Context, *tool.Request) (tool.Result, error) { return result("forgotten") })
	add("sink", closed, func(_ context.Context, req *tool.Request) (tool.Result, error) {
		var params map[string]json.RawMessage
		if err := json.Unmarshal(req.Params, &params); err != nil {
			return tool.Result{}, err
		}
		id := string(params["id"])
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, name := range []string{"p", "q"} {
			if raw, ok := params[name]; ok {
				key := strings.Trim(id, `"`) + " " + name
				was, ok := w.sunk[key]
				if !ok {
					was = label.Label{Trust: 3}
				}
				w.sunk[key] = was.Join(found(string(raw)))
			}
		}
		w.calls = append(w.calls, string(req.Params))
		return result("sunk")
	})
	return tool.NewCatalogue(all...)
}

func result(v any) (tool.Result, error) {
	raw, err := json.Marshal(v)
	return tool.Result{Value: raw}, err
}

func hash(b []byte) uint32 {
	h := fnv.New32a()
	h.Write(b)
	return h.Sum32()
}

// generator makes one plan.
type generator struct {
	*rand.Rand
	sinks int
	files fstest.MapFS
}

// plan returns the calls of a document that may delegate so deep.
func (g *generator) plan(deep int) (calls []any) {
	for range 3 + g.IntN(8) {
		calls = append(calls, g.call(deep))
	}
	if deep == 2 {
		calls = append(calls, g.rare()...)
	}
	return calls
}

// rare returns calls that seldom come together by chance.
func (g *generator) rare() []any {
	source := map[string]any{"_tool": "source" + strconv.Itoa(g.IntN(sources)), "_outputPath": "†state.x"}
	sink := map[string]any{"_tool": "sink", "id": fmt.Sprintf("s%d", g.sinks), "p": "text"}
	g.sinks++
	switch g.IntN(4) {
	case 0: // whether a call fails tells something of its params
		sink["_when"] = []string{"†state.good", "†state.bad"}[g.IntN(2)]
		return []any{source, map[string]any{"_tool": "pickyForget", "x": "†state.x.a", "_outputPath": "†state.good", "_errorPath": "†state.bad"}, sink}
	case 1: // so does how often a document runs
		return []any{source, map[string]any{"_tool": "forEach", "items": "†state.x.objects", "_delegate": g.file([]any{sink}, "done")}}
	case 2: // and what one round gives goes to the next
		sink["p"] = "†input.result"
		return []any{map[string]any{"_tool": "reduce", "items": []any{1, 2}, "initial": "start", "_delegate": g.file([]any{sink, source}, "†state.x.a")}}
	}
	return nil
}

// file keeps a document and returns its name.
func (g *generator) file(calls []any, output any) string {
	name := fmt.Sprintf("doc%d.json", len(g.files))
	raw, err := json.Marshal(map[string]any{"calls": calls, "output": output})
	if err != nil {
		panic(err)
	}
	g.files[name] = &fstest.MapFile{Data: raw}
	return name
}

func (g *generator) call(deep int) map[string]any {
	c := map[string]any{}
	switch kind := g.IntN(15); {
	case kind < 4:
		c["_tool"] = "source" + strconv.Itoa(g.IntN(sources))
		if g.IntN(3) == 0 {
			c["x"] = g.value()
		}
	case kind < 6:
		c["_tool"], c["x"], c["y"] = "copy", g.value(), g.value()
	case kind < 7:
		c["_tool"], c["x"] = "wrap", g.value()
	case kind < 8:
		c["_tool"], c["x"] = "choose3", g.value()
		c["_outputPath"] = "†state.one || †state.two || †state.three"
		return c
	case kind < 9:
		c["_tool"], c["x"], c["_errorPath"] = "picky", g.value(), g.path()
		if g.IntN(2) == 0 {
			c["_fallback"] = map[string]any{"_tool": "copy", "z": g.value()}
		}
	case kind < 10:
		c["_tool"], c["x"], c["_outputPath"], c["_when"] = "forget", g.value(), "†state.said", g.condition()
		return c
	case kind < 11:
		c["_tool"], c["x"], c["_outputPath"], c["_errorPath"] = "pickyForget", g.value(), "†state.fine", "†state.fault"
		return c
	case kind < 12 && deep > 0:
		name := g.file(g.plan(deep-1), map[string]any{"o": "†state.x || †state.y || 'nothing'", "p": "†input.x || 'none'"})
		switch g.IntN(3) {
		case 0:
			c["_tool"], c["_delegate"], c["items"] = "forEach", name, []any{map[string]any{"x": g.value()}, map[string]any{"x": "lit"}}
			if g.IntN(2) == 0 {
				c["items"] = "†state.x.objects || †state.y.objects || †state.z.objects"
			}
		case 1:
			c["_tool"], c["_delegate"], c["items"], c["initial"] = "reduce", name, []any{g.value(), "two"}, "start"
		default:
			c["_tool"], c["_delegate"], c["x"] = "copy", name, g.value()
		}
	default:
		c["_tool"], c["id"] = "sink", fmt.Sprintf("s%d", g.sinks)
		g.sinks++
		c["p"] = []any{"text", "†state.said || 'none'", g.value()}[g.IntN(3)]
		if g.IntN(2) == 0 {
			c["q"] = g.value()
		}
	}
	if g.IntN(4) == 0 {
		c["_when"] = g.condition()
	}
	if _, ok := c["_outputPath"]; !ok && g.IntN(8) > 0 {
		c["_outputPath"] = g.path()
		c["_outputMethod"] = []string{"set", "set", "set", "merge", "push"}[g.IntN(5)]
		if c["_outputMethod"] == "push" {
			c["_outputPath"] = "†state.pushed"
		}
	}
	return c
}

func (g *generator) path() string {
	return []string{"†state.x", "†state.y", "†state.z", "†state.x.a", "†state.z.in"}[g.IntN(5)]
}

// reference returns one that finds something more often than not.
func (g *generator) reference() string {
	return []string{
		"†state.x || 'none'", "†state.x.a || 'none'", "†state.y || †state.z || 'none'", "†state.x.b.c || 'none'", "†state.z.in.x || 'none'",
		"†state.y.list[0] || 'none'", "†state.x.list[*] || 'none'", "†input.x || 'none'", "†state.one || 'none'", "†state.two || †state.three || 'none'",
		"†state.pushed[0].a || 'none'", "†state.y.message || 'none'", "†state || 'none'", "†state.y.list.1 || 'none'", "†state.fine || 'none'", "†state.fault.message || 'none'",
		"†state.said || 'none'", "†state.fine || †state.said || 'none'",
	}[g.IntN(18)]
}

// condition returns an expression that depends on whether something is there.
func (g *generator) condition() string {
	return []string{
		"†state.x.list[0]", "†state.y.list[0]", "†state.z", "†state.one", "†state.two", "†state.fine", "†state.fault", "†state.fine", "†state.said",
	}[g.IntN(9)]
}

func (g *generator) value() any {
	switch g.IntN(6) {
	case 0:
		return "text"
	case 1:
		return "text †{" + strings.ReplaceAll(g.reference(), "†", "") + "} more"
	case 2:
		return map[string]any{"m": g.reference(), "n": []any{g.reference()}}
	}
	return g.reference()
}

// generated is a plan with its documents.
type generated struct {
	seed  uint64
	text  string
	files fstest.MapFS
}

func generate(seed uint64) *generated {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), files: fstest.MapFS{}}
	raw, err := json.Marshal(map[string]any{"calls": g.plan(2), "output": nil})
	if err != nil {
		panic(err)
	}
	return &generated{seed, string(raw), g.files}
}

// compile returns the program for a world; nil when the plan has errors.
func (g *generated) compile(w *world) *compile.Program {
	doc, found := lang.Parse(diag.NewFile("plan.json", []byte(g.text)), nil)
	prog, more := compile.Compile(doc, &compile.Options{
		Catalogue: w.catalogue(), Run: true, Delegates: g.files,
		Values: map[string]compile.Given{"input": {JSON: json.RawMessage(`{"x": "<given>"}`)}},
	})
	if append(found, more...).HasErrors() {
		return nil
	}
	return prog
}

func (g *generated) run(t *testing.T, w *world, prog *compile.Program) *exec.Result {
	t.Helper()
	res, err := exec.Run(t.Context(), prog, &exec.Options{OnFailure: exec.Continue, ID: "run", Seed: 1})
	if err != nil {
		t.Fatalf("seed %d: %v", g.seed, err)
	}
	return res
}

// No sink is ever given what the report does not say it may be given: real runs of generated plans
// pass on values that name their source.
func TestOracle(t *testing.T) {
	ran, exact, sinks := 0, 0, 0
	for i := range *plans {
		g := generate(*seed + uint64(i))
		w := &world{sunk: map[string]label.Label{}}
		prog := g.compile(w)
		if prog == nil {
			continue
		}
		said := sinksOf(prog)
		g.run(t, w, prog)
		ran++
		for key, l := range w.sunk {
			s, ok := said[key]
			if !ok {
				t.Fatalf("seed %d: the report has no sink %q\n%s", g.seed, key, g.text)
			}
			sinks++
			if !s.Join(l).Equal(s) {
				t.Fatalf("seed %d: %q was given %s, and the report says %s\n%s", g.seed, key, policyOfPlans.Words(l), policyOfPlans.Words(s), g.text)
			}
			if s.Equal(l) {
				exact++
			}
		}
	}
	t.Logf("%d plans ran with %d sinks; the report says of %d exactly what they were given", ran, sinks, exact)
	if ran < *plans/3 || sinks == 0 {
		t.Errorf("only %d of %d plans ran, with %d sinks", ran, *plans, sinks)
	}
}

// sinksOf returns what a report says of sinks, by the id that is among their params.
func sinksOf(prog *compile.Program) map[string]label.Label {
	said := map[string]label.Label{}
	report, _ := flow.Check(prog, policyOfPlans)
	for _, s := range report.Sinks {
		for _, m := range s.Call.Source.Params {
			if m.Name == "id" {
				key := m.Value.Str() + " " + s.Param
				if was, ok := said[key]; ok {
					said[key] = was.Join(s.Label)
				} else {
					said[key] = s.Label
				}
			}
		}
	}
	return said
}

// When no flow of what is secret is forbidden, a sink that may be given only what is public sees
// the same whatever the secrets are.
func TestNonInterference(t *testing.T) {
	pairs, sound := 0, 0
	for i := range *plans {
		g := generate(*seed + uint64(i))
		w := &world{sunk: map[string]label.Label{}}
		prog := g.compile(w)
		if prog == nil {
			continue
		}
		report, _ := flow.Check(prog, policyOfPlans)
		public := map[string]bool{} // the sinks that are given and decided by nothing that is secret
		for _, s := range report.Sinks {
			id := ""
			for _, m := range s.Call.Source.Params {
				if m.Name == "id" {
					id = m.Value.Str()
				}
			}
			ok := s.Label.Secrecy == 0 && s.Decides.Secrecy == 0
			if was, seen := public[id]; seen {
				ok = ok && was
			}
			public[id] = ok
		}
		if g.run(t, w, prog).Status != exec.Completed {
			continue // that a run fails as a whole tells something, which is not followed
		}
		for pair := 1; pair < 4; pair++ {
			other := &world{sunk: map[string]label.Label{}, shift: map[int]int{}}
			for i := range sources {
				if labelOf(i, "a").Secrecy > 0 && labelOf(i, "list").Secrecy > 0 {
					other.shift[i] = pair
				}
			}
			again := g.compile(other)
			if g.run(t, other, again).Status != exec.Completed {
				continue
			}
			pairs++
			a, b := seenBy(w, public), seenBy(other, public)
			sound += len(a)
			if !slices.Equal(a, b) {
				t.Fatalf("seed %d: public sinks see\n%s\nand with other secrets\n%s\n%s", g.seed, strings.Join(a, "\n"), strings.Join(b, "\n"), g.text)
			}
		}
	}
	t.Logf("%d pairs of runs, with %d calls of public sinks", pairs, sound)
	if pairs < *plans/4 || sound == 0 {
		t.Errorf("only %d pairs of runs, with %d calls of public sinks", pairs, sound)
	}
}

// seenBy returns what public sinks were given, sorted.
func seenBy(w *world, public map[string]bool) (all []string) {
	for _, c := range w.calls {
		var params struct{ ID string }
		if json.Unmarshal([]byte(c), &params) == nil && public[params.ID] {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return all
}
