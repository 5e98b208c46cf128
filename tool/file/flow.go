package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// flow reads the policy on the flow of information. What labels are made of is read first,
// wherever it stands.
func (r *reader) flow(v value, f *File) {
	p := label.New()
	f.Flow, f.flowAt = p, v.key
	parts := map[string]value{}
	keep := func(v value) { parts[v.name()] = v }
	r.members(v, map[string]set{
		"trust": keep, "secrecy": keep, "categories": keep, "plan": keep, "default": keep,
		"given": keep, "tools": keep, "output": keep, "strict": keep, "violation": keep,
	})
	in := func(name string, read set) {
		if v, ok := parts[name]; ok {
			read(v)
		}
	}
	in("trust", r.levels(&p.Trust))
	in("secrecy", r.levels(&p.Secrecy))
	in("categories", r.names(&p.Categories))
	slices.Sort(p.Categories)
	ofPlan, ofUnknown := p.OfPlan(), p.OfUnknown()
	in("plan", func(v value) { ofPlan = r.label(p, v, ofPlan); p.Plan = &ofPlan })
	in("default", func(v value) { ofUnknown = r.label(p, v, ofUnknown); p.Default = &ofUnknown })
	in("given", func(v value) { p.Given = r.paths(p, v) })
	in("tools", func(v value) {
		r.each(v, func(v value) {
			p.Tools = append(p.Tools, r.flowTool(p, v))
			f.permits = append(f.permits, v)
		})
	})
	in("output", func(v value) { p.Output = r.bound(p, v) })
	in("strict", r.flag(&p.Strict))
	in("violation", func(v value) {
		violation := "error"
		r.oneOf(&violation, "error", "warning")(v)
		p.Warn = violation == "warning"
	})
}

// names reads a list of names, each once.
func (r *reader) names(dst *[]string) set {
	return func(v value) {
		var all []string
		r.texts(&all)(v)
		for i, name := range all {
			if strings.TrimSpace(name) == "" {
				r.errorf(v, "a name in %s is empty", v.what())
				return
			}
			if slices.Contains(all[:i], name) {
				r.errorf(v, "%s has %q twice", v.what(), name)
				return
			}
		}
		*dst = all
	}
}

// levels reads the names of levels. There are at least two, or they would tell nothing apart.
func (r *reader) levels(dst *[]string) set {
	return func(v value) {
		var all []string
		r.names(&all)(v)
		switch {
		case len(all) > maxLevels:
			r.errorf(v, "%s has %d levels, more than %d", v.what(), len(all), maxLevels)
		case len(all) > 1:
			*dst = all
		case v.Kind == texttree.Array && len(v.Entries) < 2:
			r.errorf(v, "%s has at least two levels", v.what())
		}
	}
}

const maxLevels = 100

// label reads a label. What it does not say is as in another one.
func (r *reader) label(p *label.Policy, v value, unsaid label.Label) label.Label {
	l := unsaid
	r.members(v, map[string]set{
		"trust":      r.level(&l.Trust, p.Trust),
		"secrecy":    r.level(&l.Secrecy, p.Secrecy),
		"categories": r.categories(&l.Categories, p),
	})
	return l
}

// bound reads what a param must be.
func (r *reader) bound(p *label.Policy, v value) (b label.Bound) {
	r.members(v, map[string]set{
		"trust":      func(v value) { b.HasTrust = true; r.level(&b.Trust, p.Trust)(v) },
		"secrecy":    func(v value) { b.HasSecrecy = true; r.level(&b.Secrecy, p.Secrecy)(v) },
		"categories": r.categories(&b.Categories, p),
	})
	if len(b.Categories) > 0 && !b.HasSecrecy {
		r.errorf(v, "%s has categories; secrecy has to say how secret the value may be besides", v.what())
	}
	return b
}

