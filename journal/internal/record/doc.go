// Package record holds what stores of runs have in common: events as lines of JSON, the summary
// that events add up to, and what they say about the calls of a run.
package record
