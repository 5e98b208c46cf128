package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Question is an open question of a run: a call waits for a person.
type Question struct {
	Run      string
	Instance string
	Path     string // of the call
	Tool     string
	Kind     exec.QuestionKind
	Digest   string // of the question; an answer should have it
	Params   json.RawMessage
	Terms    *exec.Terms // what Digest is computed from
	Fallback bool        // the question is about the fallback of the call
	Reason   string
	Failure  *exec.Failure
	Asked    time.Time // when it was first asked
}

// QuestionOf returns the question in an event of the type exec.ApprovalAsked.
func QuestionOf(run string, e *exec.Event) *Question {
	return &Question{
		Run: run, Instance: e.Instance, Path: e.Call, Tool: e.Tool, Kind: e.Question, Digest: e.Digest,
		Params: e.Value, Terms: e.Asked, Fallback: e.Fallback, Reason: e.Reason, Failure: e.Error, Asked: e.Time,
	}
}

// Answer is an answer to a question of a run.
type Answer struct {
	Instance string
	Path     string // of the call
	Answer   exec.Answer
}

// Given returns the event that records an answer to the question in the event asked.
func (a *Answer) Given(asked *exec.Event) *exec.Event {
	return &exec.Event{
		Type: exec.ApprovalGiven, Time: time.Now(), Run: asked.Run, Instance: asked.Instance, Call: asked.Call, Tool: asked.Tool,
		Answer: &a.Answer, Question: asked.Question, Digest: asked.Digest,
	}
}

// AnswerError is the reason why an answer was not accepted.
type AnswerError struct {
	Run, Instance, Path string
	Refused             Refused
}

// Refused is the reason why an answer was not accepted.
type Refused uint8

// The reasons.
const (
	NotAsked Refused = iota // no question is open
	Changed                 // the answer is to another question
	Answered                // it was answered already
)

func (e *AnswerError) Error() string {
	call := fmt.Sprintf("the call %q of the run %q", exec.CallID(e.Path), e.Run)
	if e.Instance != "" {
		call += fmt.Sprintf(" (instance %q)", e.Instance)
	}
	switch e.Refused {
	case Changed:
		return "journal: what is asked about " + call + " is not what was answered; look at it again"
	case Answered:
		return "journal: " + call + " was answered already"
	}
	return "journal: " + call + " waits for no answer"
}

// UsedError says that another run has used something that may be used only once.
type UsedError struct {
	Name string
	Run  string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("journal: the run %q has used %q already", e.Run, e.Name)
}
