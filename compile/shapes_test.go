package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// sound are documents that grow in different ways, with nothing wrong in them.
var sound = map[string]func(n int) string{
	"chain": plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x%d","_outputPath":"†state.x%d"`, i-1, i) }),
	"wide":  plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.x%d"`, i) }),
	"ladder": plan(func(i int) string {
		return fmt.Sprintf(`"v":["†state.x%d","†state.x%d"],"_outputPath":"†state.x%d"`, max(0, i-2), i-1, i)
	}),
	"backward": func(n int) string {
		return list(n, func(i int) string {
			if i == n-1 {
				return fmt.Sprintf(`"_tool":"e","v":0,"_outputPath":"†state.x%d"`, i)
			}
			return fmt.Sprintf(`"_tool":"e","v":"†state.x%d","_outputPath":"†state.x%d"`, i+1, i)
		})
	},
	"push":          plan(func(i int) string { return `"v":"†state.x0","_outputPath":"†state.l","_outputMethod":"push"` }),
	"push and read": plan(func(i int) string { return `"v":"†state.all","_outputPath":"†state.all","_outputMethod":"push"` }),
	"one path":      plan(func(i int) string { return `"v":"†state.x || 1","_outputPath":"†state.x"` }),
	"all to one":    plan(func(i int) string { return fmt.Sprintf(`"v":"†state.all","_outputPath":"†state.all.k%d"`, i) }),
	"fan in": func(n int) string {
		return list(n, func(i int) string {
			if i < n/2 {
				return fmt.Sprintf(`"_tool":"e","v":0,"_outputPath":"†state.all.k%d"`, i)
			}
			return `"_tool":"e","v":"†state.all"`
		})
	},
	"stars": func(n int) string {
		return list(n, func(i int) string {
			if i < n/2 {
				return fmt.Sprintf(`"_tool":"e","v":0,"_outputPath":"†state.all[%d].name"`, i)
			}
			return `"_tool":"e","v":"†state.all[*].name"`
		})
	},
	"from the end": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.all[-%d]","_outputPath":"†state.all[%d]"`, i, i)
	}),
	"elements": plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.x0[%d]"`, i) }),
	"deep": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.a.b.c.d.e.f.g.h.k%d"`, i)
	}),
	"parts of parts": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.x","_outputPath":"†state.x%s"`, strings.Repeat(".y", i%100))
	}),
	"literal": plan(func(i int) string {
		return fmt.Sprintf(`"v":{"text":%q},"_outputPath":"†state.x%d"`, strings.Repeat("lorem ipsum ", 50), i)
	}),
	"one great param": func(n int) string {
		return `[{"_tool":"e","v":` + list(n, func(i int) string { return `"a":1,"b":"†input.x"` }) + `}]`
	},
	"one great text": func(n int) string { return `[{"_tool":"e","v":"` + strings.Repeat("and †{input.x} ", n) + `"}]` },
	"one great ||": func(n int) string {
		return `[{"_tool":"e","v":"†input.x` + strings.Repeat(" || †input.x", n) + `"}]`
	},
	"one great path": func(n int) string { return `[{"_tool":"e","v":"†input` + strings.Repeat(".x", n) + `"}]` },
	"many params": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"p%d":"†input.x%d"`, i, i)
		}
		return `[{"_tool":"e","v":1` + b.String() + `}]`
	},
	"alternatives": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.a%d || †state.b%d || 0","_outputPath":"†state.a%d || †state.b%d"`, i-1, i-1, i, i)
	}),
	"many alternatives": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ` || †state.k%d`, i)
		}
		return `[{"_tool":"e","v":1,"_outputPath":"†state.a` + b.String() + `"},{"_tool":"e","v":"†state"}]`
	},
	"many writes": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ` && †state.k%d`, i)
		}
		return `[{"_tool":"e","v":1,"_outputPath":"†state.a` + b.String() + `"},{"_tool":"e","v":"†state"}]`
	},
	"depends": plan(func(i int) string { return fmt.Sprintf(`"v":1,"_id":"c%d","_dependsOn":["e"]`, i) }),
	"depends on all": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"c%d"`, i)
		}
		calls := strings.TrimSuffix(list(n, func(i int) string { return fmt.Sprintf(`"_tool":"e","v":1,"_id":"c%d"`, i) }), "]")
		return calls + `,{"_tool":"e","v":1,"_dependsOn":["c0"` + b.String() + `]}]`
	},
	"effects": plan(func(i int) string { return `"v":1` + pick(i, "", `,"_activity":"send"`) }),
	"domains": func(n int) string {
		var tools, calls strings.Builder
		for i := range n {
			fmt.Fprintf(&tools, `"t%d":{"effects":{"readOnly":false,"domain":"d%d"}},`, i, i)
			fmt.Fprintf(&calls, `,{"_tool":"t%d"}`, i)
		}
		return `[{"type":"tool","tool":{` + tools.String() + `"x":{}}},{"type":"plan","plan":[{"_tool":"e","v":1}` + calls.String() + `]}]`
	},
	"typed": typed(func(i int) string { return fmt.Sprintf(`"n":"†state.x%d.n","_outputPath":"†state.x%d"`, i-1, i) }),
	"typed to one": typed(func(i int) string {
		return fmt.Sprintf(`"n":"†state.x0.n","all":"†state.all","_outputPath":"†state.all.x%d"`, i)
	}),
	"schema": func(n int) string {
		var props strings.Builder
		for i := range n {
			fmt.Fprintf(&props, `"x%d":{"type":"object"},`, i)
		}
		calls := list(n, func(i int) string {
			return fmt.Sprintf(`"_tool":"e","v":"†state.x%d","_outputPath":"†state.x%d"`, max(0, i-1), i)
		})
		return `[{"type":"state","state":{"x0":{}},"schema":{"properties":{` + props.String() + `"y":{}},"additionalProperties":false}},{"type":"plan","plan":` + calls + `}]`
	},
	"great input": func(n int) string {
		var members strings.Builder
		for i := range n {
			fmt.Fprintf(&members, `,"k%d":{"a":%d}`, i, i)
		}
		calls := list(n, func(i int) string {
			return fmt.Sprintf(`"_tool":"e","v":["†input","†input.k%d.a","†{input.k0}"]`, i)
		})
		return `[{"type":"input","input":{"x":1` + members.String() + `}},{"type":"plan","plan":` + calls + `}]`
	},
	"great list in the input": func(n int) string {
		calls := list(n, func(i int) string {
			return fmt.Sprintf(`"_tool":"e","v":["†input.l[%d].a","†input.l[*].a","†input.l[-1]"]`, i)
		})
		return `[{"type":"input","input":{"l":` + list(n, func(i int) string { return `"a":1` }) + `}},{"type":"plan","plan":` + calls + `}]`
	},
	"messages": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"type":"state","state":{"k%d":%d}},{"type":"data","kind":"d%d","data":{"a":1}},`, i, i, i)
		}
		return `[` + b.String() + `{"type":"plan","plan":` + list(n, func(i int) string { return fmt.Sprintf(`"_tool":"e","v":["†state.k%d","†d%d.a"]`, i, i) }) + `}]`
	},
	"tool messages": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"type":"tool","tool":{"name":"t%d","inputSchema":{"type":"object","properties":{"v":{"type":"integer"}}}}},`, i)
		}
		return `[` + b.String() + `{"type":"plan","plan":` + list(n, func(i int) string { return fmt.Sprintf(`"_tool":"t%d","v":%d`, i, i) }) + `}]`
	},
	"merges above": func(n int) string {
		return list(n, func(i int) string {
			switch {
			case i == 1:
				return `"_tool":"e","v":0,"_outputPath":"†state.a.b"`
			case i < n/2:
				return `"_tool":"e","v":0,"_outputPath":"†state.a","_outputMethod":"merge"`
			}
			return `"_tool":"e","v":"†state.a.b"`
		})
	},
	"merges above many": func(n int) string {
		return list(n, func(i int) string {
			switch {
			case i == 0 || i > n/3 && i < 2*n/3:
				return `"_tool":"e","v":0,"_outputPath":"†state.a","_outputMethod":"merge"`
			case i <= n/3:
				return fmt.Sprintf(`"_tool":"e","v":0,"_outputPath":"†state.a.k%d"`, i)
			}
			return fmt.Sprintf(`"_tool":"e","v":"†state.a.k%d"`, i-2*n/3+1)
		})
	},
	"whole and parts": plan(func(i int) string {
		return pick(i, fmt.Sprintf(`"v":"†state.all","_outputPath":"†state.all.k%d"`, i), `"v":"†state.all","_outputPath":"†state.all"`)
	}),
	"parts, then the whole": func(n int) string {
		return list(n, func(i int) string {
			return `"_tool":"e",` + pick(i, fmt.Sprintf(`"v":1,"_outputPath":"†state.all.k%d"`, i), `"v":"†state","_outputPath":"†state.all"`)
		})
	},
	"scopes": plan(func(i int) string {
		return fmt.Sprintf(`"v":1,"_scopes":["state","†state.all"],"_outputPath":"†state.x%d"`, i)
	}),
	"whens": plan(func(i int) string {
		return fmt.Sprintf(`"v":1,"_when":"†state.x%d","_outputPath":"†state.x%d"`, i-1, i)
	}),
	"error paths": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.x%d","_outputPath":"†state.x%d","_errorPath":"†state.errors"`, i-1, i)
	}),
	"fallbacks": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.x%d","_outputPath":"†state.x%d","_fallback":{"_tool":"e","v":"†state.all"}`, i-1, i)
	}),
	"numbers": plan(func(i int) string {
		return fmt.Sprintf(`"v":["†state.x0.%d","†state.x0[%d]"],"_outputPath":"†state.x0.%d"`, i-1, i-1, i)
	}),
	"negative": plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.x0[-%d]"`, i) }),
	"great output": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"†state.x%d"`, i)
		}
		return `{"calls":` + list(n, func(i int) string { return fmt.Sprintf(`"_tool":"e","v":0,"_outputPath":"†state.x%d"`, i) }) + `,"output":["†state"` + b.String() + `]}`
	},
}

// faulty are documents full of faults.
var faulty = map[string]func(n int) string{
	"unknown references": plan(func(i int) string { return fmt.Sprintf(`"v":"†state.y%d","_outputPath":"†state.x%d"`, i, i) }),
	"unknown in one call": func(n int) string {
		return `[{"_tool":"e","v":["†state.y"` + strings.Repeat(`,"†state.y"`, n) + `]}]`
	},
	"unknown in input": func(n int) string {
		return `[{"type":"input","input":{"x":1}},{"type":"plan","plan":` + list(n, func(i int) string { return fmt.Sprintf(`"_tool":"e","v":"†input.y%d"`, i) }) + `}]`
	},
	"unknown kinds":      plan(func(i int) string { return fmt.Sprintf(`"v":"†kind%d.x"`, i) }),
	"unknown tools":      plan(func(i int) string { return fmt.Sprintf(`"_tool":"tool%d"`, i) }),
	"unknown params":     typed(func(i int) string { return fmt.Sprintf(`"n":1,"m%d":1`, i) }),
	"unknown members":    plan(func(i int) string { return `"v":1,"_outputpath":"†state.x"` }),
	"unknown dependsOn":  plan(func(i int) string { return fmt.Sprintf(`"v":1,"_dependsOn":["e-%d"]`, -i) }),
	"unknown activities": plan(func(i int) string { return fmt.Sprintf(`"v":1,"_activity":"a%d"`, i) }),
	"duplicate ids":      plan(func(i int) string { return `"_id":"x","v":1` }),
	"duplicate members":  plan(func(i int) string { return `"v":1,"v":2` }),
	"bad literals":       typed(func(i int) string { return `"n":"one"` }),
	"bad references":     typed(func(i int) string { return `"n":"†state.x0","_outputPath":"†state.x0.y"` }),
	"missing params":     typed(func(i int) string { return `"all":1` }),
	"self cycles":        plan(func(i int) string { return fmt.Sprintf(`"v":"†state.y%d","_outputPath":"†state.y%d"`, i, i) }),
	"two cycles": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.y%d","_outputPath":"†state.y%d"`, i^1, i)
	}),
	"one cycle": func(n int) string {
		return list(n, func(i int) string {
			return fmt.Sprintf(`"_tool":"e","v":"†state.x%d","_outputPath":"†state.x%d"`, (i+n-1)%n, i)
		})
	},
	"dead writes": plan(func(i int) string { return fmt.Sprintf(`"v":1,"_id":"c%d","_outputPath":"†state.x"`, i) }),
	"races": func(n int) string {
		return list(n, func(i int) string {
			return pick(i, `"_tool":"e","v":1,"_outputPath":"†state.x"`, `"_tool":"e","v":"†state.x"`)
		})
	},
	"unhandled": plan(func(i int) string { return fmt.Sprintf(`"v":1,"_outputPath":"†state.x%d || †state.e%d"`, i, i) }),
	"never runs": plan(func(i int) string {
		return fmt.Sprintf(`"v":["†state.a%d","†state.b%d"],"_outputPath":"†state.a%d || †state.b%d"`, i-1, i-1, i, i)
	}),
	"not allowed": func(n int) string {
		return `[{"type":"state","schema":{"properties":{"a":{}},"additionalProperties":false}},{"type":"plan","plan":` +
			list(n, func(i int) string { return fmt.Sprintf(`"_tool":"e","v":1,"_outputPath":"†state.x%d"`, i) }) + `}]`
	},
	"bad messages": func(n int) string {
		return `[{"type":"plan","plan":[]}` + strings.Repeat(`,{"type":"input","input":1},{"type":"tool","tool":"nobody"},{"type":"tool","tool":{"x":{"type":1}}},{"type":"data","kind":"d","data":{},"schema":{"type":1}}`, n) + `]`
	},
	"bad input": func(n int) string {
		return `[{"type":"input","input":{"l":[1` + strings.Repeat(`,1`, n) + `]},"schema":{"properties":{"l":{"items":{"type":"string"}}}}},{"type":"plan","plan":[]}]`
	},
}

