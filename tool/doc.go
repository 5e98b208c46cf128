// Package tool is what a plan can call: definitions (what a tool takes and gives,
// and what it does to the world), activities (what runs), and the catalogue that
// joins the two (plan-language §7).
//
//	type In struct{ City string `json:"city"` }
//	type Out struct{ Degrees float64 `json:"degrees"` }
//	weather := tool.Func("weather", "The weather of a city.",
//		func(ctx context.Context, in In) (Out, error) { return Out{21.5}, nil })
//	weather.Definition.Effects.ReadOnly = tool.Yes
//	catalogue := tool.NewCatalogue(weather)
//
// A definition without an activity is latent: a model, or a result already known,
// stands in for the code. An activity is one method; retries, records, approvals
// and traces wrap it as Middleware. Sub-packages bring activities of other kinds:
// process, http, standin; file reads tool files.
//
// A Catalogue is immutable and may be shared by goroutines.
package tool
