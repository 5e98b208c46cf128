package webhook

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/journal"
)

// A message is a message about a run.
type message struct {
	Type      Kind      `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when it happened
	Data      data      `json:"data"`

	id    string
	first int64 // the number of the first event that it covers
}

// data describes events of a run, without the params and results of calls.
type data struct {
	Run       string            `json:"run"`
	Plan      string            `json:"plan"`
	By        string            `json:"by"` // who started it; "" is not known
	Labels    map[string]string `json:"labels"`
	Status    exec.Status       `json:"status"`
	Reason    string            `json:"reason"`
	WaitsPlan bool              `json:"waitsForPlan"` // the plan as a whole waits for approval
	Asked     int               `json:"asked"`        // how many calls wait, of which Questions has some
	Questions []question        `json:"questions"`
	Link      string            `json:"link"` // to a page; "" is not known
}

// question is a call that waits for a person.
type question struct {
	Call     string            `json:"call"`
	Instance string            `json:"instance"`
	Tool     string            `json:"tool"`
	Kind     exec.QuestionKind `json:"kind"`
	Reason   string            `json:"reason"`
}

const (
	maxQuestions = 20  // in a message
	maxReason    = 300 // characters of a reason
)

// messageMaker makes messages from the events of a run.
type messageMaker struct {
	sum      *journal.Summary
	messages []*message
	asked    *message           // the message about questions that are still open
	open     map[[2]string]bool // these questions
}

// take processes an event.
func (t *messageMaker) take(seq int64, e *exec.Event) {
	at := [2]string{e.Instance, e.Call}
	switch e.Type {
	case exec.ApprovalAsked:
		if t.asked == nil {
			t.asked, t.open = t.message(Question, seq, e), map[[2]string]bool{}
			t.asked.Data.Status, t.asked.Data.Reason = exec.Running, ""
			t.messages = append(t.messages, t.asked)
		}
		t.open[at] = true
		t.asked.Data.Asked = len(t.open)
		if len(t.asked.Data.Questions) < maxQuestions {
			t.asked.Data.Questions = append(t.asked.Data.Questions, question{e.Call, e.Instance, e.Tool, e.Question, reasonToAsk(e)})
		}
	case exec.ApprovalGiven:
		if t.asked != nil {
			delete(t.open, at)
			t.asked.Data.Questions = slices.DeleteFunc(t.asked.Data.Questions, func(q question) bool { return q.Instance == e.Instance && q.Call == e.Call })
			if t.asked.Data.Asked = len(t.open); len(t.open) == 0 {
				t.drop(t.asked)
			}
		}
	case exec.RunPaused:
		if t.asked != nil {
			t.asked.Data.Status = exec.Paused
		}
		if strings.HasPrefix(e.Reason, plc.WaitsForApproval) {
			m := t.message(Question, seq, e)
			m.Data.Status, m.Data.WaitsPlan = exec.Paused, true
			t.messages = append(t.messages, m)
		}
	case exec.RunFinished:
		if runner.Left(&journal.Summary{Status: e.Status, Reason: e.Reason}) {
			return // the next server will continue the run
		}
		if t.asked != nil {
			t.drop(t.asked)
		}
		kind := Ended
		if e.Status == exec.Failed || e.Status == exec.UndoneInPart {
			kind = Failed
		}
		m := t.message(kind, seq, e)
		if kind == Failed || e.Status == exec.Undone {
			m.Data.Reason = failure(e.Reason)
		}
		t.messages = append(t.messages, m)
	}
}

// reasonToAsk returns why a person is asked, without error messages of tools and reasons of
// policies, which may quote params and results.
func reasonToAsk(e *exec.Event) string {
	switch {
	case e.Question == exec.FailureQuestion:
		return "it failed"
	case e.Question == exec.UncertainQuestion:
		return "it may have done its work, and gave no result that can be used"
	case e.Asked != nil && len(e.Asked.Breaks) > 0:
		return "a policy wants a person to decide"
	}
	return short(e.Reason)
}

var failedCall = lazyregexp.New(`^("(?:[^"\\]|\\.)*" failed: [a-z][a-z0-9_.-]{0,40})(?:: |$)`)

// failure returns which call failed and the code of its error, without the text of the error, which
// may quote params and results. It returns "" if the run failed for another reason.
func failure(reason string) string {
	if m := failedCall.FindStringSubmatch(reason); m != nil {
		return short(m[1])
	}
	return ""
}

// drop removes a message about questions that were answered before it was sent.
func (t *messageMaker) drop(m *message) {
	t.asked, t.open = nil, nil
	t.messages = slices.DeleteFunc(t.messages, func(o *message) bool { return o == m })
}

func (t *messageMaker) message(kind Kind, seq int64, e *exec.Event) *message {
	labels := map[string]string{}
	for name, value := range t.sum.Labels {
		if !plc.ReservedLabel(name) && name != "by" && name != "key-request" && name != runner.Label {
			labels[name] = value
		}
	}
	return &message{Type: kind, Timestamp: e.Time.UTC(), first: seq, Data: data{
		Run: t.sum.Run, Plan: t.sum.Plan, By: t.sum.Labels["by"], Labels: labels, Status: e.Status, Reason: short(e.Reason), Questions: []question{},
	}}
}

func short(text string) string { return display.Line(text).Cut(maxReason).String() }

// name sets the id of the message, which is the same if the message is made again.
func (m *message) name(hook string) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", hook, m.Data.Run, m.Type, m.first))
	m.id = "msg_" + base64.RawURLEncoding.EncodeToString(sum[:18])
}

// body returns the body of the message as it is sent.
func (m *message) body(slack bool) []byte {
	var v any = m
	if slack {
		v = m.slack()
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types
	}
	return text
}

// slack returns the message in Slack's format. Names of plans and tools are plain text in it, so
// that they can't be links or mentions.
func (m *message) slack() any {
	d := &m.Data
	text := display.Sprintf("Run %s of %s", display.Line(d.Run), display.Line(d.Plan)).String()
	switch {
	case d.WaitsPlan:
		text += ": its plan waits for approval"
	case m.Type == Question:
		text += fmt.Sprintf(": %d calls wait for a person", d.Asked)
		if d.Asked == 1 {
			text = strings.Replace(text, "calls wait", "call waits", 1)
		}
		for _, q := range d.Questions {
			text += display.Sprintf("\n• %s (%s): %s", display.Line(q.Call), display.Line(q.Tool), display.Line(q.Reason)).String()
		}
	default:
		text += ": " + string(d.Status)
		if d.Reason != "" {
			text += ": " + d.Reason
		}
	}
	type object = map[string]any
	blocks := []object{{"type": "section", "text": object{"type": "plain_text", "text": cut(text, 2900)}}}
	if d.Link != "" {
		button := object{"type": "button", "text": object{"type": "plain_text", "text": "Open"}, "url": d.Link}
		blocks = append(blocks, object{"type": "actions", "elements": []object{button}})
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return object{"text": escape.Replace(cut(text, 2900)), "blocks": blocks}
}

// cut returns the first n characters of a text.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}
