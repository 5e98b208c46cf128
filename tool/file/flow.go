package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool/label"
)

// A PolicyFile is a file with a policy on the flow of information. It has the members of the
// section flow of a tool file.
type PolicyFile struct {
	Source *diag.File
	root   value
	faulty bool // it could not be read
}

// ReadPolicy reads the text of a policy. Flow checks its members.
func ReadPolicy(src *diag.File) (*PolicyFile, diag.List) {
	f := &PolicyFile{Source: src, faulty: true}
	r := &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return f, r.findings
	}
	f.root = value{Node: root}
	if root.Kind != texttree.Object {
		r.errorf(f.root, "a policy is an object, not %s", root.Kind)
		return f, r.findings
	}
	f.faulty = false
	return f, nil
}

// Flow returns the policies on the flow of information: first that of all tool files together, if
// they have one, then one for each policy file, which extends the first. A plan has to be allowed
// by each of them, so another file can only take away.
func Flow(files []*File, own ...*PolicyFile) (policies []*label.Policy, findings diag.List) {
	var sections []*section
	for _, f := range files {
		if s := f.section(); s != nil {
			sections = append(sections, s)
		}
	}
	base, faults := readPolicy(label.New(), sections)
	findings = append(findings, faults...)
	if len(sections) > 0 {
		policies = append(policies, base)
	}
	for _, f := range own {
		if f.faulty {
			continue
		}
		s := &section{reader: &reader{file: f.Source}, flow: f.root}
		p, faults := readPolicy(base, []*section{s})
		p.Name = f.Source.Name
		policies, findings = append(policies, p), append(findings, faults...)
	}
	findings.Sort()
	return policies, findings
}

// section is the policy in one file.
type section struct {
	*reader
	flow   value // the section; its Node is nil if there is none
	labels []labelled
}

// labelled is the member labels of a definition.
type labelled struct {
	tool string
	value
}

// section returns the policy in a tool file; nil if it has none.
func (f *File) section() *section {
	if f.flow.Node == nil && f.labels == nil {
		return nil
	}
	return &section{reader: &reader{file: f.Source}, flow: f.flow, labels: f.labels}
}

// raw returns the section as JSON.
func (s *section) raw() json.RawMessage {
	out := []byte(`{"flow":`)
	if s.flow.Node == nil {
		out = append(out, "null"...)
	} else {
		out = append(out, s.flow.JSON()...)
	}
	for _, v := range s.labels {
		out = append(append(append(out, ','), jsonscan.Quote("labels of "+v.tool)...), ':')
		out = append(out, v.JSON()...)
	}
	return append(out, '}')
}

// policyReader reads the policy of sections.
type policyReader struct {
	policy   *label.Policy // the policy that is read
	base     *label.Policy // the policy that it extends
	sections []*section
	known    []string  // the categories that files declare
	patterns []string  // those of them that are patterns
	cut      bool      // known has reached maxCategories
	unknown  int       // the number of uses of unknown categories
	named    []string  // the categories that labels have
	places   []located // the names of levels and categories
}

// located is the name of a level or a category, and its place.
type located struct {
	kind, name string
	loc        diag.Loc
}

// readPolicy reads sections as one policy, which extends base.
func readPolicy(base *label.Policy, sections []*section) (*label.Policy, diag.List) {
	p := &policyReader{policy: &label.Policy{Trust: base.Trust, Secrecy: base.Secrecy}, base: base, sections: sections}
	p.policy.Trust = p.order("trust", base.Trust)
	p.policy.Secrecy = p.order("secrecy", base.Secrecy)
	p.categories()
	p.lookAlikes()
	x := p.policy
	p.each("default", func(s *section, v value) { x.Default = p.joined(x.Default, p.label(s, v, p.anything())) })
	p.each("plan", func(s *section, v value) { x.Plan = p.joined(x.Plan, p.label(s, v, x.OfPlan())) })
	for _, s := range sections {
		for _, v := range s.labels {
			p.policy.Labels = true
			p.tool(s, v.value, v.tool, label.Reject)
		}
		if s.flow.Node != nil {
			p.section(s)
		}
	}
	slices.Sort(p.named)
	p.policy.Worst = slices.Compact(p.named)
	joined := base.Joined(p.policy)
	raw := []json.RawMessage{}
	if base.Raw != nil {
		raw = append(raw, base.Raw)
	}
	for _, s := range sections {
		raw = append(raw, s.raw())
	}
	joined.Raw, _ = json.Marshal(raw) // they are JSON
	var findings diag.List
	for _, s := range sections {
		findings = append(findings, s.findings...)
	}
	return joined, findings
}

