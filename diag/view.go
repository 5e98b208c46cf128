package diag

import (
	"bytes"
	"encoding/json"
)

// view is the form of a finding that is shown, with lines and columns. All three writers start from
// it, so that they agree; its JSON is documented (cli, "JSON shapes").
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

// place is a position in a file. It is nil for things that are in no file.
type place struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Offset    int    `json:"offset"`
	EndOffset int    `json:"endOffset"`

	loc Loc // the span within its file
}

// note is the form of a related place that is shown.
type note struct {
	*place
	Message string `json:"message"`
}

// proposal is the form of a fix that is shown.
type proposal struct {
	Message string   `json:"message"`
	Edits   []change `json:"edits"`
	Choice  bool     `json:"choice,omitempty"` // somebody has to decide: it is not Sure
}

// change is the form of an edit that is shown.
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

// clip returns l with its span limited to its file. A finding about a place outside the file is a
// bug of ours, but the user should still see the finding.
func (l Loc) clip() Loc {
	if l.File != nil {
		size := int32(len(l.File.Text))
		l.Span.Start = max(0, min(l.Span.Start, size))
		l.Span.End = max(l.Span.Start, min(l.Span.End, size))
	}
	return l
}

// MarshalJSON returns the finding in the form documented in cli, "JSON shapes". Bytes that are not
// UTF-8 become U+FFFD. Its cost is linear in the size of the finding, plus a binary search for each
// place.
func (f Finding) MarshalJSON() ([]byte, error) { return marshal(f.view()) }

// MarshalJSON returns the array of findings; a nil list is [].
func (l List) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return marshal([]Finding(l))
}

// marshal does what json.Marshal does, but doesn't escape for HTML: nobody needs these escapes
// here, and they make < and & hard to read.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
