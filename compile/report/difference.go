package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Difference is a place at which two manifests differ.
type Difference struct {
	Path string          `json:"path"`          // a JSON Pointer into the manifest
	Was  json.RawMessage `json:"was,omitempty"` // nil: nothing was there
	Is   json.RawMessage `json:"is,omitempty"`  // nil: nothing is there
}

// MaxDifferences is the maximum number of differences that are listed.
const MaxDifferences = 100

// Differences returns the places at which another manifest is not m, at most MaxDifferences, in
// the order of their names. Both are valid and canonical. It costs time linear in both.
func (m Manifest) Differences(is Manifest) []Difference {
	var c comparison
	c.values(nil, gjson.ParseBytes(m), gjson.ParseBytes(is))
	if len(c) == 1 {
		return c
	}
	if others := slices.DeleteFunc(slices.Clone(c), Difference.ofTarget); len(others) > 0 { // they say what it is
		c = others
	}
	calls := slices.ContainsFunc(c, func(d Difference) bool {
		return strings.HasPrefix(d.Path, "/calls/") && (d.Was == nil || d.Is == nil)
	})
	return slices.DeleteFunc(c, func(d Difference) bool { // the others say what it is
		return d.Path == "/document" || d.Path == "/order" && calls
	})
}

// ofTarget reports whether the difference is one of what a call runs, which mostly is told by the
// tools as well.
func (d Difference) ofTarget() bool {
	tokens := strings.Split(strings.TrimPrefix(d.Path, "/"), "/")
	if tokens[0] == "programs" && len(tokens) > 2 {
		tokens = tokens[2:]
	}
	if tokens[0] == "calls" && len(tokens) > 2 {
		return slices.Contains([]string{"target", "fallbackTarget", "undoTargets", "fallbackUndoTargets"}, tokens[2])
	}
	return tokens[0] == "targets"
}

// comparison collects the differences that were found.
type comparison []Difference

func (c *comparison) add(path []string, was, is gjson.Result) {
	if len(*c) == MaxDifferences {
		return
	}
	d := Difference{}
	for _, token := range path {
		d.Path += "/" + jsonscan.EscapePointer(token)
	}
	if was.Exists() {
		d.Was = json.RawMessage(was.Raw)
	}
	if is.Exists() {
		d.Is = json.RawMessage(is.Raw)
	}
	*c = append(*c, d)
}

func (c *comparison) values(path []string, was, is gjson.Result) {
	switch {
	case was.Raw == is.Raw && was.Exists() == is.Exists():
	case isSpelled(was) || isSpelled(is):
		c.add(path, was, is)
	case was.IsObject() && is.IsObject():
		c.objects(path, was, is)
	case was.IsArray() && is.IsArray() && !slices.Equal(path, []string{"order"}):
		c.arrays(path, was.Array(), is.Array())
	default:
		c.add(path, was, is)
	}
}

func (c *comparison) objects(path []string, was, is gjson.Result) {
	theirs := map[string]gjson.Result{}
	is.ForEach(func(k, v gjson.Result) bool { theirs[k.String()] = v; return true })
	was.ForEach(func(k, v gjson.Result) bool {
		c.values(append(path, k.String()), v, theirs[k.String()])
		delete(theirs, k.String())
		return true
	})
	is.ForEach(func(k, v gjson.Result) bool {
		if _, added := theirs[k.String()]; added {
			c.add(append(path, k.String()), gjson.Result{}, v)
		}
		return true
	})
}

func (c *comparison) arrays(path []string, was, is []gjson.Result) {
	at := func(list []gjson.Result, i int) (r gjson.Result) {
		if i < len(list) {
			r = list[i]
		}
		return r
	}
	for i := range max(len(was), len(is)) {
		c.values(append(path, strconv.Itoa(i)), at(was, i), at(is, i))
	}
}

// String returns the difference in words: call "pay": amount was 5, is 6.
func (d Difference) String() string {
	thing, path := d.place()
	if path != "" {
		thing += ": " + path
	}
	d.Was = appendShown(nil, d.Path, gjson.ParseBytes(d.Was))
	d.Is = appendShown(nil, d.Path, gjson.ParseBytes(d.Is))
	switch {
	case d.Was == nil:
		return fmt.Sprintf("%s is new: %s", thing, short(d.Is))
	case d.Is == nil:
		return fmt.Sprintf("%s is gone, it was %s", thing, short(d.Was))
	}
	return fmt.Sprintf("%s was %s, is %s", thing, short(d.Was), short(d.Is))
}

// place returns the thing that a difference is about, and where in it.
func (d Difference) place() (thing, path string) {
	tokens := strings.Split(strings.TrimPrefix(d.Path, "/"), "/")
	for i, t := range tokens {
		tokens[i] = jsonscan.UnescapePointer(t)
	}
	next := func() (t string) {
		if len(tokens) > 0 {
			t, tokens = tokens[0], tokens[1:]
		}
		return t
	}
	first := next()
	if first == "programs" && len(tokens) > 0 {
		thing = fmt.Sprintf("delegate %q, ", next())
		first = next()
	}
	switch first {
	case "calls":
		thing += fmt.Sprintf("call %q", next())
	case "tools":
		thing += fmt.Sprintf("tool %q", next())
	case "activities":
		thing += fmt.Sprintf("activity %q", next())
	case "initial":
		thing += next()
	case "schemas":
		thing += "the schema of " + next()
	case "flags":
		thing += "--" + next()
	case "lines":
		thing += "line " + next() + " of the instances"
	case "order":
		thing += "the order of the calls"
	case "document":
		thing += "what the plan says besides its calls (its digest)"
	default:
		thing += first
	}
	if len(tokens) > 0 && (tokens[0] == "call" && first == "calls" || tokens[0] == "activity") {
		next()
	}
	return thing, strings.Join(tokens, ".")
}

// short returns as much of a value as fits on a line.
func short(v json.RawMessage) string {
	const most = 120
	if len(v) <= most {
		return string(v)
	}
	end := most
	for !utf8.RuneStart(v[end]) {
		end--
	}
	return string(v[:end]) + "…"
}
