package lsp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// A candidate is a path that could be read at a place.
type candidate struct {
	path    state.Path
	sources []compile.Source
	later   bool // a call later in the list writes it
	far     int  // the number of calls in between
	fit     int  // 0: its value fits; 1: perhaps; 2: never
}

// references offers the paths that a call may read (nil is the plan's output) and whose values fit
// a schema (nil is any). The typed text may begin with †, or with $, + or t., which people type
// instead of it.
func (c *completer) references(call *lang.Call, wanted *schemas.Schema) {
	if c.analysis.program == nil || !c.quoted {
		return
	}
	typed := c.typed()
	word := typed[wordStart(typed):]
	if i := strings.LastIndexAny(word, "$†"); i > 0 {
		word = word[i:]
	}
	from := c.offset - len(word)
	braces := strings.LastIndex(typed, "†{")
	inBraces := braces >= 0 && !strings.Contains(typed[braces:], "}")
	whole := from == c.start() || isExpression(typed)
	sigil, path := splitSigil(word)
	if !whole && !inBraces && sigil == "" {
		return // prose
	}
	if !whole {
		wanted = nil
	}
	for _, found := range c.candidates(call, path, wanted) {
		text := found.path.String()
		item := protocol.CompletionItem{Label: text, Kind: protocol.KindVariable, Detail: typeOf(found.sources)}
		if sigil != "" && sigil != "†" {
			item.FilterText = sigil + strings.TrimPrefix(text, "†")
		}
		if found.fit == 2 {
			item.Detail += " (does not fit)"
		}
		item.Documentation = writtenBy(found.sources)
		switch {
		case inBraces:
			text = strings.TrimPrefix(text, "†")
		case !whole:
			text = "†{" + strings.TrimPrefix(text, "†") + "}"
		}
		c.put(from, item, text, !inBraces)
	}
}

// wordStart returns the start of the reference at the end of a text.
func wordStart(typed string) int {
	depth := 0
	for i := len(typed); i > 0; {
		switch c := typed[i-1]; {
		case c == ']':
			depth++
		case c == '[':
			depth--
		case depth <= 0 && strings.IndexByte(" \t(){}|&<>*,;:!?'\"\\/=", c) >= 0:
			return i
		}
		i--
	}
	return 0
}

// isExpression reports whether the typed text is the beginning of a string that is an expression as
// a whole.
func isExpression(typed string) bool {
	typed = strings.TrimLeft(typed, " \t(")
	return strings.HasPrefix(typed, "†") && !strings.HasPrefix(typed, "†{") && !strings.HasPrefix(typed, "††")
}

// splitSigil splits a word into the characters that mark it as a reference and its path.
func splitSigil(word string) (sigil, path string) {
	for _, sigil := range []string{"†", "$", "+", "t."} {
		if path, ok := strings.CutPrefix(word, sigil); ok {
			return sigil, path
		}
	}
	return "", word
}

// candidates returns the paths that a call may read, best first. If a path is typed up to a dot or
// bracket, it returns the paths below it.
func (c *completer) candidates(call *lang.Call, typed string, wanted *schemas.Schema) []candidate {
	var below state.Path
	if i := strings.LastIndexAny(typed, ".["); i > 0 {
		if e, err := lang.ParseRead("†" + typed[:i]); err == nil && e.Op == lang.OpRef {
			below = pathOfExpr(e)
		}
	}
	all := append(c.written(call), c.asked(call)...)
	if len(below) > 0 {
		all = slices.DeleteFunc(all, func(f candidate) bool { return len(f.path) <= len(below) || !f.path[:len(below)].Covers(below) })
		all = append(all, c.membersOf(call, below)...)
	} else {
		all = append(all, c.held()...)
	}
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(f candidate) bool {
		key := f.path.String()
		had := seen[key]
		seen[key] = true
		return had
	})
	relation := &schemas.Relation{}
	for i := range all {
		all[i].fit = fitOf(relation, all[i].sources, wanted)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		later := func(f candidate) int {
			if f.later {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.fit, b.fit), cmp.Compare(later(a), later(b)), cmp.Compare(a.far, b.far))
	})
	return all[:min(len(all), maxOffered)]
}

// maxOffered is the maximum number of paths that are offered.
const maxOffered = 500

// fitOf returns how well the value of a path fits a schema.
func fitOf(relation *schemas.Relation, sources []compile.Source, wanted *schemas.Schema) int {
	got := schemaOf(sources)
	if wanted == nil {
		return 0
	}
	if got == nil {
		return 1
	}
	switch fit, _ := relation.Fit(got, wanted); fit {
	case schemas.Fits:
		return 0
	case schemas.NeverFit:
		return 2
	}
	return 1
}

// written returns the paths that other calls write.
func (c *completer) written(call *lang.Call) (all []candidate) {
	here := len(c.analysis.program.Document.Calls)
	before := state.End
	if call != nil {
		here = call.Index
		if compiled := c.analysis.compiled(call); compiled != nil {
			before = compiled.Place
		}
	}
	calls := c.analysis.program.Document.Calls
	for i := range calls {
		at := &calls[max(0, here-1-i)]
		if i >= here {
			at = &calls[i]
		}
		if call != nil && at.Index == call.Index || len(all) >= maxOffered {
			continue
		}
		for o := range c.analysis.inCall(at) {
			if !o.write {
				continue
			}
			path := o.path()
			f := candidate{path: path, later: at.Index > here, far: max(at.Index-here, here-at.Index)}
			if f.sources = c.analysis.program.Types(&compile.Read{Path: path}, before); len(f.sources) == 0 || f.later {
				f.sources = c.analysis.program.Types(&compile.Read{Path: path}, state.End)
			}
			all = append(all, f)
		}
	}
	return all
}

