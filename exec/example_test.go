package exec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

type cityIn struct {
	City string `json:"city"`
}

type weatherOut struct {
	Degrees float64 `json:"degrees"`
}

// exampleProgram compiles a plan against two Go functions.
func exampleProgram(plan string) *compile.Program {
	weather := tool.Func("weather", "The weather of a city.", func(_ context.Context, in cityIn) (weatherOut, error) {
		if in.City != "Rome" {
			return weatherOut{}, &tool.Error{Code: "unknown", Message: "no station in " + in.City, Permanent: true}
		}
		return weatherOut{21.5}, nil
	})
	tell := tool.Func("tell", "Says something.", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(weather, tell), Run: true})
	if err := append(findings, more...).Err(); err != nil {
		panic(err)
	}
	return prog
}

func ExampleRun() {
	prog := exampleProgram(`[
		{"_tool": "weather", "city": "Rome", "_outputPath": "†state.weather"},
		{"_tool": "tell", "text": "It has †{state.weather.degrees} degrees.", "_outputPath": "†state.told"}]`)
	res, err := exec.Run(context.Background(), prog, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Status, string(res.State))
	// Output: completed {"weather":{"degrees":21.5},"told":"It has 21.5 degrees."}
}

// An engine that keeps its own time makes the attempts. Here they are made one after the other, and
// nothing waits for a retry or a person.
func ExampleStepper() {
	prog := exampleProgram(`[
		{"_tool": "weather", "city": "Rome", "_outputPath": "†state.weather"},
		{"_tool": "tell", "text": "It has †{state.weather.degrees} degrees.", "_outputPath": "†state.told"}]`)
	m, err := exec.NewStepper(prog, &exec.Options{ID: "run-1", Seed: 1}, nil, time.Now())
	if err != nil {
		panic(err)
	}
	for m.Result() == nil {
		for _, a := range m.Next() {
			fmt.Println(a.ID, string(a.Request.Params))
			res, err := a.Make(context.Background(), a.Activity())
			m.Advance(time.Now())
			if err := m.Answer(a.ID, res, err); err != nil {
				panic(err)
			}
		}
	}
	fmt.Println(m.Result().Status, string(m.Result().State))
	// Output:
	// weather@1 {"city":"Rome"}
	// tell@1 {"text":"It has 21.5 degrees."}
	// completed {"weather":{"degrees":21.5},"told":"It has 21.5 degrees."}
}

// A failure takes the last alternative of the output path; what reads the first
// is skipped.
func ExampleRun_outcomes() {
	prog := exampleProgram(`[
		{"_tool": "weather", "city": "Atlantis", "_outputPath": "†state.weather || †state.error"},
		{"_tool": "tell", "_id": "report", "text": "†{state.weather.degrees} degrees", "_outputPath": "†state.told"},
		{"_tool": "tell", "_id": "excuse", "text": "Sorry: †{state.error.message}.", "_outputPath": "†state.told"}]`)
	res, err := exec.Run(context.Background(), prog, nil)
	if err != nil {
		panic(err)
	}
	for _, c := range res.Calls {
		fmt.Printf("%s %s: %q\n", c.ID, c.Status, c.Reason)
	}
	var state struct{ Told string }
	json.Unmarshal(res.State, &state)
	fmt.Println(state.Told)
	// Output:
	// weather failed: ""
	// report skipped: "†state.weather.degrees can't come: \"weather\" failed"
	// excuse completed: ""
	// Sorry: no station in Atlantis.
}

func ExampleEvents() {
	prog := exampleProgram(`[{"_tool": "weather", "city": "Rome", "_outputPath": "†state.weather"}]`)
	for e, err := range exec.Events(context.Background(), prog, nil) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s %q\n", e.Type, e.Call)
	}
	// Output:
	// runStarted ""
	// callReady "weather"
	// callStarted "weather"
	// callReturned "weather"
	// write "weather"
	// callCompleted "weather"
	// runFinished ""
}
