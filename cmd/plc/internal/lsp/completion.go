package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// complete returns the completions at a place.
func complete(_ context.Context, snap *snapshot, p *protocol.TextDocumentPositionParams) (any, error) {
	can := snap.server.capable().TextDocument.Completion.CompletionItem
	c := &completer{snapshot: snap, analysis: snap.analysis(), snippets: can.SnippetSupport, lines: slices.Contains(can.InsertTextModeSupport.ValueSet, protocol.AsIs)}
	offset := snap.text.offset(p.Position)
	for _, c.cursor = range c.cursors(offset) {
		switch c.analysis.kind {
		case planFile:
			c.plan()
		case nothing:
		default:
			c.file()
		}
	}
	for i := range c.items {
		c.items[i].SortText = fmt.Sprintf("%05d", i)
	}
	return &protocol.CompletionList{Items: append([]protocol.CompletionItem{}, c.items...)}, nil
}

// A completer collects the completions at a place, best first.
type completer struct {
	*snapshot
	*cursor
	analysis *analysis
	snippets bool // the client supports snippets
	lines    bool // the client keeps the indentation of inserted lines
	items    []protocol.CompletionItem
}

// cursors returns the cursors at an offset: in YAML there may be several.
func (snap *snapshot) cursors(offset int) []*cursor {
	if snap.isYAML() {
		return yamlCursors(snap.text.bytes, offset)
	}
	return []*cursor{cursorAt(snap.text.bytes, offset)}
}

// plan offers completions in a plan.
func (c *completer) plan() {
	i, inCall := c.call()
	switch {
	case inCall && i == len(c.frames)-1 && c.inName:
		c.members(i)
	case inCall:
		c.value(i)
	case len(c.frames) > 0 && c.inList(len(c.frames)-1) && (!c.quoted || c.yaml != nil):
		c.calls()
	case c.inOutput():
		c.references(nil, nil)
	default:
		c.described(planSchema(), c.way(0), c.inName)
	}
}

// inOutput reports whether the place is in a string of the plan's output.
func (c *completer) inOutput() bool {
	return c.quoted && !c.inName && slices.ContainsFunc(c.frames, func(f frame) bool { return f.key == "output" })
}

// replaced returns the range that a completion replaces: from an offset to the cursor.
func (c *completer) replaced(from int) protocol.Range {
	return c.text().rangeOf(diag.Span{Start: int32(from), End: int32(c.offset)})
}

func (c *completer) text() *text { return c.snapshot.text }

// add offers a text that replaces the text from an offset to the cursor.
func (c *completer) add(from int, item protocol.CompletionItem, text string) {
	if c.yaml != nil && c.yaml.dash {
		text = "- " + text
	}
	if c.yaml != nil && c.yaml.space {
		text = " " + text
	}
	item.TextEdit = &protocol.TextEdit{Range: c.replaced(from), NewText: text}
	c.items = append(c.items, item)
}

// name offers the name of a member, and the beginning of its value.
func (c *completer) name(name string, item protocol.CompletionItem, value string) {
	item.Label = name
	text := c.nameText(name)
	switch {
	case c.yaml != nil && c.yaml.colon, c.yaml == nil && c.quoted && c.closed:
		value = "" // a colon comes after it, or is there
	default:
		value = ": " + c.valueText(value)
	}
	if c.open > 0 {
		text = text[1 : len(text)-1]
		if !c.closed {
			text += `"`
		}
	}
	item.InsertTextFormat = 0
	if c.snippets && strings.Contains(value, "$") {
		item.InsertTextFormat = protocol.Snippet
		text = escapeSnippet(text)
	} else if value != "" {
		value = ": "
	}
	c.add(c.start(), item, text+value)
}

// nameText returns the name of a member, in quotes in JSON, and in YAML if it needs them.
func (c *completer) nameText(name string) string {
	if c.yaml == nil || c.yaml.quote != 0 {
		return quoted(name)
	}
	return yamlText(name, true)
}

// valueText returns the beginning of a value. In YAML, placeholders need no quotes.
func (c *completer) valueText(snippet string) string {
	if c.yaml == nil {
		return snippet
	}
	return strings.ReplaceAll(snippet, `"`, "")
}

// word offers a string as a value.
func (c *completer) word(s string, item protocol.CompletionItem) {
	item.Label = cmp.Or(item.Label, s)
	if !c.quoted {
		c.add(c.start(), item, quoted(s))
		return
	}
	c.put(c.start(), item, s, true)
}

