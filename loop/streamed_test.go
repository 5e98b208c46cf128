package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// pieces is a planner that says each answer in pieces that are cut at random, and notes what had
// been called when an answer was about to be whole.
type pieces struct {
	random  *rand.Rand // nil says each whole
	answers []string
	next    int
	asked   []string
	effects func() int
	early   int // effectful calls while an answer was not whole
}

func (p *pieces) Converse(_ context.Context, turn *model.Turn) (*model.Reply, error) {
	before := p.effects()
	p.asked = append(p.asked, turn.Messages[0].Text)
	if p.next >= len(p.answers) {
		return &model.Reply{Text: `{"calls":[],"output":"over"}`}, nil
	}
	text := p.answers[p.next]
	p.next++
	for rest := text; rest != ""; {
		n := len(rest)
		if p.random != nil {
			n = min(n, 1+p.random.IntN(40))
		}
		if err := turn.OnText(rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	p.early += p.effects() - before
	return &model.Reply{Text: text}, nil
}

// anyAnswer is an answer of a model that may be sound, faulty, cut off, or prose.
func anyAnswer(r *rand.Rand, instances bool) string {
	var calls []string
	slots := []string{"a", "b", "c", "d.e", "list"}
	if instances {
		slots[0] = "i"
	}
	for range r.IntN(7) {
		calls = append(calls, anyCall(r, slots))
	}
	output := "null"
	switch r.IntN(6) {
	case 0:
		output = `"†state.` + slots[r.IntN(4)] + `"`
	case 1:
		output = `{"done":true}`
	}
	text := `{"calls":[` + strings.Join(calls, ", ") + `],"output":` + output + `}`
	switch r.IntN(10) {
	case 0:
		return text[:r.IntN(len(text))]
	case 1:
		return `<think>I say "calls" {"calls":[{"_tool":"look","q":"no \"calls\": ["}]}</think>` + text
	case 2:
		return "Here it is:\n```json\n" + text + "\n```"
	case 3:
		return `{"output":` + output + `,"note":{"calls":[{"_tool":"look","q":0}]},"calls":[` + strings.Join(calls, ",") + `]}`
	}
	return text
}

func anyCall(r *rand.Rand, slots []string) string {
	m := []string{fmt.Sprintf(`"_tool":%q`, []string{"look", "look", "look", "note", "note", "bad", "think", "flaky", "gone"}[min(8, r.IntN(17)/2)])}
	arg := fmt.Sprintf(`%d`, r.IntN(3))
	switch r.IntN(4) {
	case 0:
		arg = `"†state.` + slots[r.IntN(len(slots))] + `"`
	case 1:
		arg = `["†state.` + slots[r.IntN(len(slots))] + ` || †input.x"]`
	}
	m = append(m, `"q":`+arg)
	if in := r.IntN(4); in < 2 && slots[0] == "i" {
		m = append(m, fmt.Sprintf(`"_instance":%q`, []string{"x", "y"}[in]))
	}
	if strings.Contains(m[0], "think") && r.IntN(3) > 0 {
		m = append(m, `"_output":{"t":1}`)
	}
	switch r.IntN(5) {
	case 0:
	case 1:
		m = append(m, `"_outputPath":"†state.list"`, fmt.Sprintf(`"_outputMethod":%q`, []string{"push", "set"}[r.IntN(2)]))
	case 2:
		m = append(m, `"_outputPath":"†state.`+slots[r.IntN(4)]+` || †state.err"`)
	default:
		m = append(m, `"_outputPath":"†state.`+slots[r.IntN(4)]+`"`)
	}
	if r.IntN(8) == 0 {
		m = append(m, fmt.Sprintf(`"_id":%q`, []string{"look", "note", "x", "look-2"}[r.IntN(4)]))
	}
	return "{" + strings.Join(m, ",") + "}"
}

// came is what has come of a loop.
type came struct {
	status, output, state string
	calls                 []string
	asked                 []string
}

func solveIn(t *testing.T, instances bool, answers []string, random *rand.Rand, whole bool) (came, *pieces) {
	t.Helper()
	var made calls
	echo := func(params string) (string, error) { return params, nil }
	catalogue := made.tools(t, map[string]string{
		"look":  `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
		"note":  `{"properties":{"q":{}},"effects":{"readOnly":false}}`,
		"bad":   `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
		"flaky": `{"properties":{"q":{}},"effects":{"readOnly":false}}`,
		"think": `{"properties":{"q":{},"_output":{"type":"object"}}}`,
	}, map[string]activity{"look": echo, "note": echo, "bad": failing("broken", "it is broken"), "flaky": failing("broken", "so is this")})
	context := `[{"type":"input","x":1}]`
	if instances {
		context = `[{"type":"input","x":1},{"type":"state","_instance":"x","state":{"c":1}},{"type":"state","_instance":"y","state":{"z":{}}}]`
	}
	p := &pieces{random: random, answers: answers}
	p.effects = func() int { return made.count("note") + made.count("flaky") }
	r, err := loop.Solve(t.Context(), &loop.Task{Goal: "g", Context: json.RawMessage(context), Catalogue: catalogue, Planner: p},
		&loop.Options{ID: "L", Whole: whole, MaxTurns: 6})
	if err != nil {
		t.Fatalf("%v", err)
	}
	c := came{status: string(r.Status) + " " + r.Reason, output: string(r.Output), state: string(r.State), asked: p.asked}
	for _, call := range made.made {
		if !strings.HasPrefix(call, "look") && !strings.HasPrefix(call, "bad") { // reads of what is abandoned may be made in one way only
			c.calls = append(c.calls, call)
		}
	}
	slices.Sort(c.calls)
	return c, p
}

// Answers that come in pieces, however they are cut, leave the whiteboard, requests and effects
// that they leave when they come whole; and nothing that changes the world is called before
// an answer is.
func TestStreamedIsWhole(t *testing.T) {
	for seed := range uint64(effort.Of(30, 120)) {
		r := rand.New(rand.NewPCG(seed, 7))
		instances := seed%3 == 2
		var answers []string
		for range 1 + r.IntN(5) {
			answers = append(answers, anyAnswer(r, instances))
		}
		want, _ := solveIn(t, instances, answers, nil, true)
		for way, random := range []*rand.Rand{nil, rand.New(rand.NewPCG(seed, 1))} {
			got, p := solveIn(t, instances, answers, random, false)
			if p.early != 0 {
				t.Errorf("seed %d: %d effects before an answer was whole", seed, p.early)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d way %d:\n%s\n\ngot  %+v\n\nwant %+v", seed, way, strings.Join(answers, "\n"), got, want)
			}
		}
	}
}

// An answer that stops half-way, wherever that is, leaves nothing on the whiteboard and calls
// nothing that changes the world.
func TestStopsHalfWay(t *testing.T) {
	text := `{"calls":[{"_tool":"look","q":"a \"calls\": [{","_outputPath":"†state.a"},{"_tool":"note","q":"†state.a","_outputPath":"†state.b"},{"_tool":"look","q":{"calls":[1]},"_outputPath":"†state.c"},{"_tool":"note","q":2}],"output":null}`
	for n := range len(text) {
		random := rand.New(rand.NewPCG(uint64(n), 3))
		got, p := solveIn(t, false, []string{text[:n]}, random, false)
		if p.early != 0 || len(got.calls) != 0 || got.state != "{}" || got.output != `"over"` || len(got.asked) != 2 {
			t.Fatalf("%s\n%+v", text[:n], got)
		}
	}
}