// each calls read with a member of each section that has it.
func (p *policyReader) each(name string, read func(*section, value)) {
	for _, s := range p.sections {
		if s.flow.Node == nil || s.flow.Kind != texttree.Object {
			continue
		}
		if e, ok := s.flow.Get(name); ok {
			read(s, s.flow.below(e))
		}
	}
}

// order returns an order with the levels that sections add.
func (p *policyReader) order(kind string, base *label.Order) *label.Order {
	var chains [][]string
	var places []located
	p.each(kind, func(s *section, v value) {
		for _, chain := range s.chains(v) {
			chains = append(chains, chain)
			for _, name := range chain {
				places = append(places, located{kind, name, s.loc(v.Span)})
			}
		}
	})
	p.places = append(p.places, places...)
	for _, name := range base.Names() {
		p.places = append(p.places, located{kind: kind, name: name})
	}
	extended, err := base.Extend(chains...)
	var fault *label.OrderError
	if errors.As(err, &fault) {
		p.fault(places, fault)
		return base
	}
	return extended
}

// fault reports levels that do not form a lattice, at the last place that declares one of them.
func (p *policyReader) fault(places []located, err *label.OrderError) {
	var at []diag.Loc
	for _, l := range places {
		if slices.Contains(err.Levels, l.name) && !slices.Contains(at, l.loc) {
			at = append(at, l.loc)
		}
	}
	if len(at) == 0 { // each statement is valid, but they contradict each other
		at = append(at, places[len(places)-1].loc)
	}
	last := at[len(at)-1]
	f := diag.Finding{Code: diag.BadPolicy, Severity: diag.Error, Loc: last, Message: err.Message}
	for _, l := range at[:len(at)-1] {
		f.Related = append(f.Related, diag.Related{Loc: l, Message: "declared here as well"})
	}
	p.report(last, f)
}

// report adds a finding to those of the file that it is about.
func (p *policyReader) report(at diag.Loc, f diag.Finding) {
	for _, s := range p.sections {
		if s.reader.file == at.File {
			s.findings = append(s.findings, f)
			return
		}
	}
}

// chains reads "untrusted < partner < user", or a list of such texts.
func (s *section) chains(v value) (all [][]string) {
	if v.named("chains", "A chain such as untrusted < partner < user, or a list of chains."); v.Kind == texttree.Array {
		s.elements(v, func(v value) { all = append(all, s.chains(v)...) })
		return all
	}
	if !s.is(v, texttree.String) || v.shape != nil {
		return nil
	}
	var chain []string
	for name := range strings.SplitSeq(v.Str, "<") {
		name = strings.TrimSpace(name)
		if !s.plain(v, name) {
			return nil
		}
		chain = append(chain, name)
	}
	if len(chain) < 2 {
		s.errorf(v, "%s must name at least two levels, as in \"untrusted < partner < user\", not %q", v.what(), v.Str)
		return nil
	}
	return [][]string{chain}
}

// plain reports whether a text may be the name of a level or a category. If not, it adds a finding.
func (s *section) plain(v value, name string) bool {
	switch odd := strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("-_.:/", r)
	}); {
	case name == "":
		s.errorf(v, "a name in %s is empty", v.what())
	case odd >= 0:
		s.errorf(v, "%q in %s is not a valid name; use letters, digits and - _ . : /", name, v.what())
	case spell.MixesScripts(name):
		s.report(diag.BadPolicy, diag.Error, v.Span, v.pointer, "%q mixes letters of several scripts that look alike", name)
	default:
		return true
	}
	return false
}

