// Package lazyregexp has regular expressions that are compiled on first use, so that a program
// doesn't compile those of notations that it never reads.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. Its methods are those of regexp.Regexp, and may be called by
// several goroutines.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns an expression. If the expression is invalid, its first use panics.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// Match does what the method of regexp.Regexp does.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString does what the method of regexp.Regexp does.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// Find does what the method of regexp.Regexp does.
func (r *Regexp) Find(b []byte) []byte { return r.compiled().Find(b) }

// FindString does what the method of regexp.Regexp does.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex does what the method of regexp.Regexp does.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindSubmatch does what the method of regexp.Regexp does.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

// FindStringSubmatch does what the method of regexp.Regexp does.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex does what the method of regexp.Regexp does.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindSubmatchIndex does what the method of regexp.Regexp does.
func (r *Regexp) FindSubmatchIndex(b []byte) []int { return r.compiled().FindSubmatchIndex(b) }

// FindAllString does what the method of regexp.Regexp does.
func (r *Regexp) FindAllString(s string, n int) []string {
	return r.compiled().FindAllString(s, n)
}

// FindAllStringIndex does what the method of regexp.Regexp does.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch does what the method of regexp.Regexp does.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex does what the method of regexp.Regexp does.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString does what the method of regexp.Regexp does.
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}
