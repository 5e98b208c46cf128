package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

const (
	// beat is the interval of the comments that keep a stream alive when there are no events.
	beat = 15 * time.Second

	// checkToken is the longest time for which a stream sends events after its token was revoked.
	checkToken = 100 * time.Millisecond

	// pollFinished is the interval at which a stream checks whether a finished run was continued.
	pollFinished = 50 * time.Millisecond
)

// events streams the events of a run (SSE). The id of each is its number in the record. A client
// that sends the id of the last event that it has gets the events after it, even from another
// server.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	sum, err := s.find(r)
	var after int64
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if err == nil && text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			err = badf(http.StatusBadRequest, "Last-Event-ID is the number of an event")
		}
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	if !sum.Finished.IsZero() && after >= sum.Events && !runner.Left(sum) && s.runs.Job(sum.Run) == nil {
		w.WriteHeader(http.StatusNoContent) // tells a browser not to connect again
		return
	}
	s.stream(w, r, sum.Run, after, nil, func(e *journal.Entry) (text []byte, last bool) {
		var line bytes.Buffer
		if json.Compact(&line, e.Body) != nil {
			return nil, true
		}
		return fmt.Appendf(nil, "id: %d\ndata: %s\n\n", e.Seq, line.Bytes()), false
	})
}

// stream writes a text, and then the texts that show makes for the events of a run after a number,
// until show says that it was the last, the run has finished, or the client is gone.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, run string, after int64, begin []byte, show func(*journal.Entry) (text []byte, last bool)) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for {
			job := s.runs.Job(run)
			for entry, err := range s.opts.Engine.Events(ctx, run, after) {
				if err != nil {
					return // the client will connect again
				}
				text, last := show(entry)
				select {
				case lines <- bytes.Clone(text): // show may use it again
				case <-ctx.Done():
					return
				}
				if after = entry.Seq; last {
					return
				}
			}
			if job == nil {
				return
			}
			select { // a finished run may be about to continue
			case <-time.After(pollFinished):
			case <-job.Done:
			case <-ctx.Done():
				return
			}
		}
	}()
	s.pump(w, r, begin, lines)
}

