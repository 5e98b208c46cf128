package dialect

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// owner is a step or a workflow of the original: findings in its span are about it.
type owner struct {
	span           diag.Span
	call, workflow string
}

// Owner notes that findings in a span of the original are about a step, or about a workflow if call
// is "". The calls of the written plan need not be noted.
func (b *Builder) Owner(at diag.Span, call, workflow string) {
	b.owners = append(b.owners, owner{at, call, workflow})
}

// attribute sets the call and the workflow of each finding about the original to those of the
// innermost owner around it.
func (b *Builder) attribute(doc *lang.Document, found diag.List) {
	if len(found) == 0 {
		return
	}
	calls := b.calls(doc)
	var workflows []owner
	for _, o := range b.owners {
		if o.call != "" {
			calls = append(calls, o)
		} else {
			workflows = append(workflows, o)
		}
	}
	byStart := func(x, y owner) int { return int(x.span.Start - y.span.Start) }
	slices.SortStableFunc(calls, byStart)
	slices.SortStableFunc(workflows, byStart)
	for i := range found {
		f := &found[i]
		if f.Loc.File != b.File || strings.HasSuffix(f.Message, moreLikeThose) {
			continue
		}
		if f.Call == "" {
			f.Call = innermost(calls, f.Loc.Span).call
		}
		f.Workflow = innermost(workflows, f.Loc.Span).workflow
	}
}

// calls returns the calls that were written, with the spans that they come from.
func (b *Builder) calls(doc *lang.Document) (owners []owner) {
	from := make(map[diag.Span]diag.Span, len(b.pieces))
	for _, p := range b.pieces {
		if p.Kind == diag.Construct {
			from[p.At] = p.From
		}
	}
	for i := range doc.Calls {
		c := &doc.Calls[i]
		if at, ok := from[c.Node.Span()]; ok {
			owners = append(owners, owner{at, c.ID, ""})
		}
	}
	return owners
}

// maxOwners is the maximum number of owners beginning before a place that are examined for it.
const maxOwners = 64

// innermost returns the smallest owner around a span, in a list that is sorted by start. If two
// calls have the same span, it returns neither.
func innermost(owners []owner, at diag.Span) (found owner) {
	n, _ := slices.BinarySearchFunc(owners, at.Start+1, func(o owner, start int32) int { return int(o.span.Start - start) })
	for looked := 0; n > 0 && looked < maxOwners; looked++ {
		n--
		switch o := owners[n]; {
		case o.span.End < at.End:
		case found.span.IsZero() || o.span.Len() < found.span.Len():
			found = o
		case o.span == found.span && o.call != found.call:
			found = owner{span: o.span}
		}
	}
	return found
}
