package exec

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/tool"
)

// Record keeps the events of a run on disk, and knows those of the processes that ran
// it before (execution §5). Its methods may be called by any goroutine.
type Record interface {
	// Append adds an event, which must not change afterwards, and returns its number, which is not
	// 0. The run calls it in the order of events, while the scheduler waits: it must be quick. Sync
	// reports its errors.
	Append(e *Event) (seq int64)
	// Sync returns when the event of this number and all before it are on disk, or the error
	// because of which they never will be.
	Sync(seq int64) error
	// Past returns what the record knows of the calls of an instance, by their paths (see Event);
	// "" stands for the calls that work on no instance. It is called once for each instance, before
	// its first call. It returns nil for a run, or an instance, that has not begun, and otherwise a
	// map, which may be empty.
	Past(instance string) (map[string]*Past, error)
}

// RecordError is the error of a run that ended because its record can't be written or read.
type RecordError struct{ Err error }

func (e *RecordError) Error() string { return fmt.Sprintf("the record can't be written: %s", e.Err) }

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// Past holds what a record knows of a call: all that is needed to continue without calling its tool
// again. A record builds it from the call's events with Take.
type Past struct {
	Attempts int  // number of attempts of its tool that were started
	Failed   int  // number of attempts that failed, and after which the call went on, since it was last begun
	Fallback bool // its fallback comes next or, when Lost, was the last attempt
	Lost     bool // the last attempt has no answer: whether it did its work is not known

	Instead string // digest of the fallback that was called last; "" if none was, or if it is not known
	Key     string // of the last attempt
	Content string // of the call: see Event

	Params  json.RawMessage // of the last attempt, if a person or a hook changed them; nil means those of the plan
	Failure *Failure        // of the last attempt that failed
	Loss    *Failure        // why the answer of the last attempt was lost; nil if unknown
	// Returned is the final result of the call, from its tool or from a person; nil while there is
	// none.
	Returned *Returned

	// Approved is the question that allowed its call, and Asked the one that was asked last.
	Approved, Asked PastQuestion
	// Answer is a person's answer to Asked that has not been acted on yet. A record may add an
	// answer that was given later.
	Answer  *Answer
	Answers int  // events that gave an answer to a question about a call of this path
	heard   bool // an event has Answer

	Usage tool.Usage // of all its attempts that have an answer

	// Applied reports that the call was made in another run, whose final whiteboard is the initial
	// one of this run: what it appended to a list is there already.
	Applied bool

	// Settled is the status with which the call ended; "" if it has not ended.
	Settled Status

	// Others holds the pasts of calls of other contents that had this path, in other plans of the
	// run: the run may go back to one of them.
	Others []*Past
}

// of returns what is known of the call of this path that has a content; nil is nothing.
func (p *Past) of(content string) *Past {
	if p == nil || sameContent(p.Content, content) {
		return p
	}
	n := p.other(content)
	if n < 0 {
		return nil
	}
	other := *p.Others[n]
	other.Answers = p.Answers
	return &other
}

// in returns what is known of a call in a run. In a fork, answers that were given in the run that
// was forked don't count.
func (p *Past) in(run string) *Past {
	foreign := func(q *PastQuestion) bool { return q.run != "" && q.run != run }
	if p == nil || !foreign(&p.Approved) && !foreign(&p.Asked) {
		return p
	}
	own := *p
	if foreign(&p.Approved) {
		own.Approved = PastQuestion{}
	}
	if foreign(&p.Asked) && p.heard {
		own.Asked, own.Answer = PastQuestion{}, nil
	}
	return &own
}

// other returns the index in Others of the past of a call with a content; -1 is none.
func (p *Past) other(content string) int {
	return slices.IndexFunc(p.Others, func(o *Past) bool { return sameContent(o.Content, content) })
}

// turnTo makes p the past of the call of this path that has a content.
func (p *Past) turnTo(content string) {
	was, now := *p, Past{}
	others := slices.Clone(p.Others)
	if n := p.other(content); n >= 0 {
		now = *p.Others[n]
		others = slices.Delete(others, n, n+1)
	}
	was.Others = nil
	now.Others, now.Answers = append(others, &was), p.Answers
	*p = now
}

