package exec

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/plc-lang/plc/tool"
)

// History holds what is needed to continue a run: what happened to each call, by instance and path
// (see Event); "" is the instance of calls that work on none. Its JSON has a version, and survives
// being decoded and encoded by others on the way.
type History struct {
	Calls map[string]map[string]*Past
	// Parts holds the results of parts of loops, by the loop and the number of the first item: see
	// Part.
	Parts map[string]map[int]*PartMade
}

// Take notes the next event of the run.
func (h *History) Take(e *Event) {
	if h.Calls == nil {
		h.Calls = map[string]map[string]*Past{}
	}
	of := h.Calls[e.Instance]
	if of == nil && (e.Instance == "" || e.Call != "") {
		of = map[string]*Past{}
		h.Calls[e.Instance] = of
	}
	if e.Call == "" {
		return
	}
	p := of[e.Call]
	if p == nil {
		p = &Past{}
		of[e.Call] = p
	}
	p.Take(e)
	if e.Type == CallReturned && e.Error == nil {
		h.dropParts(e.Instance, e.Call)
	}
}

// clone returns a copy. The clone of nil is empty.
func (h *History) clone() *History {
	c := &History{Calls: map[string]map[string]*Past{}}
	if h == nil {
		return c
	}
	for key, parts := range h.Parts {
		for first, made := range parts {
			c.notePart(key, first, made)
		}
	}
	for instance, calls := range h.Calls {
		c.Calls[instance] = maps.Clone(calls)
		for path, p := range calls {
			own := *p
			c.Calls[instance][path] = &own
		}
	}
	return c
}

// historian is the Record of a Stepper. It reads one history, and adds to another.
type historian struct {
	begun bool
	known *History
	now   *History
}

func (h *historian) Append(e *Event) int64 {
	h.now.Take(e)
	return 1
}

func (h *historian) Sync(int64) error { return nil }

func (h *historian) Past(instance string) (map[string]*Past, error) {
	past := h.known.Calls[instance]
	if past == nil && h.begun && instance == "" {
		past = map[string]*Past{}
	}
	return past, nil
}

// Versions of the JSON of a History: of one with calls that had the path of another (Past.Others),
// of one with parts, and of all others. Old versions are read as long as there may be histories of
// them; newer versions are refused.
const (
	historyVersion  = 3
	partsVersion    = 2
	partlessVersion = 1
)

// storedHistory is the JSON form of a History. Values are strings that hold their text, so that
// nothing that indents, compacts or escapes the JSON around them changes a byte of them.
type storedHistory struct {
	Version int                               `json:"version"`
	Calls   map[string]map[string]*storedPast `json:"calls"`
	Parts   map[string]map[int]*PartMade      `json:"parts,omitempty"`
}

type storedPast struct {
	Attempts int             `json:"attempts,omitempty"`
	Failed   int             `json:"failed,omitempty"`
	Fallback bool            `json:"fallback,omitempty"`
	Instead  string          `json:"instead,omitempty"`
	Lost     bool            `json:"lost,omitempty"`
	Key      string          `json:"key,omitempty"`
	Content  string          `json:"content,omitempty"`
	Params   *string         `json:"params,omitempty"`
	Failure  *Failure        `json:"failure,omitempty"`
	Loss     *Failure        `json:"loss,omitempty"`
	Returned *storedReturned `json:"returned,omitempty"`
	storedApproved
	storedAsked
	Answer  *storedAnswer `json:"answer,omitempty"`
	Answers int           `json:"answers,omitempty"`
	Heard   bool          `json:"heard,omitempty"`
	Usage   tool.Usage    `json:"usage,omitzero"`
	Applied bool          `json:"applied,omitempty"`
	Settled Status        `json:"settled,omitempty"`
	Others  []*storedPast `json:"others,omitempty"`
}

// storedApproved is the question that allowed a call. It is always an ApprovalQuestion.
type storedApproved struct {
	Approved string   `json:"approved,omitempty"` // the digest
	Shown    *string  `json:"shown,omitempty"`    // the params
	ShownWhy []string `json:"shownWhy,omitempty"` // the reasons of the guard
	Allowed  *Terms   `json:"allowed,omitempty"`
	By       string   `json:"approvedIn,omitempty"` // the run
}

// storedAsked is the question about a call that was asked last.
type storedAsked struct {
	Asked    string       `json:"asked,omitempty"`
	Question QuestionKind `json:"question,omitempty"`
	Said     *string      `json:"said,omitempty"`
	SaidWhy  []string     `json:"saidWhy,omitempty"`
	Terms    *Terms       `json:"terms,omitempty"`
	In       string       `json:"answeredIn,omitempty"` // the run
}

