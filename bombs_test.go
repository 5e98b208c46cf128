package plc

import (
	stdflag "flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
)

// A bomb is what a check is given: small texts that are made to take much memory or time.
type bomb struct {
	plan, tools, input string
	files              map[string]string // that the plan may delegate to
}

func (b *bomb) size() (n int) {
	for _, text := range b.files {
		n += len(text)
	}
	return n + len(b.plan) + len(b.tools) + len(b.input)
}

// bombKinds make bombs of about n parts.
var bombKinds = map[string]func(r *rand.Rand, n int) bomb{
	"schemas": func(r *rand.Rand, _ int) bomb { return schemaBomb(r) },
	"deep expressions": func(r *rand.Rand, n int) bomb {
		return planBomb(`"v":"` + deepExpression(r, min(n, 200)) + `"`)
	},
	"operands": func(r *rand.Rand, n int) bomb {
		return planBomb(`"v":"†state.x` + parts(n, "", func(i int) string { return oneOf(r, " || †state.x", " || †input.y"+fmt.Sprint(i), " || 'a'") }) + `"`)
	},
	"alternatives": func(r *rand.Rand, n int) bomb {
		return planBomb(`"v":1,"_outputPath":"†state.a`+parts(n, "", func(i int) string { return oneOf(r, " || ", " || ", " && ")[:4] + fmt.Sprintf("†state.k%d", i) })+`"`, `"v":"†state"`)
	},
	"templates": func(r *rand.Rand, n int) bomb {
		return planBomb(`"v":"` + parts(n, "", func(i int) string { return oneOf(r, "†{state} ", "†{state.x || 'a'}", "†† ", "†{input.a.b}") }) + `"`)
	},
	"daggers": func(r *rand.Rand, n int) bomb {
		return planBomb(`"v":{` + parts(n, ",", func(i int) string { return fmt.Sprintf(`"m%d":%q`, i, oneOf(r, "†state", "†state.x", "†input")) }) + `}`)
	},
	"nested values": func(r *rand.Rand, n int) bomb {
		depth := min(n, 200)
		return planBomb(`"v":` + strings.Repeat(`[{"a":"†state","b":`, depth/2) + "1" + strings.Repeat(`}]`, depth/2))
	},
	"long ids": func(r *rand.Rand, n int) bomb {
		id := strings.Repeat("i", n)
		var calls []string
		for i := range 20 {
			calls = append(calls, fmt.Sprintf(`"v":"†state.%[1]s%[2]d","_id":"%[1]s%[2]d","_dependsOn":["%[1]s%[3]d"],"_outputPath":"†state.%[1]s%[2]d.%[1]s"`, id, i, r.IntN(20)))
		}
		return planBomb(calls...)
	},
	"long paths": func(r *rand.Rand, n int) bomb {
		path := strings.Repeat(".p", n)
		return planBomb(`"v":1,"_outputPath":"†state`+path+`"`, `"v":"†state`+path+oneOf(r, ".q", "", "[0]")+`"`, `"v":"†state"`)
	},
	"writers": func(r *rand.Rand, n int) bomb {
		return planBomb(callsOf(n, func(i int) string {
			return fmt.Sprintf(`"v":%q,"_outputPath":"†state.x%s","_outputMethod":%q`, oneOf(r, "†state.x", "†state", "1"), oneOf(r, "", ".y", fmt.Sprintf("[%d]", i)), oneOf(r, "set", "merge", "push"))
		})...)
	},
	"faults": func(r *rand.Rand, n int) bomb {
		return planBomb(callsOf(n, func(i int) string {
			return oneOf(r, `"v":"†state.nope`+fmt.Sprint(i)+`"`, `"_outputpath":"†state.x"`, `"v":1,"v":2`, `"_id":"same"`, `"_dependsOn":["gone`+fmt.Sprint(i)+`"]`,
				`"v":"†state.x || †state.y && 1"`, `"v":"†{"`, `"v":"{{state.x}}"`, `"_retry":{"max":-1}`, `"vv":1`, `"_activity":"a`+fmt.Sprint(i)+`"`)
		})...)
	},
	"delegates": func(r *rand.Rand, n int) bomb {
		b := bomb{tools: echoTools, files: map[string]string{}}
		depth := 2 + r.IntN(6)
		for d := range depth {
			next := `{"_tool":"echo","v":"†input.n"}`
			if d+1 < depth {
				next = parts(min(n, 300)/depth+1, ",", func(i int) string {
					return fmt.Sprintf(`{"_tool":%q,"items":[%s],"value":1,"max":9,"n":%d,"_delegate":"d%d.json","_outputPath":"†state.r%d"}`,
						oneOf(r, "forEach", "reduce", "repeat", "echo"), parts(1+r.IntN(20), ",", func(i int) string { return oneOf(r, "1", `{"n":1}`, `"a"`) }), i, d+1, i)
				})
			}
			b.files[fmt.Sprintf("d%d.json", d)] = `[` + next + `]`
		}
		b.plan = strings.ReplaceAll(b.files["d0.json"], "†input.n", "1")
		delete(b.files, "d0.json")
		return b
	},
	"instances": func(r *rand.Rand, n int) bomb {
		b := planBomb(callsOf(n, func(i int) string {
			return fmt.Sprintf(`"_instance":"i%d","v":%q,"_outputPath":"†state.x%d"`, r.IntN(n), oneOf(r, "†state.own", "†state", "†input"), i)
		})...)
		b.plan = `[` + parts(n, "", func(i int) string {
			return fmt.Sprintf(`{"type":"state","_instance":"i%d","state":{"own":%s}},`, i, oneOf(r, "1", "[]", `{"a":{"b":"c"}}`))
		}) + `{"type":"plan","plan":` + b.plan + `}]`
		return b
	},
	"context": func(r *rand.Rand, n int) bomb {
		b := planBomb(callsOf(n/4, func(i int) string { return fmt.Sprintf(`"v":["†state","†state.k%d","†{input}"]`, i) })...)
		b.plan = `[` + parts(n, "", func(i int) string {
			return oneOf(r, fmt.Sprintf(`{"type":"state","state":{"k%d":[%d]}},`, i, i), `{"type":"text","text":"†{state}"},`, `{"type":"state","state":{"a":{"b":{}}},"schema":{"properties":{"a":{"type":"object"}}}},`)
		}) + `{"type":"plan","plan":` + b.plan + `}]`
		return b
	},
	"great input": func(r *rand.Rand, n int) bomb {
		b := planBomb(callsOf(10, func(i int) string { return fmt.Sprintf(`"v":"†input.k%d.a"`, r.IntN(n)) })...)
		b.input = `{` + parts(10*n, ",", func(i int) string { return fmt.Sprintf(`"k%d":{"a":[%d,{}]}`, i, i) }) + `}`
		return b
	},
	"great enum": func(r *rand.Rand, n int) bomb {
		enum := parts(20*n, ",", func(i int) string { return fmt.Sprintf(`"e%d"`, i) })
		v := fmt.Sprintf(`{"enum":[%s]}`, enum)
		return bomb{
			tools: fmt.Sprintf(`{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"v":%s}},"outputSchema":%s}]}`, v, v),
			plan:  `[{"_tool":"a","v":"e1","_outputPath":"†state.x"},{"_tool":"a","v":"` + oneOf(r, "†state.x", "e999999", "f") + `"}]`,
		}
	},
	"patterns": func(r *rand.Rand, n int) bomb {
		pattern := func() string {
			return fmt.Sprintf(oneOf(r, `^(a|b){%d}$`, `[^a]{%d}x`, `(x{%d}|y)*z`, `^[a-z]{0,%d}$`), 1+r.IntN(900))
		}
		return bomb{
			tools: `{"tools":[` + parts(min(n, 100), ",", func(i int) string {
				return fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object","properties":{"v":{"type":"string","pattern":%q}},"patternProperties":{%q:{}}},"outputSchema":{"type":"string","pattern":%[2]q}}`, i, pattern(), pattern())
			}) + `]}`,
			plan: `[` + parts(min(n, 100), ",", func(i int) string {
				return fmt.Sprintf(`{"_tool":"t%d","v":"†state.x%d","_outputPath":"†state.x%d"}`, i, max(0, i-1), i)
			}) + `]`,
		}
	},
	"tool files": func(r *rand.Rand, n int) bomb {
		b := planBomb(callsOf(5, func(i int) string { return fmt.Sprintf(`"v":%d`, i) })...)
		b.tools = `{"tools":{"echo":{},` + parts(n, ",", func(i int) string {
			return fmt.Sprintf(`"t%d":{"description":%q,"properties":{"v":{"type":"string"},%q:{}},"required":["v"],"effects":{"domain":"d%d"}}`, i, oneOf(r, "", "long "+strings.Repeat("x", 300)), strings.Repeat("p", 1+r.IntN(50)), i)
		}) + `},"activities":{` + parts(n, ",", func(i int) string {
			return fmt.Sprintf(`"t%d":{"process":{"command":["true",%s]}}`, i, parts(1+r.IntN(20), ",", func(int) string { return `"{v}"` }))
		}) + `}}`
		return b
	},
	"YAML": func(r *rand.Rand, n int) bomb {
		b := planBomb(`"v":1`)
		var y strings.Builder
		y.WriteString("x-a0: &a0 [1, 2, 3]\n")
		for i := range min(n, 30) {
			fmt.Fprintf(&y, "x-a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i)
		}
		fmt.Fprintf(&y, "tools:\n  echo:\n    properties:\n      v:\n        enum: *a%d\n", r.IntN(min(n, 30)))
		b.tools = y.String()
		return b
	},
	"policies": func(r *rand.Rand, n int) bomb {
		b := planBomb(callsOf(20, func(i int) string { return fmt.Sprintf(`"v":%d`, i) })...)
		list := func() string {
			return parts(n, ",", func(i int) string {
				return fmt.Sprintf("%q", oneOf(r, "t*", "*"+strings.Repeat("a*", 20), fmt.Sprintf("t%d", i), strings.Repeat("?", 30)))
			})
		}
		b.tools = strings.TrimSuffix(echoTools, "}") + fmt.Sprintf(`,"policy":{"allow":["echo",%s],"deny":[%s],"hosts":[%s]}}`, list(), list(), list())
		return b
	},
}

func init() {
	for _, kind := range []string{"writers", "templates", "daggers", "delegates", "instances", "context", "operands", "long paths"} {
		bombKinds["flows of "+kind] = func(r *rand.Rand, n int) bomb {
			b := bombKinds[kind](r, n)
			b.tools = strings.TrimSuffix(echoTools, "}}") + `,"ask":{"properties":{}}},"flow":` + flowBomb(r, n) + `}`
			return b
		}
	}
}

// flowBomb makes a flow policy of about n parts for the tools "echo" and "ask".
func flowBomb(r *rand.Rand, n int) string {
	category := func(i int) string { return fmt.Sprintf(`"c%d"`, i) }
	most := 1 + r.IntN(2)*n // categories of a label
	some := func() string { return parts(r.IntN(most), ",", func(int) string { return category(r.IntN(n)) }) }
	level := func(name string, i int) string { return fmt.Sprintf("%s%d", name, i) }
	lattice := func(name, least, most string) string {
		m := 1 + r.IntN(n)
		if r.IntN(2) == 0 {
			return `"` + least + parts(m, "", func(i int) string { return " < " + level(name, i) }) + ` < ` + most + `"`
		}
		return `[` + parts(m, ",", func(i int) string { return fmt.Sprintf("%q", least+" < "+level(name, i)+" < "+most) }) + `]`
	}
	label := func() string {
		return fmt.Sprintf(`{"trust":%q,"secrecy":%q,"categories":[%s]}`, oneOf(r, "untrusted", "user", "operator", "t0"), oneOf(r, "public", "secret", "s0"), some())
	}
	rule := func(i int) string {
		return oneOf(r,
			fmt.Sprintf("sum(echo.v) <= %d", i), fmt.Sprintf("count(%s) <= %d", oneOf(r, "echo", "*", "@destructive", "e*c*h*o*"), r.IntN(100)),
			fmt.Sprintf("distinct(echo.v) <= input.k%d", i), fmt.Sprintf("echo never after echo where now.v == before.v && %d == %[1]d", i),
			"ask before echo",
			fmt.Sprintf("echo only if params.v <= %d%s", i, strings.Repeat(" || (params.v == input.a && !(params.v in ['a']))", r.IntN(30))))
	}
	entry := func() string {
		return fmt.Sprintf(`{"gives":%s,"parts":{%s},"takes":{"v":{"trust":"user","in":"input.a","or":"params.v <= input.y1 && params.v.size() > 3"},"*":%s},"violation":%q}`,
			label(), parts(n, ",", func(i int) string { return fmt.Sprintf(`"p%d.p%d":%s`, i%7, i, label()) }), label(), oneOf(r, "warn", "approve"))
	}
	return fmt.Sprintf(`{"trust":%s,"secrecy":%s,"categories":[%s],"strict":%t,"violation":%q,"given":{"input":{"trust":"user","categories":[%s]}},"tools":{"echo":%s,"*":%s,"e*":%s},"rules":[%s]}`,
		lattice("t", "untrusted", "user"), lattice("s", "internal", "secret"), parts(n, ",", category), r.IntN(2) == 0, oneOf(r, "reject", "warn", "approve"), some(),
		entry(), entry(), entry(),
		parts(n, ",", func(i int) string {
			return fmt.Sprintf(`{"rule":%q,"violation":%q}`, rule(i), oneOf(r, "reject", "warn", "approve"))
		}))
}

const echoTools = `{"tools":{"echo":{"properties":{"v":{},"_output":{"type":"object"}}}}}`

// planBomb is a plan of calls of one tool, of which these are the members.
func planBomb(calls ...string) bomb {
	return bomb{tools: echoTools, input: `{"a":{"b":1},"y1":2}`, plan: `[{"_tool":"echo","v":0,"_outputPath":"†state.x"}` +
		parts(len(calls), "", func(i int) string { return `,{"_tool":"echo",` + calls[i] + `}` }) + `]`}
}

func callsOf(n int, call func(i int) string) []string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = call(i)
	}
	return calls
}