// PastQuestion is a question that was asked about a call. The zero value is none.
type PastQuestion struct {
	Digest string // see Question
	Kind   QuestionKind

	params []byte
	breaks []string // the reasons of the guard
	terms  *Terms   // nil is not known
	run    string   // in which it was answered; "" is not known, or not yet
}

// isAbout reports whether the question was about a call with these terms. It first sets what only
// the question knows in the terms: the guard's reasons and the number of earlier answers.
func (q *PastQuestion) isAbout(terms *Terms, path string) bool {
	terms.Breaks = q.breaks
	if q.terms != nil {
		terms.Answered = q.terms.Answered
	}
	return q.Digest == terms.Digest(path)
}

// Returned is the final result of a call: a value, or the failure of its last attempt.
type Returned struct {
	Value   json.RawMessage
	Outcome string
	Usage   tool.Usage
	Failure *Failure
	Lost    bool // it failed because its answer was lost: it, or a call in it, may have done its work
	Done    bool // it failed because its result was not accepted: its tool did its work
	// Permanent reports that it delegates, and that another run of its document would fail as well.
	Permanent bool
	Undoes    bool   // it delegates, and a call in its document failed with the strategy Undo
	Skipped   bool   // by a person, or by Options.OnUncertain
	Reason    string // of Skipped
	Seq       int64  // number of the event that reports a failure; 0 is not known
}

// Take adds the next event of the call. It keeps the values in the event.
func (p *Past) Take(e *Event) {
	if e.Content != "" {
		if p.Content != "" && !sameContent(p.Content, e.Content) { // it is another call, of another plan
			p.turnTo(e.Content)
		}
		p.Content = e.Content
	}
	switch e.Type {
	case CallStarted:
		p.start(e)
	case CallRetrying:
		p.use(e.Usage)
		p.Lost, p.Failure, p.Fallback = false, e.Error, e.Fallback
		p.Failed++
	case CallReturned:
		p.use(e.Usage)
		if !p.Fallback || p.Answer != nil && p.Answer.Result != nil { // a person gave the result
			p.Instead = ""
		}
		if e.Lost && p.Loss == nil {
			p.Loss = e.Error
		}
		p.Lost, p.Settled, p.Applied = false, "", e.Applied
		p.Returned = &Returned{Value: e.Value, Outcome: e.Outcome, Failure: e.Error, Lost: e.Lost, Done: e.Work == WorkDone, Permanent: e.Permanent, Undoes: e.Undoes, Skipped: e.Status == Skipped, Reason: e.Reason}
		if e.Usage != nil {
			p.Returned.Usage = *e.Usage
		}
		p.acted()
	case ApprovalAsked:
		p.Asked = PastQuestion{Digest: e.Digest, Kind: e.Question, params: e.Value, terms: e.Asked}
		if e.Asked != nil {
			p.Asked.breaks = e.Asked.Breaks
		}
		p.Answer, p.heard = nil, false
		if e.Question == UncertainQuestion {
			p.Loss = e.Error
		}
	case ApprovalGiven:
		p.Asked.Digest, p.Asked.Kind, p.Asked.run, p.Answer, p.heard = e.Digest, e.Question, e.Run, e.Answer, true
		p.Answers++
	case CallCompleted, CallFailed, CallSkipped:
		p.Settled = e.Status
	}
}

// use adds the usage of an attempt.
func (p *Past) use(u *tool.Usage) {
	if u != nil {
		p.Usage = p.Usage.Plus(*u)
	}
}

// start notes that an attempt was started.
func (p *Past) start(e *Event) {
	if p.Returned != nil || !e.Fallback && e.Attempt <= p.Attempts { // it is begun again
		p.Returned, p.Failed = nil, 0
	}
	p.Lost, p.Loss, p.Fallback, p.Settled = true, nil, e.Fallback, ""
	p.Key, p.Instead = e.Key, ""
	if e.Fallback {
		p.Instead = e.Digest
	} else {
		p.Attempts, p.Params = e.Attempt, e.Value
	}
	p.acted()
}

// acted notes that the answer to a question has been acted on. A call that was allowed stays
// allowed.
func (p *Past) acted() {
	if p.Asked.Kind == ApprovalQuestion && p.Answer != nil && p.Answer.Approved {
		p.Approved = p.Asked
	}
	p.Asked, p.Answer = PastQuestion{}, nil
}
