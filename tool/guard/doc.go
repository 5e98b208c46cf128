// Package guard wraps the calls of a tool: with a memory of results (Cache), a breaker that stops
// calling a service that keeps failing (Breaker), and a bound on the size of results (MaxOutput).
//
//	activity = guard.Cache(10 * time.Minute)(guard.Breaker(5, 30*time.Second)(activity))
//
// Each is a tool.Middleware. Its memory belongs to the activity that it wraps, and is shared by all
// runs that call it. Calls may run at once.
package guard
