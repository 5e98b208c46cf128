package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Question is a question of a run that is open: a call waits for a person.
type Question struct {
	Run      string
	Instance string
	Path     string // of the call
	Tool     string
	Kind     exec.QuestionKind
	Digest   string // of what is asked; an answer names it
	Params   json.RawMessage
	Terms    *exec.Terms // what the digest is of
	Fallback bool        // it is the fallback of the call that would be called
	Reason   string
	Failure  *exec.Failure
	Asked    time.Time // first, if the run has asked it again since
}

// QuestionOf returns the question that an event of the type exec.ApprovalAsked asks.
func QuestionOf(run string, e *exec.Event) *Question {
	return &Question{
		Run: run, Instance: e.Instance, Path: e.Call, Tool: e.Tool, Kind: e.Question, Digest: e.Digest,
		Params: e.Value, Terms: e.Asked, Fallback: e.Fallback, Reason: e.Reason, Failure: e.Error, Asked: e.Time,
	}
}

// Answer is an answer that was put to a question of a run.
type Answer struct {
	Instance string
	Path     string // of the call
	Answer   exec.Answer
}

// Given returns the event by which an answer to the question that asked asks is recorded.
func (a *Answer) Given(asked *exec.Event) *exec.Event {
	return &exec.Event{
		Type: exec.ApprovalGiven, Time: time.Now(), Run: asked.Run, Instance: asked.Instance, Call: asked.Call, Tool: asked.Tool,
		Answer: &a.Answer, Question: asked.Question, Digest: asked.Digest,
	}
}

// AnswerError says why an answer was not taken.
type AnswerError struct {
	Run, Instance, Path string
	Refused             Refused
}

// Refused is why an answer was not taken.
type Refused uint8

// The reasons.
const (
	NotAsked Refused = iota // no question is open
	Changed                 // what is asked is not what was answered
	Answered                // somebody has answered
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

// UsedError says that another run has used something that may be used once.
type UsedError struct {
	Name string
	Run  string
}

func (e *UsedError) Error() string {
	return fmt.Sprintf("journal: the run %q has used %q already", e.Run, e.Name)
}
