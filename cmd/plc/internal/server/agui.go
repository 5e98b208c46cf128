package server

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// This file serves runs to pages of agents over AG-UI 1.0, by translating our events. A run of
// AG-UI is the part of one of our runs until it waits or ends; the next run on the thread has the
// answers.

// aguiInput is a RunAgentInput of AG-UI. Its plan is forwardedProps, in the form of POST /v1/runs,
// or the text of the last message of a user. Other members are ignored.
type aguiInput struct {
	Thread   string `json:"threadId"`
	Run      string `json:"runId"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Props  json.RawMessage `json:"forwardedProps"`
	Resume []aguiAnswer    `json:"resume"`
}

// aguiAnswer is the answer to an interrupt. The payload is a Decision, whose digest and call are
// those of the interrupt.
type aguiAnswer struct {
	Interrupt string          `json:"interruptId"`
	Status    string          `json:"status"`  // resolved or cancelled
	Payload   json.RawMessage `json:"payload"` // a Decision; none refuses
}

// agui starts a run, or answers the questions of a run, and streams its events until it waits or
// ends.
func (s *Server) agui(w http.ResponseWriter, r *http.Request) {
	var in aguiInput
	text := new(bytes.Buffer)
	_, err := text.ReadFrom(r.Body)
	if err == nil {
		if err = json.Unmarshal(text.Bytes(), &in); err != nil {
			err = badf(http.StatusBadRequest, "the body is no RunAgentInput: %s", bodyFault(err))
		}
	}
	if err == nil && (in.Thread == "" || in.Run == "") {
		err = badf(http.StatusBadRequest, "threadId or runId is missing")
	}
	var run string
	var after int64
	switch {
	case err != nil:
	case len(in.Resume) > 0:
		run, after, err = s.aguiResume(r, in.Resume)
	default:
		err = s.inSlot(r, func() (err error) { run, err = s.aguiStart(r, &in, text.Bytes()); return err })
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	t := &aguiTranslator{s: s, r: r, run: run, in: &in}
	s.stream(w, r, run, after, nil, t.take)
}

// aguiStart starts the run of a thread. The id of our run is derived from the ids of the thread and
// the run, so that it is started only once.
func (s *Server) aguiStart(r *http.Request, in *aguiInput, body []byte) (string, error) {
	if err := callerOf(r).needs(Run); err != nil {
		return "", err
	}
	var p Planned
	if len(in.Props) > 0 && string(in.Props) != "{}" {
		if err := decode(in.Props, &p); err != nil {
			return "", err
		}
	}
	for _, m := range in.Messages {
		var text string
		if m.Role == "user" && len(in.Props) <= len("{}") && json.Unmarshal(m.Content, &text) == nil {
			p.Plan, _ = json.Marshal(text) // a string
		}
	}
	r.Header.Set("Idempotency-Key", "agui "+in.Thread+" "+in.Run)
	run, _, err := s.startRun(r, &p, body)
	return run, err
}

// aguiResume answers the questions of a run. after is the number of its last event before that.
func (s *Server) aguiResume(r *http.Request, answers []aguiAnswer) (run string, after int64, err error) {
	if err := callerOf(r).needs(Approve); err != nil {
		return "", 0, err
	}
	for i, a := range answers {
		of, err := readInterrupt(a.Interrupt)
		if err != nil || i > 0 && of.run() != run {
			return "", 0, badf(http.StatusUnprocessableEntity, "the interrupt %q is not one of this run", a.Interrupt)
		}
		run = of.run()
		r.SetPathValue("run", run)
		sum, err := s.find(r)
		if err != nil {
			return "", 0, err
		}
		if i == 0 {
			after = sum.Events
		}
		d, err := a.decision()
		if err != nil {
			return "", 0, err
		}
		d.Digest, d.Instance, d.Call = of[1], of[2], of[3]
		if err := s.decideEither(r, d); err != nil {
			return "", 0, err
		}
	}
	return run, after, nil
}

// decision returns the decision in an answer. Only an explicit "approve" approves.
func (a *aguiAnswer) decision() (*Decision, error) {
	switch {
	case a.Status != "resolved" && a.Status != "cancelled":
		return nil, badf(http.StatusUnprocessableEntity, "the status of an answer is resolved or cancelled")
	case a.Status == "cancelled", isNull(a.Payload):
		return &Decision{Decision: "refuse"}, nil
	}
	d := &Decision{}
	if err := decode(a.Payload, d); err != nil {
		return nil, err
	}
	if d.Decision == "" {
		return nil, badf(http.StatusUnprocessableEntity, `the payload of an answer has a "decision", such as {"decision": "approve"}`)
	}
	return d, nil
}

// An interrupt is the id of a question of a run: the run, the digest of the question, the instance
// and the call. Instance and call are "" for the plan as a whole.
type interrupt [4]string

func (i interrupt) run() string { return i[0] }

func (i interrupt) String() string {
	text, _ := json.Marshal(i) // strings
	return base64.RawURLEncoding.EncodeToString(text)
}

func readInterrupt(id string) (i interrupt, err error) {
	text, err := base64.RawURLEncoding.DecodeString(id)
	if err == nil {
		err = json.Unmarshal(text, &i)
	}
	return i, err
}

// aguiTranslator translates the events of a run to events of AG-UI.
type aguiTranslator struct {
	s     *Server
	r     *http.Request
	run   string
	in    *aguiInput
	begun bool
	calls map[string]bool // the calls that were started
	text  bytes.Buffer
}

type members = map[string]any

// tell adds an event.
func (t *aguiTranslator) tell(kind string, e *exec.Event, more members) {
	m := members{"type": kind, "timestamp": e.Time.UnixMilli()}
	for name, v := range more {
		m[name] = v
	}
	line, err := json.Marshal(m)
	if err != nil {
		panic(err) // our own
	}
	fmt.Fprintf(&t.text, "data: %s\n\n", line)
}

// take translates an event; last reports that the run waits or has ended.
func (t *aguiTranslator) take(entry *journal.Entry) (text []byte, last bool) {
	e, err := entry.Event()
	if err != nil {
		return nil, true
	}
	t.text.Reset()
	ids := members{"threadId": t.in.Thread, "runId": t.in.Run}
	if !t.begun {
		t.begun, t.calls = true, map[string]bool{}
		t.tell("RUN_STARTED", e, members{"threadId": t.in.Thread, "runId": t.in.Run, "protocolVersion": "1.0"})
		t.tell("CUSTOM", e, members{"name": "plc.run", "value": members{"run": t.run}})
	}
	call := e.Call
	if e.Instance != "" {
		call = e.Instance + ":" + call
	}
	switch e.Type {
	case exec.CallStarted:
		if t.calls[call] { // another attempt
			break
		}
		t.calls[call] = true
		t.tell("TOOL_CALL_START", e, members{"toolCallId": call, "toolCallName": e.Tool})
		if e.Value != nil {
			t.tell("TOOL_CALL_ARGS", e, members{"toolCallId": call, "delta": string(e.Value)})
		}
		t.tell("TOOL_CALL_END", e, members{"toolCallId": call})
	case exec.CallReturned:
		content := string(e.Value)
		if e.Error != nil {
			content = e.Error.Code + ": " + e.Error.Message
		}
		t.tell("TOOL_CALL_RESULT", e, members{"messageId": fmt.Sprintf("%s-%d", t.run, entry.Seq), "toolCallId": call, "content": content, "role": "tool"})
	case exec.RunPaused, exec.RunFinished:
		var waits []members
		if e.Type == exec.RunPaused {
			if waits, err = t.interrupts(e); err == nil && len(waits) == 0 && t.wentOn(entry.Seq) {
				break // it has been answered
			}
		}
		if board, err := t.s.whiteboard(t.r.Context(), t.run, entry.Seq); err == nil {
			t.tell("STATE_SNAPSHOT", e, members{"snapshot": board})
		}
		last = true
		t.end(e, ids, waits)
	}
	return t.text.Bytes(), last
}

// wentOn reports whether the run has more events after this one.
func (t *aguiTranslator) wentOn(seq int64) bool {
	sum, err := t.s.opts.Engine.Summary(t.r.Context(), t.run)
	return err == nil && sum.Events > seq
}

// end adds the event that says how a run ended, or which questions it has.
func (t *aguiTranslator) end(e *exec.Event, ids members, waits []members) {
	switch {
	case len(waits) > 0:
		ids["outcome"] = members{"type": "interrupt", "interrupts": waits}
		t.tell("RUN_FINISHED", e, ids)
	case e.Type == exec.RunPaused: // for another plan, for example
		t.tell("RUN_ERROR", e, members{"message": "the run waits: " + e.Reason, "code": "paused"})
	case e.Status == exec.Completed:
		ids["outcome"] = members{"type": "success"}
		if again, err := t.s.opts.Engine.Replay(t.r.Context(), t.run, plc.Source{}, nil); err == nil && !isNull(again.Result.Output) {
			ids["result"] = again.Result.Output
		}
		t.tell("RUN_FINISHED", e, ids)
	case e.Status == exec.Cancelled:
		ids["outcome"] = members{"type": "cancelled"}
		t.tell("RUN_FINISHED", e, ids)
	default:
		t.tell("RUN_ERROR", e, members{"message": cmp.Or(e.Reason, string(e.Status)), "code": string(e.Status)})
	}
}

// interrupts returns the open questions of a run as interrupts.
func (t *aguiTranslator) interrupts(e *exec.Event) (all []members, err error) {
	if strings.HasPrefix(e.Reason, plc.WaitsForApproval) {
		p, err := t.s.opts.Engine.PendingPlan(t.r.Context(), t.run)
		if err != nil {
			return nil, err
		}
		return []members{{"id": interrupt{t.run, p.Digest()}.String(), "reason": "plan", "message": t.s.opts.Preview(p, mostShown), "responseSchema": answerSchema}}, nil
	}
	open, err := t.s.opts.Engine.Questions(t.r.Context(), t.run)
	for _, q := range open {
		message, err := t.s.opts.Question(q)
		if err != nil {
			return nil, err
		}
		call := q.Path
		if q.Instance != "" {
			call = q.Instance + ":" + call
		}
		all = append(all, members{
			"id": interrupt{t.run, q.Digest, q.Instance, q.Path}.String(), "reason": string(q.Kind), "message": message, "toolCallId": call, "responseSchema": answerSchema,
			"metadata": members{"plc": questionOf(q)},
		})
	}
	return all, err
}

// answerSchema is the schema of the payload of an answer.
var answerSchema = json.RawMessage(`{"type": "object", "properties": {"decision": {"enum": ["approve", "refuse", "skip", "answer"]}, "reason": {"type": "string"}, "params": {"type": "object"}, "result": {}}, "required": ["decision"]}`)