type storedReturned struct {
	Value     *string    `json:"value,omitempty"`
	Outcome   string     `json:"outcome,omitempty"`
	Usage     tool.Usage `json:"usage,omitzero"`
	Failure   *Failure   `json:"failure,omitempty"`
	Lost      bool       `json:"lost,omitempty"`
	Done      bool       `json:"done,omitempty"`
	Permanent bool       `json:"permanent,omitempty"`
	Undoes    bool       `json:"undoes,omitempty"`
	Skipped   bool       `json:"skipped,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Seq       int64      `json:"seq,omitempty"`
}

type storedAnswer struct {
	Answer
	Params *string `json:"params,omitempty"`
	Result *string `json:"result,omitempty"`
}

// MarshalJSON writes the history in the newest version.
func (h *History) MarshalJSON() ([]byte, error) {
	s := storedHistory{Version: partlessVersion, Calls: map[string]map[string]*storedPast{}, Parts: h.Parts}
	if len(h.Parts) > 0 {
		s.Version = partsVersion
	}
	for instance, calls := range h.Calls {
		s.Calls[instance] = map[string]*storedPast{}
		for path, p := range calls {
			if s.Calls[instance][path] = p.stored(); len(p.Others) > 0 {
				s.Version = historyVersion
			}
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads a history of any version that there has been.
func (h *History) UnmarshalJSON(text []byte) error {
	var s storedHistory
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("exec: the history of the run can't be read: %w", err)
	}
	if s.Version < 1 || s.Version > historyVersion {
		return fmt.Errorf("exec: the history of the run has version %d, and this program reads versions up to %d; use a newer one", s.Version, historyVersion)
	}
	h.Calls, h.Parts = map[string]map[string]*Past{}, s.Parts
	for instance, calls := range s.Calls {
		h.Calls[instance] = map[string]*Past{}
		for path, p := range calls {
			if p == nil {
				return fmt.Errorf("exec: the history of the run has nothing of the call %q", path)
			}
			h.Calls[instance][path] = p.past()
		}
	}
	return nil
}

func (p *Past) stored() *storedPast {
	s := &storedPast{
		Attempts: p.Attempts, Failed: p.Failed, Fallback: p.Fallback, Instead: p.Instead, Lost: p.Lost, Key: p.Key, Content: p.Content,
		Params: textOf(p.Params), Failure: p.Failure, Loss: p.Loss, Answers: p.Answers, Heard: p.heard, Usage: p.Usage, Applied: p.Applied, Settled: p.Settled,
		storedApproved: storedApproved{p.Approved.Digest, textOf(p.Approved.params), p.Approved.breaks, p.Approved.terms, p.Approved.run},
		storedAsked:    storedAsked{p.Asked.Digest, p.Asked.Kind, textOf(p.Asked.params), p.Asked.breaks, p.Asked.terms, p.Asked.run},
	}
	if r := p.Returned; r != nil {
		s.Returned = &storedReturned{
			Value: textOf(r.Value), Outcome: r.Outcome, Usage: r.Usage, Failure: r.Failure, Lost: r.Lost, Done: r.Done, Permanent: r.Permanent, Undoes: r.Undoes, Skipped: r.Skipped, Reason: r.Reason, Seq: r.Seq,
		}
	}
	if a := p.Answer; a != nil {
		s.Answer = &storedAnswer{Answer: *a, Params: textOf(a.Params), Result: textOf(a.Result)}
	}
	for _, o := range p.Others {
		s.Others = append(s.Others, o.stored())
	}
	return s
}

func (s *storedPast) past() *Past {
	p := &Past{
		Attempts: s.Attempts, Failed: s.Failed, Fallback: s.Fallback, Instead: s.Instead, Lost: s.Lost, Key: s.Key, Content: s.Content,
		Params: valueOf(s.Params), Failure: s.Failure, Loss: s.Loss, Answers: s.Answers, heard: s.Heard, Usage: s.Usage, Applied: s.Applied, Settled: s.Settled,
		Asked: PastQuestion{s.Asked, s.Question, valueOf(s.Said), s.SaidWhy, s.Terms, s.In},
	}
	if s.Approved != "" {
		p.Approved = PastQuestion{s.Approved, ApprovalQuestion, valueOf(s.Shown), s.ShownWhy, s.Allowed, s.By}
	}
	if r := s.Returned; r != nil {
		p.Returned = &Returned{
			Value: valueOf(r.Value), Outcome: r.Outcome, Usage: r.Usage, Failure: r.Failure, Lost: r.Lost, Done: r.Done, Permanent: r.Permanent, Undoes: r.Undoes, Skipped: r.Skipped, Reason: r.Reason, Seq: r.Seq,
		}
	}
	if a := s.Answer; a != nil {
		p.Answer = &a.Answer
		p.Answer.Params, p.Answer.Result = valueOf(a.Params), valueOf(a.Result)
	}
	for _, o := range s.Others {
		if o != nil {
			p.Others = append(p.Others, o.past())
		}
	}
	return p
}

// textOf returns a value as a string; nil for nil.
func textOf(v []byte) *string {
	if v == nil {
		return nil
	}
	s := string(v)
	return &s
}

func valueOf(s *string) json.RawMessage {
	if s == nil {
		return nil
	}
	return json.RawMessage(*s)
}
