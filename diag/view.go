package diag

import (
	"bytes"
	"encoding/json"
)

// view is a finding as it is shown: places made of lines and columns. All three writers start from
// it, so that they can't drift apart; its JSON is the shape of a finding (cli, "JSON shapes").
type view struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	*place
	Message  string    `json:"message"`
	Call     string    `json:"call,omitempty"`
	Workflow string    `json:"workflow,omitempty"`
	Pointer  string    `json:"pointer,omitempty"`
	Related  []note    `json:"related"`
	Way      bool      `json:"-"` // Related is one
	Secret   bool      `json:"-"` // the text at the place is not shown
	Fix      *proposal `json:"fix"`
}

// place is where something stands. It is nil for what is in no file.
type place struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Offset    int    `json:"offset"`
	EndOffset int    `json:"endOffset"`

	loc Loc // the span within its file
}

// note is a related place as it is shown.
type note struct {
	*place
	Message string `json:"message"`
}

// proposal is a fix as it is shown.
type proposal struct {
	Message string   `json:"message"`
	Edits   []change `json:"edits"`
	Choice  bool     `json:"choice,omitempty"` // somebody has to decide: it is not Sure
}

// change is an edit as it is shown.
type change struct {
	Offset    int    `json:"offset"`
	EndOffset int    `json:"endOffset"`
	Text      string `json:"text"`

	loc Loc
}

func (f *Finding) view() view {
	origin := f.Origin()
	f = &origin
	v := view{
		Code: f.Code, Severity: f.Severity, place: f.Loc.place(),
		Message: f.Message, Call: f.Call, Workflow: f.Workflow, Pointer: f.Pointer, Related: []note{}, Way: f.Way, Secret: f.Secret,
	}
	for _, r := range f.Related {
		v.Related = append(v.Related, note{r.Loc.place(), r.Message})
	}
	if f.Fix != nil {
		v.Fix = &proposal{f.Fix.Message, make([]change, len(f.Fix.Edits)), !f.Sure()}
		for i, e := range f.Fix.Edits {
			loc := Loc{f.Loc.File, e.Span}.clip()
			v.Fix.Edits[i] = change{int(loc.Span.Start), int(loc.Span.End), e.Text, loc}
		}
	}
	return v
}

func (l Loc) place() *place {
	if l.File == nil {
		return nil
	}
	l = l.Origin().clip()
	p := l.File.Position(int(l.Span.Start))
	return &place{l.File.Name, p.Line, p.Column, p.Offset, int(l.Span.End), l}
}

// clip returns l with its span inside its file: findings about places that do not
// exist are our fault, and no reason to show the user nothing.
func (l Loc) clip() Loc {
	if l.File != nil {
		size := int32(len(l.File.Text))
		l.Span.Start = max(0, min(l.Span.Start, size))
		l.Span.End = max(l.Span.Start, min(l.Span.End, size))
	}
	return l
}

// MarshalJSON returns the finding in the shape of cli, "JSON shapes". What is not
// UTF-8 is shown as U+FFFD. It costs the findings' own size and a binary search
// for each place.
func (f Finding) MarshalJSON() ([]byte, error) { return marshal(f.view()) }

// MarshalJSON returns the array of findings; a nil list is [].
func (l List) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return marshal([]Finding(l))
}

// marshal returns json.Marshal without the escapes for HTML, which make < and & hard
// to read and help nobody here.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
