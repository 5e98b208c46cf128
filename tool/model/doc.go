// Package model has models make the results of latent calls (plan-language §10): those of
// tools that nothing implements.
//
//	client, err := openai.New(model.Config{Model: "some-model", APIKey: key})
//	think := model.New(client, nil)
//	prog, findings := compile.Compile(doc, &compile.Options{
//		Run: true, Models: func(string) (tool.Activity, error) { return think, nil },
//	})
//
// A model is told what the tool is (its definition), the params, what the call may see of the
// whiteboard (_scopes), what is expected and which outcomes there are. It answers with structured
// output: an object that has the result as "_value" and, where the output path has alternatives,
// the one that happened as "_outcome". What it answers is checked like the result of any tool, and
// nothing is mended: an answer that does not fit is a failure, "result", which _retry may try
// again.
//
// A Client speaks to one provider: packages openai and anthropic. A Tape keeps answers and
// gives them back, so that plans with models can be tried without one.
//
// The clients are Conversers as well, which hold conversations with functions that the model may
// call, and tell a reply as it comes: what package loop asks for plans.
//
//	reply, err := model.Retry(client, 0).Converse(ctx, &model.Turn{
//		Messages: []model.Message{{Role: model.User, Text: "Which of these bills are due?"}},
//		OnText:   func(piece string) error { _, err := fmt.Print(piece); return err },
//	})
package model
