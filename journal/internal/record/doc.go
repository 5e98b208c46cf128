// Package record has what stores of runs have in common: events as lines of JSON, what they add
// up to, and what they say of the calls of a run.
package record