// put offers a text that replaces, in a string, the text from an offset to the cursor. If all is
// true, this is the whole string, and its quote is closed.
func (c *completer) put(from int, item protocol.CompletionItem, s string, all bool) {
	text, closing := quoted(s), `"`
	text = text[1 : len(text)-1]
	switch {
	case c.yaml == nil || c.yaml.quote == '"':
	case c.yaml.quote != 0:
		text, closing = strings.ReplaceAll(s, "'", "''"), "'"
	default:
		text = s
		before, behind := string(c.text().bytes[c.start():from]), string(c.text().bytes[c.offset:c.yaml.end])
		if whole := before + s + behind; !c.yaml.lines && !plainYAML(whole, c.yaml.flow) {
			item.FilterText = before + cmp.Or(item.FilterText, item.Label)
			c.add(c.start(), item, quoted(whole))
			c.items[len(c.items)-1].TextEdit.Range = c.text().rangeOf(c.whole())
			return
		}
	}
	if all && !c.closed {
		text += closing
	}
	c.add(from, item, text)
}

// escapeSnippet escapes a text for a snippet.
func escapeSnippet(s string) string {
	return strings.NewReplacer(`\`, `\\`, `$`, `\$`, `}`, `\}`).Replace(s)
}

// plain returns a snippet without its placeholders: "$1" becomes nothing.
func plain(s string) string {
	for i := range 10 {
		s = strings.ReplaceAll(s, fmt.Sprintf("$%d", i), "")
	}
	return s
}

// members offers the names of members of a call: the tool first, then its params, those that it
// needs first, then those of the language.
func (c *completer) members(i int) {
	have := c.frames[i].names
	if !slices.Contains(have, "_tool") {
		c.name("_tool", protocol.CompletionItem{Kind: protocol.KindKeyword, Preselect: true, Documentation: memberDoc("_tool")}, `"$1"`)
	}
	def := c.definition()
	if def != nil {
		for _, name := range def.Positional() {
			if slices.Contains(have, name) {
				continue
			}
			item := protocol.CompletionItem{Kind: protocol.KindField, Detail: typeOfParam(def, name), Documentation: paramDoc(def, name)}
			if !slices.Contains(def.Required, name) {
				item.Detail = "optional " + item.Detail
			}
			c.name(name, item, valueSnippet(def.Param[name], 1))
		}
	}
	rank := map[string]int{"_outputPath": -2, "_id": -1}
	names := slices.SortedFunc(slices.Values(callMembers()), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b))
	})
	for _, name := range names {
		if name != "_tool" && !slices.Contains(have, name) {
			item := protocol.CompletionItem{Kind: protocol.KindKeyword, Documentation: memberDoc(name)}
			c.name(name, item, memberSnippet(name))
		}
	}
}

// thisCall returns the call that the cursor is in, as far as it could be parsed.
func (c *completer) thisCall() *lang.Call {
	if c.yaml != nil { // in YAML the cursor may be after the end of the call
		i, ok := c.call()
		if !ok || c.analysis.program == nil {
			return nil
		}
		calls := c.analysis.program.Document.Calls
		if n := c.frames[i-1].index; n < len(calls) {
			return &calls[n]
		}
		return nil
	}
	if call, ok := c.analysis.callAt(c.offset); ok {
		return call
	}
	return nil
}

// definition returns the definition of the tool of the call that the cursor is in; nil if it is not
// known.
func (c *completer) definition() *tool.Definition {
	call := c.thisCall()
	if call == nil || c.analysis.catalogue() == nil {
		return nil
	}
	if t, ok := c.analysis.catalogue().Lookup(call.Tool); ok {
		return t.Definition
	}
	return nil
}

// calls offers whole calls, one for each tool.
func (c *completer) calls() {
	for t := range c.tools() {
		item := toolItem(t)
		text := c.nameText("_tool") + ": " + c.withNeeded(t, &item)
		if c.yaml == nil || c.yaml.flow {
			text = "{" + text + "}"
		}
		c.add(c.start(), item, text)
	}
}

// withNeeded returns the text that follows _tool: the name of a tool and the params that it needs,
// with placeholders if the client supports snippets. In YAML params are on lines of their own; if
// the client does not insert lines unchanged, it returns only the name.
func (c *completer) withNeeded(t *tool.Tool, item *protocol.CompletionItem) string {
	text := c.textOf(t.Definition.Name)
	between := ", "
	if c.yaml != nil && !c.yaml.flow {
		if !c.lines {
			return text
		}
		item.InsertTextMode = protocol.AsIs
		between = "\n" + strings.Repeat(" ", c.yaml.indent)
	}
	itself := func(s string) string { return s }
	literal, value := itself, plain
	if c.snippets {
		item.InsertTextFormat = protocol.Snippet
		literal, value = escapeSnippet, itself
	}
	text = literal(text)
	for n, name := range t.Definition.Required {
		text += between + literal(c.nameText(name)) + ": " + value(c.valueText(valueSnippet(t.Definition.Param[name], n+1)))
	}
	return text
}

// textOf returns a string in quotes, or in YAML without quotes if it needs none.
func (c *completer) textOf(s string) string {
	if c.yaml == nil {
		return quoted(s)
	}
	return yamlText(s, c.yaml.flow)
}

// tools returns the tools that the plan may call, those of the project before those of the
// language.
func (c *completer) tools() func(yield func(*tool.Tool) bool) {
	return func(yield func(*tool.Tool) bool) {
		cat := c.analysis.catalogue()
		if cat == nil {
			return
		}
		var last []*tool.Tool
		for t := range cat.Tools() {
			switch {
			case c.denied(t.Definition.Name):
			case t.Source == tool.BuiltIn:
				last = append(last, t)
			case !yield(t):
				return
			}
		}
		for _, t := range last {
			if !yield(t) {
				return
			}
		}
	}
}

// denied reports whether the policy forbids a tool.
func (c *completer) denied(name string) bool {
	if c.analysis.project.checker == nil {
		return false
	}
	p := c.analysis.project.checker.Policy
	matches := func(pattern string) bool { return tool.Matches(pattern, name) }
	return slices.ContainsFunc(p.Deny, matches) || p.Allow != nil && !slices.ContainsFunc(p.Allow, matches)
}

// toolItem returns the completion item of a tool.
func toolItem(t *tool.Tool) protocol.CompletionItem {
	item := protocol.CompletionItem{Label: t.Definition.Name, Kind: protocol.KindFunction, Detail: effectsOf(t.Definition.Effects)}
	item.Documentation = protocol.Markdown(toolDoc(t))
	return item
}

// value offers completions for a value in a call.
func (c *completer) value(i int) {
	member := c.frames[i].key
	inside := c.way(i + 1)
	named := strings.HasPrefix(member, "_") && member != "_output"
	switch {
	case named && c.inName:
		c.described(callSchema(), append([]any{member}, inside...), true)
	case member == "_tool" || member == "_fallback" && len(inside) == 0:
		c.toolNames(member == "_tool" && len(c.frames[i].names) == 1)
	case member == "_outputPath" || member == "_errorPath":
		c.writes()
	case member == "_when" || member == "_scopes":
		c.references(c.thisCall(), nil)
	case member == "_dependsOn":
		c.ids()
	case member == "_delegate":
		c.documents()
	case member == "_activity":
		c.activities()
	case member == "_instance":
		c.instances()
	case named:
		c.described(callSchema(), append([]any{member}, inside...), false)
	default:
		c.param(member, inside)
	}
}

// toolNames offers names of tools and, if alone is true, the params that they need.
func (c *completer) toolNames(alone bool) {
	for t := range c.tools() {
		item := toolItem(t)
		if !alone || !c.snippets || len(t.Definition.Required) == 0 || !c.quoted {
			c.word(t.Definition.Name, item)
			continue
		}
		text := c.withNeeded(t, &item)
		if item.FilterText = t.Definition.Name; c.open > 0 {
			item.FilterText = quoted(t.Definition.Name)
		}
		c.add(int(c.token.Start), item, text)
		c.items[len(c.items)-1].TextEdit.Range = c.text().rangeOf(c.whole())
	}
}

// whole returns the string that the cursor is in, with its quotes.
func (c *completer) whole() diag.Span {
	switch {
	case c.yaml != nil:
		return diag.Span{Start: c.token.Start, End: int32(c.yaml.end)}
	case c.closed:
		return c.token
	}
	return diag.Span{Start: c.token.Start, End: int32(c.offset)}
}

// ids offers the ids of other calls.
func (c *completer) ids() {
	if c.analysis.program == nil {
		return
	}
	this := c.thisCall()
	for i := range c.analysis.program.Document.Calls {
		if call := &c.analysis.program.Document.Calls[i]; (this == nil || call.Index != this.Index) && call.ID != "" {
			c.word(call.ID, protocol.CompletionItem{Kind: protocol.KindConstant, Detail: call.Tool})
		}
	}
}

// activities offers the names of activities.
func (c *completer) activities() {
	if cat := c.analysis.catalogue(); cat != nil {
		for name := range cat.Activities() {
			c.word(name, protocol.CompletionItem{Kind: protocol.KindModule})
		}
	}
}

// instances offers the instances of the document.
func (c *completer) instances() {
	if c.analysis.program != nil {
		for _, in := range c.analysis.program.Instances {
			c.word(in.Name, protocol.CompletionItem{Kind: protocol.KindConstant})
		}
	}
}

// quoted returns a string as JSON.
func quoted(s string) string { return string(jsonscan.Encode(s)) }
