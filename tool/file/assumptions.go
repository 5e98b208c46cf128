package file

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

// Assumptions is the content of a file that says how tools behave in a simulation
// (docs/simulation.md).
type Assumptions struct {
	Tools, Calls []Assumption // by name and by path, in the order of the file
	Answers      []AssumedAnswer
}

// Assumption says how the attempts of a tool, or of a call, behave.
type Assumption struct {
	Name  string
	Loc   diag.Loc
	Fails *float64    // the share of attempts that fail; nil if not given
	Fail  *tool.Error // how they fail; nil if not given
	// Takes lists the times that they may take, or with Ranged the two ends of a range. It is empty
	// if not given.
	Takes  []time.Duration
	Ranged bool
}

// AssumedAnswer is the answer of a person when the call of a path asks for approval.
type AssumedAnswer struct {
	Call   string
	Loc    diag.Loc
	Answer TestAnswer
}

// ReadAssumptions reads a file of assumptions. It never returns nil: besides the findings it
// returns everything that could be read.
func ReadAssumptions(src *diag.File) (*Assumptions, diag.List) {
	a, r := &Assumptions{}, &reader{file: src}
	if saysNothing(string(src.Text)) {
		return a, nil
	}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return a, r.findings
	}
	list := func(dst *[]Assumption) set {
		return func(v value) {
			r.each(v, func(v value) { *dst = append(*dst, r.assumption(v)) })
		}
	}
	r.members(value{Node: root}, map[string]set{
		"tools": list(&a.Tools), "calls": list(&a.Calls),
		"answers": func(v value) {
			r.each(v, func(v value) {
				a.Answers = append(a.Answers, AssumedAnswer{v.name(), r.loc(v.key), r.testAnswer(v)})
			})
		},
	})
	r.findings.Sort()
	for i, f := range r.findings {
		r.findings[i].Message = strings.Replace(f.Message, "the tool file", "the file of assumptions", 1)
	}
	return a, r.findings
}

func (r *reader) assumption(v value) Assumption {
	a := Assumption{Name: v.name(), Loc: r.loc(v.key)}
	r.members(v, map[string]set{
		"fails": func(v value) {
			if !r.is(v, texttree.Number) {
				return
			}
			share, err := ParseShare(v.Raw)
			if err != nil {
				r.errorf(v, "%s: %v", v.what(), err)
				return
			}
			a.Fails = &share
		},
		"fail": func(v value) {
			var c standin.Config
			r.fail(v, &c)
			a.Fail = c.Fail
		},
		"takes": func(v value) { r.takes(v, &a) },
	})
	return a
}

// takes reads a duration, a range of them, or a list.
func (r *reader) takes(v value, a *Assumption) {
	switch v.Kind {
	case texttree.Array:
		if len(v.Entries) == 0 {
			r.errorf(v, "%s is empty; give it one duration or more", v.what())
		}
		for _, e := range v.Entries {
			var d time.Duration
			r.duration(&d, 0)(v.below(e))
			a.Takes = append(a.Takes, d)
		}
	case texttree.String:
		takes, ranged, err := ParseTakes(v.Str)
		if err != nil {
			r.errorf(v, "%s: %v", v.what(), err)
			return
		}
		a.Takes, a.Ranged = takes, ranged
	default:
		var d time.Duration
		before := len(r.findings)
		if r.duration(&d, 0)(v); len(r.findings) == before {
			a.Takes = []time.Duration{d}
		}
	}
}

// ParseShare reads a share from 0 to 1.
func ParseShare(text string) (float64, error) {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, errors.New("must be a number from 0 to 1, such as 0.05")
	}
	return share, nil
}

// ParseTakes reads how long something takes: a duration, a number of seconds, or a range such as
// 1s..3s. For a range it returns the two ends, and true.
func ParseTakes(text string) (takes []time.Duration, ranged bool, err error) {
	wrong := errors.New("it is a duration like 1.5s, or a range like 1s..3s")
	from, to, ranged := strings.Cut(text, "..")
	ends := []string{from, to}
	if !ranged {
		ends = ends[:1]
	}
	for _, end := range ends {
		d, err := time.ParseDuration(end)
		if seconds, numErr := strconv.ParseFloat(end, 64); numErr == nil && seconds >= 0 && seconds < maxDuration.Seconds() {
			d, err = time.Duration(seconds*float64(time.Second)), nil
		}
		if err != nil || d < 0 || d > maxDuration {
			return nil, false, wrong
		}
		takes = append(takes, d)
	}
	if ranged && takes[1] < takes[0] {
		return nil, false, errors.New("the range ends before it begins")
	}
	return takes, ranged, nil
}