// plan is a list of calls of e, the first of which writes what the others read.
func plan(call func(i int) string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(`[{"_tool":"e","v":0,"_outputPath":"†state.x0 && †state.all && †state.x && †state.a0 && †state.b0"}`)
		for i := 1; i < n; i++ {
			text := call(i)
			if !strings.HasPrefix(text, `"_tool"`) {
				text = `"_tool":"e",` + text
			}
			b.WriteString(",{" + text + "}")
		}
		return b.String() + "]"
	}
}

// typed is plan with calls of a tool whose params and result have types.
func typed(call func(i int) string) func(n int) string {
	return func(n int) string {
		return `[{"type":"tool","tool":{"typed":{"properties":{"n":{"type":"integer"},"all":{},
			"_output":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n"]}},
			"required":["n"],"additionalProperties":false}}},{"type":"plan","plan":` +
			list(n, func(i int) string {
				if i == 0 {
					return `"_tool":"typed","n":0,"_outputPath":"†state.x0 && †state.all"`
				}
				return `"_tool":"typed",` + call(i)
			}) + `}]`
	}
}

// list is a list of n objects.
func list(n int, members func(i int) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("{" + members(i) + "}")
	}
	return b.String() + "]"
}

func pick(i int, list ...string) string { return list[i%len(list)] }

// compiled parses and compiles a text.
func compiled(t testing.TB, text []byte, opts *compile.Options) (*compile.Program, diag.List) {
	doc, findings := lang.Parse(diag.NewFile("plan.json", text), nil)
	prog, more := compile.Compile(doc, opts)
	return prog, append(findings, more...)
}