func (r *reader) level(dst *label.Level, levels []string) set {
	return func(v value) {
		if !r.is(v, texttree.String) {
			return
		}
		i := slices.Index(levels, v.Str)
		if i < 0 {
			r.errorf(v, "%s is %s, not %q%s", v.what(), list(levels), v.Str, meant(v.Str, levels))
			return
		}
		*dst = label.Level(i)
	}
}

func (r *reader) categories(dst *[]string, p *label.Policy) set {
	return func(v value) {
		var all []string
		r.names(&all)(v)
		for _, name := range all {
			if !slices.Contains(p.Categories, name) {
				r.errorf(v, "%s has %q, which flow.categories does not have%s", v.what(), name, meant(name, p.Categories))
			}
		}
		slices.Sort(all)
		*dst = all
	}
}

func meant(name string, names []string) string {
	if best, ok := spell.Nearest(name, slices.Values(names)); ok {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// paths reads labels by paths such as input.user.mail.
func (r *reader) paths(p *label.Policy, v value) (all []label.Path) {
	r.each(v, func(v value) {
		names := strings.Split(strings.TrimPrefix(v.name(), "†"), ".")
		if slices.Contains(names, "") {
			r.errorf(v, "%q is no path: names with dots between them are", v.name())
			return
		}
		all = append(all, label.Path{Names: names, Label: r.label(p, v, p.OfUnknown()), Loc: r.loc(v.key)})
	})
	return all
}

func (r *reader) flowTool(p *label.Policy, v value) label.Tool {
	t := label.Tool{Pattern: v.name(), Loc: r.loc(v.key)}
	r.members(v, map[string]set{
		"gives": func(v value) { l := r.label(p, v, p.OfUnknown()); t.Gives = &l },
		"parts": func(v value) { t.Parts = r.paths(p, v) },
		"drops": r.flag(&t.Drops),
		"takes": func(v value) {
			t.Takes, t.TakesLoc = map[string]label.Bound{}, map[string]diag.Loc{}
			r.each(v, func(v value) {
				t.Takes[v.name()], t.TakesLoc[v.name()] = r.bound(p, v), r.loc(v.key)
			})
		},
	})
	if len(t.Parts) > 0 && t.Gives == nil {
		r.errorf(v, "%s has parts; gives has to say what the rest of the result is", v.what())
	}
	return t
}

// JoinFlow returns the policy on the flow of information of several files: what all of them allow.
// It is nil when no file has one.
func JoinFlow(files ...*File) (joined *label.Policy, found diag.List) {
	var first *File
	for _, f := range files {
		switch {
		case f.Flow == nil:
		case joined == nil:
			joined, first = f.Flow, f
		case !joined.SameLevels(f.Flow):
			found = append(found, diag.Finding{
				Code: diag.BadMember, Severity: diag.Error, Loc: diag.Loc{File: f.Source, Span: f.flowAt}, Pointer: "/flow",
				Message: "flow has other levels than that of another file; all files have the same levels",
				Related: []diag.Related{{Loc: diag.Loc{File: first.Source, Span: first.flowAt}, Message: "the other one is here"}},
			})
		default:
			joined = joined.Join(f.Flow)
		}
	}
	return joined, found
}

// UnmatchedParams reports params that flow names and that a tool does not have.
func UnmatchedParams(c *tool.Catalogue, files ...*File) (found diag.List) {
	for _, f := range files {
		if f.Flow == nil {
			continue
		}
		for _, entry := range f.Flow.Tools {
			t, ok := c.Lookup(entry.Pattern)
			if !ok || !t.Definition.Closed && len(t.Definition.Param) == 0 {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(entry.Takes)) {
				if _, known := t.Definition.Param[name]; known || name == "*" {
					continue
				}
				found = append(found, diag.Finding{
					Code: diag.UnknownParam, Severity: diag.Error, Loc: entry.TakesLoc[name],
					Message: fmt.Sprintf("flow has a bound for the param %q, which the tool %q does not have%s",
						name, entry.Pattern, meant(name, slices.Collect(maps.Keys(t.Definition.Param)))),
				})
			}
		}
	}
	return found
}