// maxCategories is the maximum number of categories that a policy may have.
const maxCategories = 10_000

// categories reads the declared categories.
func (p *policyReader) categories() {
	p.known = slices.Clone(p.base.Categories)
	for _, name := range p.known {
		p.places = append(p.places, located{kind: "categories", name: name})
	}
	p.each("categories", func(s *section, v value) {
		s.elements(v, func(e value) {
			if !s.is(e, texttree.String) || !s.plain(e, strings.TrimSuffix(e.Str, "*")) {
				return
			}
			p.known = append(p.known, e.Str)
			p.places = append(p.places, located{"categories", e.Str, s.loc(e.Span)})
		})
		if len(p.known) > maxCategories {
			s.errorf(v, "there are %d categories, more than %d", len(p.known), maxCategories)
			p.known, p.cut = p.known[:maxCategories], true
		}
	})
	slices.Sort(p.known)
	p.known = slices.Compact(p.known)
	p.policy.Categories = p.known
	for _, name := range p.known {
		if strings.HasSuffix(name, "*") {
			p.patterns = append(p.patterns, name)
		}
	}
}

// declares reports whether a category is declared.
func (p *policyReader) declares(name string) bool {
	_, exactly := slices.BinarySearch(p.known, name)
	return exactly || slices.ContainsFunc(p.patterns, func(known string) bool { return label.MatchesCategory(known, name) })
}

// maxMeant is the maximum number of unknown categories for which the nearest one is looked up.
const maxMeant = 20

// lookAlikes reports different names that people can't tell apart.
func (p *policyReader) lookAlikes() {
	seen := map[string]located{}
	for _, l := range slices.Backward(p.places) { // the levels of every policy come last
		key := l.kind + " " + spell.Look(l.name)
		other, ok := seen[key]
		switch {
		case !ok:
			seen[key] = l
		case other.name != l.name:
			if l.loc.IsZero() {
				l, other = other, l
			}
			f := diag.Finding{
				Code: diag.BadPolicy, Severity: diag.Error, Loc: l.loc,
				Message: fmt.Sprintf("%s and %s are different names that look the same", spelled(l.name), spelled(other.name)),
			}
			if !other.loc.IsZero() {
				f.Related = append(f.Related, diag.Related{Loc: other.loc, Message: "the other one is here"})
			}
			p.report(l.loc, f)
		}
	}
}