func parts(n int, between string, part func(i int) string) string {
	return strings.Join(callsOf(n, part), between)
}

func oneOf(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func deepExpression(r *rand.Rand, depth int) string {
	if depth <= 0 {
		return oneOf(r, "†state.x", "†input.a", "'a'", "1")
	}
	inner := deepExpression(r, depth-1)
	return "(" + inner + oneOf(r, " || ", " && ", " || ") + oneOf(r, "†state.x", "†state.x[0]", "null") + ")"
}

// bombSchema makes a schema that is small, and whose values or proofs are large.
func bombSchema(r *rand.Rand, depth int) string {
	if depth <= 0 {
		return []string{
			`{"type":"integer"}`, `{"type":"string","minLength":3000}`, `{"$ref":"#/$defs/d0"}`,
			`{"type":"string","pattern":"^(a|b)*a(a|b){12}$"}`, `{"enum":[1,"a",null,[2]]}`,
			fmt.Sprintf(`{"type":"string","description":%q}`, strings.Repeat("long ", 50)),
		}[r.IntN(6)]
	}
	sub := func() string { return bombSchema(r, depth-1-r.IntN(2)) }
	n := 1 << r.IntN(12)
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf(`{"anyOf":[%s,%s]}`, sub(), sub())
	case 1:
		return fmt.Sprintf(`{"oneOf":[%s,{"type":"array","minItems":%d,"items":%s}]}`, sub(), n, sub())
	case 2:
		return fmt.Sprintf(`{"allOf":[{"type":"array","minItems":%d},{"items":%s}]}`, n, sub())
	case 3:
		return fmt.Sprintf(`{"not":{"type":"array","items":{"not":%s}}}`, sub())
	case 4:
		return fmt.Sprintf(`{"type":"object","minProperties":%d,"additionalProperties":%s}`, n, sub())
	case 5:
		return fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":{"$ref":"#/$defs/d1"}},"required":["a","b"]}`, sub())
	case 6:
		return fmt.Sprintf(`{"type":"object","patternProperties":{"^[a-f]{8}$":%s},"minProperties":%d}`, sub(), n)
	case 7:
		return fmt.Sprintf(`{"type":"array","uniqueItems":true,"minItems":%d,"items":%s}`, min(n, 40), sub())
	case 8:
		return fmt.Sprintf(`{"type":"array","contains":%s,"minContains":%d}`, sub(), n)
	case 9:
		return fmt.Sprintf(`{"if":%s,"then":%s,"else":%s}`, sub(), sub(), sub())
	case 10:
		return `{"` + oneOf(r, "oneOf", "anyOf", "allOf") + `":[` + parts(min(n, 100), ",", func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"kind":{"const":"k%d"},"v":{"$ref":"#/$defs/d%d"}},"required":["kind"]}`, i, r.IntN(12))
		}) + `]}`
	}
	return fmt.Sprintf(`{"type":"array","minItems":%d,"items":%s}`, n, sub())
}

// bombWeb is a bomb with definitions that refer to each other.
func bombWeb(r *rand.Rand) string {
	defs := make([]string, 12)
	for i := range defs {
		next := (i + 1) % len(defs)
		defs[i] = fmt.Sprintf(`"d%d":{"anyOf":[%s,{"type":"object","properties":{"x":{"$ref":"#/$defs/d%d"},"y":{"$ref":"#/$defs/d%d"}}}]}`, i, bombSchema(r, 1), next, (i+5)%len(defs))
	}
	return fmt.Sprintf(`{"allOf":[%s],"$defs":{%s}}`, bombSchema(r, 2+r.IntN(6)), strings.Join(defs, ","))
}

// schemaBomb makes tools with hostile schemas, and a plan that hands their results around.
func schemaBomb(r *rand.Rand) bomb {
	var t, p []string
	for i := range 2 + r.IntN(6) {
		t = append(t, fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object","properties":{"v":%s}},"outputSchema":%s}`,
			i, strings.Repeat("long ", r.IntN(200)), bombWeb(r), bombWeb(r)))
	}
	for i := range 2 + r.IntN(30) {
		v := `1`
		if i > 0 {
			from := fmt.Sprintf("†state.x%d", r.IntN(i))
			v = oneOf(r, `"`+from+`"`, `"`+strings.Repeat("†{"+from[len("†"):]+"} ", 20)+`"`, `{"a":"`+from+`","b":"†state"}`,
				`"`+from+strings.Repeat(" || "+from, 10)+`"`)
		}
		p = append(p, fmt.Sprintf(`{"_tool":"t%d","_id":"c%d","v":%s,"_outputPath":"†state.x%d","_outputMethod":%q}`,
			r.IntN(len(t)), i, v, r.IntN(i+1), oneOf(r, "set", "merge", "push")))
	}
	return bomb{tools: `{"tools":[` + strings.Join(t, ",") + `]}`, plan: `[` + strings.Join(p, ",\n") + `]`}
}