// held returns the paths that the whiteboard holds at the beginning, or that schemas declare: kinds
// and their members.
func (c *completer) held() (all []candidate) {
	kinds := map[string]bool{"input": true, "state": true, "data": true}
	for kind := range c.analysis.program.Initial {
		kinds[kind] = true
	}
	for _, kind := range slices.Sorted(func(yield func(string) bool) {
		for k := range kinds {
			if !strings.Contains(k, "\x00") && !yield(k) {
				return
			}
		}
	}) {
		path := state.Path{{Name: kind}}
		all = append(all, c.membersOf(nil, path)...)
		all = append(all, candidate{path: path, far: 1 << 30, sources: c.analysis.program.Types(&compile.Read{Path: path}, state.End)})
	}
	return all
}

// asked returns the paths of the input that the plan reads elsewhere.
func (c *completer) asked(call *lang.Call) (all []candidate) {
	for o := range c.analysis.occurrences() {
		if path := o.path(); !o.write && path[0].Name == "input" && len(path) > 1 && (call == nil || o.call == nil || o.call.Index != call.Index) {
			if all = append(all, candidate{path: path, far: 1 << 20, sources: o.sources()}); len(all) >= maxOffered {
				break
			}
		}
	}
	return all
}

// membersOf returns the members of the value at a path.
func (c *completer) membersOf(call *lang.Call, path state.Path) (all []candidate) {
	before := state.End
	if call != nil {
		if compiled := c.analysis.compiled(call); compiled != nil {
			before = compiled.Place
		}
	}
	sources := c.analysis.program.Types(&compile.Read{Path: path}, before)
	if len(sources) == 0 {
		sources, before = c.analysis.program.Types(&compile.Read{Path: path}, state.End), state.End
	}
	var names []string
	for _, s := range sources {
		if s.Schema != nil {
			names = slices.AppendSeq(names, s.Schema.Names())
		}
	}
	if len(path) == 1 {
		names = append(names, memberNames(c.analysis.program.Initial[path[0].Name])...)
		for _, s := range c.analysis.program.Schemas[path[0].Name] {
			names = slices.AppendSeq(names, s.Names())
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) || name == "" {
			continue
		}
		p := append(slices.Clone(path), state.Segment{Kind: state.Name, Name: name})
		all = append(all, candidate{path: p, far: 1<<20 + i, sources: c.analysis.program.Types(&compile.Read{Path: p}, before)})
	}
	return all
}

// memberNames returns the names of the members of a JSON object, in order.
func memberNames(raw json.RawMessage) (names []string) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return names
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return names
		}
		names = append(names, name.(string))
	}
	return names
}

// writtenBy says which calls write a path.
func writtenBy(sources []compile.Source) *protocol.MarkupContent {
	var names []string
	for _, s := range sources {
		if s.Writer != nil {
			names = append(names, "`"+s.Writer.ID+"`")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return protocol.Markdown("written by " + strings.Join(names, ", "))
}

// writes offers the paths that a result may go to: first those that some call reads and none
// writes, then one named after the call, then those that are already written.
func (c *completer) writes() {
	if c.analysis.program == nil || !c.quoted {
		return
	}
	typed := c.typed()
	word := typed[wordStart(typed):]
	sigil, _ := splitSigil(word)
	from := c.offset - len(word)
	seen := map[string]bool{}
	offer := func(path, detail string) {
		if seen[path] {
			return
		}
		seen[path] = true
		item := protocol.CompletionItem{Label: path, Kind: protocol.KindVariable, Detail: detail}
		if sigil != "" && sigil != "†" {
			item.FilterText = sigil + strings.TrimPrefix(path, "†")
		}
		c.put(from, item, path, true)
	}
	call := c.thisCall()
	for o := range c.analysis.occurrences() {
		path := o.path()
		if len(seen) >= maxOffered {
			break
		}
		if !o.write && len(path) > 1 && path[0].Name != "input" && c.nobodyWrites(path) {
			offer(path.String(), "is read, and nobody writes it")
		}
	}
	if call != nil && call.Tool != "" {
		if def := c.definition(); def != nil && len(def.Outcomes) > 1 && typed == word {
			offer(outcomePaths(def), "the outcomes of "+call.Tool)
		}
		offer(state.Path{{Name: "state"}, {Name: call.Tool}}.String(), "named after the tool")
	}
	for o := range c.analysis.occurrences() {
		if o.write && (call == nil || o.call == nil || o.call.Index != call.Index) && len(seen) < maxOffered {
			offer(o.path().String(), "is written by "+o.call.ID)
		}
	}
	for _, kind := range []string{"state", "data"} {
		offer("†"+kind, "")
	}
}

// nobodyWrites reports whether a path has no value: no call writes it, and the whiteboard does not
// hold it at the beginning.
func (c *completer) nobodyWrites(path state.Path) bool {
	for range c.analysis.program.Writers(path, 0, state.End) {
		return false
	}
	return !slices.Contains(memberNames(c.analysis.program.Initial[path[0].Name]), path[1].Name)
}

// outcomePaths returns an output path with an alternative for each outcome of a tool.
func outcomePaths(def *tool.Definition) string {
	var paths []string
	for _, o := range def.Outcomes {
		paths = append(paths, state.Path{{Name: "state"}, {Name: o.Name}}.String())
	}
	return strings.Join(paths, " || ")
}
