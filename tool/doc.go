// Package tool defines what a plan can call: definitions (the params, result and effects of a
// tool), activities (the code that runs), and the catalogue that joins the two (plan-language §7).
//
//	type In struct{ City string `json:"city"` }
//	type Out struct{ Degrees float64 `json:"degrees"` }
//	weather := tool.Func("weather", "The weather of a city.",
//		func(ctx context.Context, in In) (Out, error) { return Out{21.5}, nil })
//	weather.Definition.Effects.ReadOnly = tool.Yes
//	catalogue := tool.NewCatalogue(weather)
//
// A definition without an activity is latent: a model makes the result, or it is already known. An
// activity is one method; retries, records, approvals and traces wrap it as Middleware.
// Sub-packages have other kinds of activities, such as process, http and standin; package file
// reads tool files.
//
// A Catalogue is immutable and may be shared by goroutines.
package tool
