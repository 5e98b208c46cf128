package plantest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

// order charges a card before it knows whether there is anything to ship, and gives nothing back.
const order = `[
	{"_tool": "charge", "amount": 12, "_outputPath": "†state.charge"},
	{"_tool": "reserve", "item": "lamp", "_retry": {"max": 2, "delay": "1h"}, "_outputPath": "†state.reserved"},
	{"_tool": "ship", "item": "lamp", "_outputPath": "†state.shipped"}]`

const shop = `{
	"charge":  {"properties": {"amount": {"type": "integer"}}, "effects": {"readOnly": false}},
	"reserve": {"properties": {"item": {"type": "string"}}, "effects": {"readOnly": false, "idempotent": true}},
	"ship":    {"properties": {"item": {"type": "string"}}, "effects": {"readOnly": false}}}`

// program compiles a plan over tools, none of which may be called.
func program(plan, tools string) *compile.Program {
	prog, _ := programWith(plan, tools)
	return prog
}

// programWith returns a program, and the options with which it was compiled.
func programWith(plan, tools string) (*compile.Program, *compile.Options) {
	never := tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) { panic("a test called a tool") })
	var definitions map[string]json.RawMessage
	if err := json.Unmarshal([]byte(tools), &definitions); err != nil {
		panic(err)
	}
	var all []*tool.Tool
	for name, text := range definitions {
		def, findings := tool.ParseDefinition(text, name, diag.Loc{})
		if err := findings.Err(); err != nil {
			panic(err)
		}
		all = append(all, &tool.Tool{Definition: def, Activity: never, Source: "go", Driver: "go"})
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	o := &compile.Options{Run: true, Catalogue: tool.NewCatalogue(all...), Predicates: cel.New()}
	prog, more := compile.Compile(doc, o)
	if err := append(findings, more...).Err(); err != nil {
		panic(err)
	}
	return prog, o
}

func returns(value string) *standin.Script {
	return &standin.Script{Config: standin.Config{Return: json.RawMessage(value)}}
}

func fails(code string) *standin.Script {
	return &standin.Script{Config: standin.Config{Fail: &tool.Error{Code: code, Message: "not now"}}}
}

// The first attempt to reserve fails, and the second one is made an hour later.
func ExampleRun() {
	out, err := plantest.Run(program(order, shop), &plantest.Options{World: plantest.World{
		"charge":  returns(`{"id": "c1"}`),
		"reserve": {Sequence: []*standin.Script{fails("busy"), returns(`true`)}},
		"ship":    returns(`true`),
	}})
	if err != nil {
		panic(err)
	}
	fmt.Println(out.Status, string(out.State), out.Took.Round(time.Hour))
	for _, e := range out.Effects {
		fmt.Println(e)
	}
	// Output:
	// completed {"charge":{"id":"c1"},"reserved":true,"shipped":true} 1h0m0s
	// charge {"amount":12}
	// reserve {"item":"lamp"}
	// ship {"item":"lamp"}
}

// What can go wrong is found without saying what goes wrong.
func ExampleExplore() {
	shipped, err := plantest.NewProperty(`effects.exists(e, e.tool == "charge") && !effects.exists(e, e.tool == "ship")`, true, cel.New())
	if err != nil {
		panic(err)
	}
	found, err := plantest.Explore(program(order, shop), &plantest.Options{World: plantest.World{
		"charge": returns(`1`), "reserve": returns(`2`), "ship": returns(`3`),
	}}, &plantest.Exploration{Properties: []*plantest.Property{shipped}})
	if err != nil {
		panic(err)
	}
	for _, v := range found.Violations {
		fmt.Println(v.Property)
		fmt.Println(v.Faults, v.Outcome.Status, v.Outcome.Effects)
	}
	// Output:
	// never: effects.exists(e, e.tool == "charge") && !effects.exists(e, e.tool == "ship")
	// [charge@1=timeout] failed [charge {"amount":12} (the run does not know)]
}

// A coverage says what no test has reached.
func ExampleCoverage() {
	prog := program(order, shop)
	out, err := plantest.Run(prog, &plantest.Options{World: plantest.World{
		"charge": returns(`1`), "reserve": returns(`2`), "ship": returns(`3`),
	}})
	if err != nil {
		panic(err)
	}
	reached := plantest.NewCoverage(prog)
	reached.Add(out)
	fmt.Println(reached)
	for _, p := range reached.Missed() {
		fmt.Printf("%s: %s\n", p.Call, p.What)
	}
	// Output:
	// 3 of 4
	// reserve: a retry
}
