// Package model lets models make the results of latent calls (plan-language §10), which are calls
// of tools that nothing implements.
//
//	client, err := openai.New(model.Config{Model: "some-model", APIKey: key})
//	think := model.New(client, nil)
//	prog, findings := compile.Compile(doc, &compile.Options{
//		Run: true, Models: func(string) (tool.Activity, error) { return think, nil },
//	})
//
// A model gets the definition of the tool, the params, the part of the whiteboard that the call may
// see (_scopes), what is expected and the possible outcomes. It answers with structured output: an
// object that has the result as "_value" and, if the output path has alternatives, the one that
// happened as "_outcome". Its answer is checked like the result of any tool, and never repaired: an
// answer that does not fit is a failure with the code "result", which _retry may try again.
//
// A Client talks to one provider: see packages openai and anthropic. A Tape records answers and
// replays them, so that plans with models can be tried without one.
//
// The clients are also Conversers. These hold conversations with functions that the model may call,
// and stream replies. Package loop uses them to get plans.
//
//	reply, err := model.Retry(client, 0).Converse(ctx, &model.Turn{
//		Messages: []model.Message{{Role: model.User, Text: "Which of these bills are due?"}},
//		OnText:   func(piece string) error { _, err := fmt.Print(piece); return err },
//	})
package model
