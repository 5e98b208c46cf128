package undo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// The kinds that references in an undo have: what the undone call was given and returned, and how
// the run ended.
const (
	paramsKind  = "params"
	resultKind  = "result"
	keyKind     = "key"
	failureKind = "failure"
)

// call is a call that undoes another, written as members without _id, with the origin of the text.
// Its references lead to the input of the plan, which has a member for each undone call.
type call struct {
	text   []byte
	file   *diag.File   // where the text comes from; nil if it is not from a file
	pieces []diag.Piece // of the text
	reads  []string     // the kinds that it reads
}

// add adds text; from is its place in file, or the zero span if it has none.
func (c *call) add(text []byte, from diag.Span) {
	at := diag.Span{Start: int32(len(c.text)), End: int32(len(c.text) + len(text))}
	if from != (diag.Span{}) {
		c.pieces = append(c.pieces, diag.Piece{At: at, From: from, Kind: diag.Verbatim})
	}
	c.text = append(c.text, text...)
}

// textOf returns the call of an undo that a definition gives.
func textOf(u *tool.Undo, name string) (*call, error) {
	c := &call{}
	c.add([]byte(`"_tool":`+jsonscan.Quote(u.Tool)), diag.Span{})
	if params := jsonscan.Compact(nil, u.Params); len(params) > len("{}") {
		c.add([]byte(","), diag.Span{})
		c.add(params[1:len(params)-1], diag.Span{})
	}
	return c, c.redirect(name)
}

// textIn returns the call of an undo that a plan gives, or that a definition fixes, with its places
// in their file.
func textIn(u *lang.Undo, name string) (*call, error) {
	c := &call{file: u.ToolNode.Loc().File}
	raw := func(s diag.Span) []byte { return c.file.Text[s.Start:s.End] }
	c.add([]byte(`"_tool":`), diag.Span{})
	c.add(raw(u.ToolNode.Span()), u.ToolNode.Span())
	for m := range u.Params.Members() {
		span := diag.Span{Start: m.Key.Start, End: m.Value.Span().End}
		c.add([]byte(","), diag.Span{})
		c.add(raw(span), span)
	}
	return c, c.redirect(name)
}

// redirect changes the references so that they lead to the input's member for the undone call,
// which has this name.
func (c *call) redirect(name string) error {
	const head = "[{"
	doc, findings := lang.Parse(diag.NewFile("undo", slices.Concat([]byte(head), c.text, []byte("}]"))), nil)
	if err := findings.Err(); err != nil {
		return err
	}
	if len(doc.Calls) != 1 || doc.Calls[0].Rest != nil || !doc.Calls[0].OutputNode.IsZero() || !doc.Calls[0].IDNode.IsZero() {
		return errors.New("its params are those of the tool, without members that begin with _")
	}
	var refs []*lang.Expr
	for _, m := range doc.Calls[0].Params {
		for _, t := range m.Value.Texts() {
			for _, part := range t.Parts {
				refs = slices.AppendSeq(refs, part.Expr.Refs())
			}
		}
	}
	slices.SortFunc(refs, func(a, b *lang.Expr) int { return cmp.Compare(b.KindSpan.Start, a.KindSpan.Start) })
	for _, r := range refs {
		to := "input." + name + "."
		switch r.Kind {
		case failureKind:
			to = "input."
		case paramsKind, resultKind, keyKind:
		default:
			return fmt.Errorf("†%s: an undo reads params, result, key and failure of the call", r.Kind)
		}
		c.reads = append(c.reads, r.Kind)
		c.insert(r.KindSpan.Start-int32(len(head)), to)
	}
	return nil
}

// insert inserts text that has no place in the file.
func (c *call) insert(at int32, text string) {
	n := int32(len(text))
	var pieces []diag.Piece
	for _, p := range c.pieces {
		switch {
		case p.At.End <= at:
			pieces = append(pieces, p)
		case p.At.Start >= at:
			p.At.Start, p.At.End = p.At.Start+n, p.At.End+n
			pieces = append(pieces, p)
		default:
			before, behind := p, p
			cut := p.From.Start + at - p.At.Start
			before.At.End, before.From.End = at, cut
			behind.At, behind.From.Start = diag.Span{Start: at + n, End: p.At.End + n}, cut
			pieces = append(pieces, before, behind)
		}
	}
	c.pieces = pieces
	c.text = slices.Insert(c.text, int(at), []byte(text)...)
}