// pump writes a text, and the messages of a stream until there are no more, the client is gone, or
// its token was revoked.
func (s *Server) pump(w http.ResponseWriter, r *http.Request, begin []byte, lines <-chan []byte) {
	out := http.NewResponseController(w)
	_, err := w.Write(begin)
	if err != nil || out.Flush() != nil { // flush, so that the client knows that it is connected
		return
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	checked := time.Now()
	for {
		var text []byte
		select {
		case line, ok := <-lines:
			if !ok {
				return
			}
			text = line
		case <-ticker.C:
			text = []byte(": \n\n")
		case <-r.Context().Done():
			return
		}
		if time.Since(checked) > checkToken {
			if c, err := s.who(r); err != nil || c == nil {
				return // its token was revoked
			}
			checked = time.Now()
		}
		// This fails only if the server has no deadlines.
		_ = out.SetWriteDeadline(time.Now().Add(2 * beat))
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
	}
}

// A Call has the record's data about a call.
type Call struct {
	Call     string          `json:"call"`
	Instance string          `json:"instance"`
	Tool     string          `json:"tool"`
	Status   string          `json:"status"`
	Attempts int             `json:"attempts"`
	Started  string          `json:"started"`
	Ended    string          `json:"ended"`
	Params   json.RawMessage `json:"params"` // null: those of the plan, of which the record has no copy
	Result   json.RawMessage `json:"result"`
	Error    *exec.Failure   `json:"error"`
	Reason   string          `json:"reason"`
	By       string          `json:"by"` // who answered the last question about it
	Writes   []Write         `json:"writes"`

	// For the pages only.
	answer string          // how the last question about it was answered, in words
	asked  json.RawMessage // the params that a person set; nil if none
	spans  []span
	from   string // the run from which a fork took it over
}

func newCall(e *exec.Event) *Call {
	null := json.RawMessage("null")
	return &Call{Call: e.Call, Instance: e.Instance, Tool: e.Tool, Status: "pending", Params: null, Result: null, Writes: []Write{}}
}

// A Write is a write of a call.
type Write struct {
	Seq    int64           `json:"seq"`
	Path   string          `json:"path"`
	Method string          `json:"method"`
	Value  json.RawMessage `json:"value"`
}

// each calls f with the events of a run up to a number; with 0, all of them.
func (s *Server) each(ctx context.Context, run string, most int64, f func(seq int64, e *exec.Event) error) error {
	for entry, err := range s.opts.Engine.EventsSoFar(ctx, run, 0) {
		if err != nil {
			return err
		}
		if most > 0 && entry.Seq > most {
			return nil
		}
		e, err := entry.Event()
		if err == nil {
			err = f(entry.Seq, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// calls returns the calls of a run, in the order in which they began.
func (s *Server) calls(ctx context.Context, run string, most int64) ([]*Call, error) {
	all, known := []*Call{}, map[[2]string]*Call{}
	err := s.each(ctx, run, most, func(seq int64, e *exec.Event) error {
		if e.Call == "" {
			return nil
		}
		at := [2]string{e.Instance, e.Call}
		c := known[at]
		if c == nil {
			c = newCall(e)
			known[at], all = c, append(all, c)
		}
		c.take(seq, e)
		return nil
	})
	return all, err
}

// take updates the call with an event.
func (c *Call) take(seq int64, e *exec.Event) {
	switch e.Type {
	case exec.CallStarted:
		c.Status, c.Attempts = "running", max(c.Attempts, e.Attempt)
		if c.Started == "" {
			c.Started = stamp(e.Time)
		}
		if e.Value != nil {
			c.Params = e.Value
		}
	case exec.CallRetrying:
		c.Status, c.Error = "retrying", e.Error
	case exec.CallReturned:
		if c.Error = e.Error; e.Value != nil {
			c.Result = e.Value
		}
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		c.Status, c.Ended, c.Reason = string(e.Status), stamp(e.Time), e.Reason
		if e.Error != nil {
			c.Error = e.Error
		}
	case exec.ApprovalAsked:
		c.Status, c.Reason = "awaiting", e.Reason
		if e.Value != nil {
			c.Params = e.Value
		}
	case exec.ApprovalGiven:
		if c.Status = "pending"; e.Answer != nil {
			c.By, c.answer, c.asked = e.Answer.By, answered(e.Answer), nil
			if e.Answer.Params != nil {
				c.Params, c.asked = e.Answer.Params, c.Params
			}
		}
	case exec.Written:
		c.Writes = append(c.Writes, Write{seq, e.Path, e.Method, e.Value})
	}
}

// answered describes a person's decision about a call.
func answered(a *exec.Answer) string {
	switch {
	case a.Result != nil:
		return "a result was given"
	case a.Skip:
		return "skipped"
	case a.Approved && a.Params != nil:
		return "approved with other params"
	case a.Approved:
		return "approved"
	}
	return refused
}

const refused = "refused"

// board responds with the whiteboard of a run, as it was after an event.
func (s *Server) board(w http.ResponseWriter, r *http.Request) {
	sum, at, err := s.findAt(r)
	var kinds map[string]json.RawMessage
	if err == nil {
		kinds, err = s.whiteboard(r.Context(), sum.Run, at)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"at": at, "whiteboard": kinds})
}

// whiteboard returns the global kinds of the whiteboard of a run after an event; 0 is the last
// event.
func (s *Server) whiteboard(ctx context.Context, run string, at int64) (map[string]json.RawMessage, error) {
	p, err := s.opts.Engine.PlanOf(ctx, run)
	if err != nil {
		return nil, err
	}
	b := newBoard(p.Program)
	err = s.each(ctx, run, at, func(seq int64, e *exec.Event) error {
		if e.Type != exec.Written || e.Replayed {
			return nil
		}
		return b.take(seq, e.Instance, e.Call, &Write{Path: e.Path, Method: e.Method, Value: e.Value})
	})
	return b.kinds, err
}

// A board is the global whiteboard of a run. Since the events of overlapping writes come in plan
// order, each write is simply applied to the current value.
type board struct {
	kinds map[string]json.RawMessage
}

func newBoard(p *compile.Program) *board {
	b := &board{map[string]json.RawMessage{"state": json.RawMessage("{}"), "data": json.RawMessage("{}")}}
	maps.Copy(b.kinds, p.Initial)
	return b
}

// take applies a write of a call.
func (b *board) take(seq int64, instance, call string, w *Write) error {
	if instance != "" || isInner(call) {
		return nil
	}
	path, ok := writtenPath(w.Path)
	method, known := methods[w.Method]
	if !ok || !known {
		return fmt.Errorf("event %d writes %s to %s, which this version does not know", seq, w.Method, w.Path)
	}
	doc := b.kinds[path[0].Name]
	if doc == nil {
		doc = json.RawMessage("{}")
	}
	after, err := state.Apply(doc, path[1:], method, w.Value)
	if err != nil {
		return errors.Join(fmt.Errorf("event %d can't be applied", seq), err)
	}
	b.kinds[path[0].Name] = after
	return nil
}

var methods = map[string]state.Method{"set": state.Set, "merge": state.Merge, "assign": state.Assign, "push": state.Push, "concat": state.Concat}

// isInner reports whether the path of a call is inside a delegate, which has a whiteboard of its
// own.
func isInner(call string) bool { return bytes.ContainsAny([]byte(call), "/[#") }

// writtenPath reads the path of a write.
func writtenPath(text string) (state.Path, bool) {
	if len(text) > 0 && text[0] != 0xe2 {
		text = "†" + text
	}
	w, err := lang.ParseWrite(text)
	if err != nil || len(w.Alternatives) != 1 || len(w.Alternatives[0].Paths) != 1 {
		return nil, false
	}
	ref := w.Alternatives[0].Paths[0]
	path := state.Path{{Kind: state.Name, Name: ref.Kind}}
	for _, step := range ref.Path {
		switch step.Kind {
		case lang.Named:
			path = append(path, state.Segment{Kind: state.Name, Name: step.Name})
		case lang.Number:
			path = append(path, state.Segment{Kind: state.Either, Name: step.Name, Index: step.Index})
		case lang.Index:
			path = append(path, state.Segment{Kind: state.Index, Index: step.Index})
		default:
			return nil, false
		}
	}
	return path, true
}