// spelled returns a name in quotes, with the code points of its letters beyond ASCII.
func spelled(name string) string {
	var odd []string
	for _, r := range name {
		if r > unicode.MaxASCII {
			odd = append(odd, fmt.Sprintf("U+%04X", r))
		}
	}
	if odd == nil {
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%q (with %s)", name, strings.Join(odd, ", "))
}

// section reads the members of a section other than levels and categories.
func (p *policyReader) section(s *section) {
	x, violation := p.policy, label.Reject
	sections := map[string]value{}
	// What has been read, and what is read below, in the order that it depends on each other.
	kept := func(name string, read set) set {
		return func(v value) { sections[name] = v; only(read)(v) }
	}
	readTools := func(v value) { s.each(v, func(v value) { p.tool(s, v, v.name(), violation) }) }
	readOutput := func(v value) {
		w := label.Want{Param: "output", Violation: violation, Loc: s.loc(v.key)}
		p.want(s, v, &w, false)
		x.Output = append(x.Output, w)
	}
	readRules := func(v value) { s.elements(v, func(v value) { p.rule(s, v, violation) }) }
	s.members(s.flow, map[string]set{
		"trust":      doc("More levels of trust: untrusted < partner < user, or a list of such chains.", only(func(v value) { s.chains(v) })),
		"secrecy":    doc("More levels of secrecy: public < sales < internal, or a list of such chains.", only(func(v value) { s.chains(v) })),
		"categories": doc("The names that labels may have; customer:* is all that begin so.", only(s.texts(new([]string)))),
		"plan":       doc("The label of what the plan itself says; the default is user, public.", only(func(v value) { p.label(s, v, p.unsaid()) })),
		"default":    doc("The label of what the policy says nothing about; the default is the worst.", only(func(v value) { p.label(s, v, p.unsaid()) })),
		"given":      doc("The labels of what the run is given, by paths: input.mail.", kept("given", func(v value) { p.paths(s, v) })),
		"tools":      doc("What tools give and take, by their names; * stands for any text, and @readOnly, @destructive and @openWorld for all tools with that annotation.", kept("tools", readTools)),
		"output":     doc("What the output of the plan may hold.", kept("output", readOutput)),
		"rules":      doc("What a run may do as a whole: sum(pay.amount) <= 1000.", kept("rules", readRules)),
		"strict":     doc("Treats what only decides as data.", func(v value) { var strict bool; s.flag(&strict)(v); x.Strict = x.Strict || strict }),
		"violation":  doc("What happens to a plan, or to a call, that does what is not allowed (default: reject).", s.violation(&violation)),
	})
	for _, name := range []string{"plan", "default", "given", "tools", "output"} {
		if s.flow.Kind == texttree.Object {
			_, has := s.flow.Get(name)
			x.Labels = x.Labels || has
		}
	}
	if given, ok := sections["given"]; ok {
		x.Given = append(x.Given, p.paths(s, given)...)
	}
	for _, later := range []struct {
		name string
		read set
	}{{"tools", readTools}, {"output", readOutput}, {"rules", readRules}} {
		if v, ok := sections[later.name]; ok {
			later.read(v)
		}
	}
}

// describe returns a reader that only describes the members of a section.
func (p *policyReader) describe(s *section) set {
	return func(v value) { s.flow = v; p.section(s) }
}

func (s *section) violation(dst *label.Violation) set {
	return func(v value) {
		var name string
		s.oneOf(&name, label.Violations[:]...)(v)
		if i := slices.Index(label.Violations[:], name); i >= 0 {
			*dst = label.Violation(i)
		}
	}
}

func (p *policyReader) joined(l *label.Label, m label.Label) *label.Label {
	if l != nil {
		m = p.policy.Join(*l, m)
	}
	return &m
}

// anything returns the worst label, without categories.
func (p *policyReader) anything() label.Label {
	return label.Label{Trust: p.policy.Trust.Bottom(), Secrecy: p.policy.Secrecy.Top()}
}

// unsaid returns the label of a value for which the policy states neither trust nor secrecy: those
// of the default, without categories.
func (p *policyReader) unsaid() label.Label {
	l := p.anything()
	for i, d := range slices.DeleteFunc([]*label.Label{p.base.Default, p.policy.Default}, func(d *label.Label) bool { return d == nil }) {
		if l.Trust, l.Secrecy = d.Trust, d.Secrecy; i > 0 {
			l = p.policy.Join(l, *p.base.Default)
			l.Categories = nil
		}
	}
	return l
}

// label reads a label. Members that are missing are taken from unsaid.
func (p *policyReader) label(s *section, v value, unsaid label.Label) label.Label {
	v.named("label", "How much a value may be trusted, and how secret it is.")
	l := unsaid
	s.members(v, map[string]set{
		"trust":   doc("Who could have chosen the value: untrusted, user, operator, or another level of this file.", s.level(&l.Trust, p.policy.Trust)),
		"secrecy": doc("Who may see the value: public, internal, secret, or another level of this file.", s.level(&l.Secrecy, p.policy.Secrecy)),
		"categories": doc("What else it is about.", func(v value) {
			l.Categories = p.names(s, v, false)
			p.named = append(p.named, l.Categories...)
		}),
	})
	return l
}

func (s *section) level(dst *label.Level, o *label.Order) set {
	return func(v value) {
		if !s.is(v, texttree.String) || v.shape != nil { // files have more levels
			return
		}
		l, ok := o.Level(v.Str)
		if !ok {
			s.errorf(v, "%s must be one of %s, not %q%s", v.what(), list(o.Names()), v.Str, meant(v.Str, o.Names()))
			return
		}
		*dst = l
	}
}

// names reads categories. Those of bounds may be patterns.
func (p *policyReader) names(s *section, v value, patterns bool) (all []string) {
	s.elements(v, func(e value) {
		switch {
		case !s.is(e, texttree.String):
		case !patterns && strings.HasSuffix(e.Str, "*"):
			s.errorf(e, "%s has the pattern %q; only the categories of a bound may be patterns", v.what(), e.Str)
		case p.declares(e.Str):
			all = append(all, e.Str)
		case p.cut: // it may be one of those that are too many
		default:
			known := p.known
			if p.unknown++; p.unknown > maxMeant {
				known = nil
			}
			s.errorf(e, "%s has %q, which is not declared in \"categories\"%s", v.what(), e.Str, meant(e.Str, known))
		}
	})
	slices.Sort(all)
	return slices.Compact(all)
}

func meant(name string, names []string) string {
	if best, ok := spell.Nearest(name, slices.Values(names)); ok {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// paths reads labels by paths such as input.user.mail.
func (p *policyReader) paths(s *section, v value) (all []label.Path) {
	places := map[string]diag.Span{}
	s.each(v, func(v value) {
		if v.shape != nil {
			p.label(s, v, p.unsaid())
			return
		}
		path := strings.TrimPrefix(v.name(), "†")
		names := strings.Split(path, ".")
		if slices.Contains(names, "") {
			s.errorf(v, "%q is not a path; write names separated by dots", v.name())
			return
		}
		if first, ok := places[path]; ok {
			s.reader.report(diag.BadPolicy, diag.Error, v.key, v.pointer, "%q has two labels", path)
			s.findings[len(s.findings)-1].Related = []diag.Related{{Loc: s.loc(first), Message: "the first one is here"}}
			return
		}
		places[path] = v.key
		all = append(all, label.Path{Names: names, Label: p.label(s, v, p.unsaid()), Loc: s.loc(v.key)})
	})
	return all
}

// tool reads an entry for tools.
func (p *policyReader) tool(s *section, v value, name string, violation label.Violation) {
	v.named("flowTool", "What a tool gives and takes.")
	t := label.Tool{Selector: label.Selector{Text: name, Loc: s.loc(v.key)}}
	if v.shape == nil {
		s.selector(v, t.Text)
	}
	var bounds value
	takes := func(v value) {
		s.each(v, func(v value) {
			w := label.Want{Param: v.name(), Violation: violation, Loc: s.loc(v.key)}
			p.want(s, v, &w, true)
			t.Takes = append(t.Takes, w)
		})
	}
	s.members(v, map[string]set{
		"gives":        doc("The label of the results.", func(v value) { l := p.label(s, v, p.unsaid()); t.Gives = &l }),
		"parts":        doc("Other labels of parts of results, by paths in them: items.id.", func(v value) { t.Parts = p.paths(s, v) }),
		"endorses":     doc("The name under which results do not carry the trust of the params.", s.named(&t.Endorses)),
		"declassifies": doc("The name under which results do not carry the secrecy of the params.", s.named(&t.Declassifies)),
		"leaves":       doc("Whether others than the tool may see its params.", func(v value) { leaves := true; s.flag(&leaves)(v); t.Leaves = &leaves }),
		"violation":    doc("What happens to a call that does what is not allowed.", s.violation(&violation)),
		"takes":        doc("What params may be given, by name; * is all that are not named.", func(v value) { bounds = v; only(takes)(v) }),
	})
	if bounds.Node != nil {
		takes(bounds)
	}
	for _, also := range []struct {
		said bool
		what string
	}{{len(t.Parts) > 0, "parts"}, {t.Endorses != "", "endorses"}, {t.Declassifies != "", "declassifies"}} {
		if also.said && t.Gives == nil {
			s.errorf(v, "%s has %q but no \"gives\"; add \"gives\" with the label of the result", v.what(), also.what)
		}
	}
	p.policy.Tools = append(p.policy.Tools, t)
}

// selector reports an unknown annotation.
func (s *section) selector(v value, text string) {
	name, ok := label.Selector{Text: text}.Annotation()
	if ok && !slices.Contains(label.Annotations, name) {
		s.reader.report(diag.BadPolicy, diag.Error, v.nameOr(), v.pointer, "@%s is not an annotation; the annotations are @%s%s",
			name, strings.Join(label.Annotations, ", @"), meant(name, label.Annotations))
	}
}

// nameOr returns the place of the name of a member, or of the value if it has none.
func (v value) nameOr() diag.Span {
	if v.key.IsZero() {
		return v.Span
	}
	return v.key
}

// named reads the name of an endorsement or a declassification.
func (s *section) named(dst *string) set {
	return func(v value) {
		var name string
		if s.text(&name)(v); v.Kind == texttree.String && strings.TrimSpace(name) == "" {
			s.errorf(v, "%s must not be empty: it is the name that reports show", v.what())
			return
		}
		*dst = name
	}
}

// want reads the requirement on a param; for the output, only a bound.
func (p *policyReader) want(s *section, v value, w *label.Want, param bool) {
	if param {
		v.named("bound", "What a param may be given.")
	}
	hasCategories := false
	known := map[string]set{
		"trust":      doc("At least this level of trust.", func(v value) { w.HasTrust = true; s.level(&w.Trust, p.policy.Trust)(v) }),
		"secrecy":    doc("At most this level of secrecy.", func(v value) { w.HasSecrecy = true; s.level(&w.Secrecy, p.policy.Secrecy)(v) }),
		"categories": doc("The only categories; customer:* is all that begin so.", func(v value) { hasCategories = true; w.Categories = p.names(s, v, true) }),
		"violation":  doc("What happens to a call that does what is not allowed.", s.violation(&w.Violation)),
	}
	if param {
		maps.Copy(known, map[string]set{
			"in": doc("The value must be an element of this list: input.payees, listHotels.name.", func(v value) {
				src := &label.Source{Loc: s.loc(v.Span)}
				s.text(&src.Text)(v)
				src.Text = strings.TrimPrefix(src.Text, "†")
				w.In = src
			}),
			"or": doc("A condition in CEL over params and input that stands in for trust.", func(v value) {
				c := &label.Condition{Loc: s.loc(v.Span)}
				s.text(&c.Text)(v)
				w.Or = c
			}),
		})
	}
	s.members(v, known)
	switch {
	case hasCategories && !w.HasSecrecy:
		s.errorf(v, "%s has \"categories\" but no \"secrecy\"; add a level of secrecy", v.what())
	case w.Or != nil && !w.HasTrust:
		s.errorf(v, "%s has \"or\" but no \"trust\"; add the level that the condition stands in for", v.what())
	}
}

// rule reads a rule: a text, or an object with the text and a violation.
func (p *policyReader) rule(s *section, v value, violation label.Violation) {
	text := v
	if v.Kind == texttree.Object {
		v.needs("rule")
		s.members(v, map[string]set{"rule": doc("The rule: sum(pay.amount) <= 1000.", func(v value) { text = v; only(s.text(new(string)))(v) }), "violation": doc("What happens to a plan that breaks it.", s.violation(&violation))})
		if v.shape != nil {
			return
		}
		if text.Node == v.Node {
			s.errorf(v, "%s has no rule", v.what())
			return
		}
	}
	if !s.is(text, texttree.String) || v.shape != nil {
		return
	}
	r, err := label.ParseRule(text.Str)
	if err != nil {
		s.reader.report(diag.BadPolicy, diag.Error, text.Span, text.pointer, "%s: %s", shorten(text.Node), err)
		return
	}
	r.Violation, r.Loc = violation, s.loc(text.Span)
	r.Tools.Loc, r.Other.Loc = r.Loc, r.Loc
	if r.If != nil {
		r.If.Loc = r.Loc
	}
	s.selector(text, r.Tools.Text)
	s.selector(text, r.Other.Text)
	p.policy.Rules = append(p.policy.Rules, r)
}
