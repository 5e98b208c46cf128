package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool/model"
)

// Ledgers makes a loop keep two ledgers, as Magentic-One does. The task ledger holds the facts that
// are given, to look up, to derive, and guessed, and the plan in words. It is written before the
// first turn and again if the loop stalls. The progress ledger is part of each answer after the
// first. The loop, not the model, decides that there is no progress. The zero value selects the
// defaults.
type Ledgers struct {
	MaxStalls int // stalled turns, minus turns with progress, before a new task ledger is written; 0 means 3
	MaxResets int // new task ledgers before the loop gives up; 0 means 2
}

const ledgerInstructions = `Before a task is planned, write down what is known. Answer with one JSON object: {"facts": {"given": [...], "look_up": [...], "derive": [...], "guesses": [...]}, "plan": [...]}, all of them short sentences: what the task itself says, what has to be looked up and where, what can be worked out, what you guess from what you know, and the steps of a plan.`

const progressInstructions = `
From your second answer on, begin it with "progress": {"is_request_satisfied": bool, "is_in_loop": bool, "is_progress_being_made": bool, "reason": string, "next": string}: how the work stands, judged by what the last plan has brought.`

const ledgerSchema = `{"type":"object","properties":{"facts":{"type":"object","properties":{` +
	`"given":{"type":"array","items":{"type":"string"}},"look_up":{"type":"array","items":{"type":"string"}},"derive":{"type":"array","items":{"type":"string"}},"guesses":{"type":"array","items":{"type":"string"}}},` +
	`"required":["given","look_up","derive","guesses"],"additionalProperties":false},"plan":{"type":"array","items":{"type":"string"}}},"required":["facts","plan"],"additionalProperties":false}`

const progressSchema = `{"type":"object","properties":{"is_request_satisfied":{"type":"boolean"},"is_in_loop":{"type":"boolean"},"is_progress_being_made":{"type":"boolean"},"reason":{"type":"string"},"next":{"type":"string"}},` +
	`"required":["is_request_satisfied","is_in_loop","is_progress_being_made"]}`

// writeTaskLedger asks the planner for a task ledger. why is the reason for a new one, or "" for
// the first.
func (s *solver) writeTaskLedger(ctx context.Context, why string) error {
	text := s.context()
	if why != "" {
		text += fmt.Sprintf("\n## Task ledger so far\n%s\n\nThe work has stalled: %s. Bring the facts up to date, and make a plan that avoids what has gone wrong.\n", s.ledger, why)
	}
	for try := 1; try <= 2; try++ {
		turn := &model.Turn{
			System: ledgerInstructions, Messages: model.FromUser(text),
			Schema: json.RawMessage(ledgerSchema), Strict: true, Attempt: s.ordinal(),
		}
		reply, err := s.ask(ctx, turn, nil)
		if err != nil {
			return err
		}
		if ledger := objectIn(reply.Text); gjson.Get(ledger, "facts").IsObject() {
			s.ledger = ledger
			return nil
		}
	}
	s.Emit(Event{Type: Warned, Text: "the model wrote no task ledger"})
	return nil
}

// objectIn returns the JSON object in a text, or "".
func objectIn(text string) string {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from || !json.Valid([]byte(text[from:to+1])) {
		return ""
	}
	return text[from : to+1]
}

// judge evaluates the progress ledger of an answer. If the work has stalled, it returns faults,
// with which the planner makes another plan based on a new task ledger.
func (s *solver) judge(answer json.RawMessage) (faults string) {
	if s.Loop.Ledgers == nil || s.result.Turns == 0 {
		return ""
	}
	p := gjson.GetBytes(answer, "progress")
	switch {
	case !p.IsObject() || p.Get("is_request_satisfied").Bool():
		return ""
	case p.Get("is_progress_being_made").Bool() && !p.Get("is_in_loop").Bool():
		s.flat = max(0, s.flat-1)
		return ""
	}
	if s.flat++; s.flat < orDefault(s.Loop.Ledgers.MaxStalls, 3) {
		return ""
	}
	s.flat = 0
	why := p.Get("reason").Str
	if s.resets++; s.resets > orDefault(s.Loop.Ledgers.MaxResets, 2) {
		s.end(exec.Failed, fmt.Sprintf("it gives up: there was no progress with %d plans; %s", s.resets, why))
		return ""
	}
	s.revise("there is no progress: " + why)
	s.stalled = strings.TrimSpace("there is no progress. " + why)
	return s.stalled
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}
