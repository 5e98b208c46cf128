// Package guard has what stands around the calls of a tool: a memory of results (Cache), a breaker
// that leaves a service alone that keeps failing (Breaker), and a bound on results (MaxOutput).
//
//	activity = guard.Cache(10 * time.Minute)(guard.Breaker(5, 30*time.Second)(activity))
//
// Each is a tool.Middleware; what it remembers belongs to the activity that it is put around, and
// is shared by all runs that call that. Calls may run at once.
package guard
