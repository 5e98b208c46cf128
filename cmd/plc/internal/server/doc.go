// Package server serves plans to people and programs over HTTP: an API for all that the command
// does with a store, and pages for approvals.
//
//	s, err := server.New(ctx, server.Options{Engine: eng, Tokens: tokens})
//	defer s.Close()
//	err = http.Serve(listener, s)
//
// Every request except those for the login page and the description of the API has to be
// authenticated, by a token or by the cookie of a person who has logged in (auth.go). The handlers
// in plans.go, runs.go, events.go and answers.go translate between HTTP and the Engine, and decide
// nothing by themselves. openapi.json describes them; a test compares it with the routes. Package
// runner executes the runs. The pages (page.go) are HTML that needs no script.
package server