// What checking a bomb may hold in memory at a time: so much, and so much more for each byte of its
// texts.
const (
	bombBase    = 32 << 20
	bombPerByte = 64
)

// peak is the most that was live on the heap while f ran, above what was before. The collector runs
// often, so that its last count is near to what is live.
func peak(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	read := func() uint64 { metrics.Read(live); return live[0].Value.Uint64() }
	runtime.GC()
	before, most := read(), uint64(0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Microsecond):
				most = max(most, read())
			}
		}
	}()
	f()
	close(done)
	<-stopped
	most = max(most, read())
	return most - min(before, most)
}

// checkBomb checks a bomb, and returns how many MiB that held.
func checkBomb(t *testing.T, name string, b bomb) float64 {
	t.Helper()
	folder := ""
	if len(b.files) > 0 {
		folder = t.TempDir()
		for name, text := range b.files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	spec := Spec{Toolset: Toolset{Files: []Source{{Name: "tools", Text: b.tools}}}}
	if b.input != "" {
		spec.Values.Input = []Source{{Name: "input", Text: b.input}}
	}
	var findings diag.List
	got := peak(func() {
		c, err := New(Config{}).Checker(t.Context(), spec, ToCheck)
		if err != nil {
			return // input that is no object, say
		}
		file := filepath.Join(folder, "plan.json")
		p := c.CheckFile(diag.NewFile(file, []byte(b.plan)), file)
		findings = p.AllFindings()
		runtime.KeepAlive(p)
	})
	for _, f := range findings {
		if f.Code == diag.InternalError {
			t.Errorf("%s: %s", name, f.Message)
		}
	}
	size := uint64(b.size())
	if got > bombBase+bombPerByte*size {
		t.Errorf("%s: checking %d bytes held %d KiB", name, size, got>>10)
	}
	return float64(got) / (1 << 20)
}

var manyBombs = stdflag.Int("bombs", 0, "how many bombs of each kind TestBombs checks; 0 is a few")

// worstBombs are the seeds of long runs that once held more than they may, by kind.
var worstBombs = map[string][]uint64{"delegates": {26}}

// TestBombs checks plans, tools and policies that are made to take memory.
func TestBombs(t *testing.T) {
	const few, many = 8, 10 // sizes, as powers of two
	for name, kind := range bombKinds {
		t.Run(name, func(t *testing.T) {
			explode := func(seed uint64, size int) {
				r := rand.New(rand.NewPCG(seed, 7))
				b := kind(r, 1<<(2+r.IntN(size)))
				start := time.Now()
				held := checkBomb(t, fmt.Sprintf("%s, seed %d", name, seed), b)
				t.Logf("%s, seed %d: %d bytes held %.1f MiB, %v", name, seed, b.size(), held, time.Since(start).Round(time.Millisecond))
			}
			if *manyBombs > 0 {
				for seed := range uint64(*manyBombs) {
					explode(seed, many)
				}
				return
			}
			explode(0, few)
			explode(1, few)
			if !effort.Long() {
				return
			}
			for _, seed := range worstBombs[name] {
				explode(seed, many)
			}
		})
	}
}

// FuzzBomb looks for a plan, tools and an input that take more memory to check than they may.
func FuzzBomb(f *testing.F) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range bombKinds {
			if !yield(name) {
				return
			}
		}
	}) {
		b := bombKinds[name](rand.New(rand.NewPCG(1, 7)), 40)
		f.Add(b.plan, b.tools, b.input, uint8(1))
	}
	f.Fuzz(func(t *testing.T, plan, tools, input string, times uint8) {
		// The calls of a list are repeated, so that what is costly for one of them shows.
		if inner, ok := strings.CutSuffix(strings.TrimSpace(plan), "]"); ok && times > 1 && len(plan) < 1<<14 {
			if _, inner, ok = strings.Cut(inner, "["); ok {
				plan = "[" + strings.Repeat(inner+",", int(times)-1) + inner + "]"
			}
		}
		checkBomb(t, "fuzzed", bomb{plan: plan, tools: tools, input: input})
	})
}
