package forecast_test

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

func ExampleRun() {
	weather := tool.Func("weather", "The weather of a city.",
		func(context.Context, struct{ City string }) (struct{ Degrees float64 }, error) { panic("never called") })
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[{"_tool": "weather", "City": "Rome", "_outputPath": "†state.w"}]`)), nil)
	prog, findings := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(weather)})
	if err := findings.Err(); err != nil {
		panic(err)
	}
	d, err := forecast.Run(context.Background(), prog, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Status, len(d.Calls), d.Calls[0].Mark)
	// Output: completed 1 sampled
}
