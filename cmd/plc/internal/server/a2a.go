package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// This file serves runs to other agents as tasks of A2A 1.0, over JSON-RPC. A task is a run, and
// has the same id.

const (
	a2aPath    = "/v1/a2a"
	cardPath   = "/.well-known/agent-card.json"
	a2aVersion = "1.0"
)

// card responds with the agent card, which tells clients how to talk to the server.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	answer(w, http.StatusOK, members{
		"name": "plc", "description": "Runs plans of tool calls, and asks people before calls that may destroy.", "version": a2aVersion,
		"supportedInterfaces":  []members{{"url": scheme + "://" + r.Host + a2aPath, "protocolBinding": "JSONRPC", "protocolVersion": a2aVersion}},
		"capabilities":         members{"streaming": true, "pushNotifications": false},
		"securitySchemes":      members{"token": members{"httpAuthSecurityScheme": members{"scheme": "Bearer"}}},
		"securityRequirements": []members{{"schemes": members{"token": members{"list": []string{}}}}},
		"defaultInputModes":    []string{"application/json", "text/plain"}, "defaultOutputModes": []string{"application/json"},
		"skills": []members{{
			"id": "run", "name": "Run a plan", "tags": []string{"plan"},
			"description": "A message has a plan as text, or data as POST /v1/runs takes it. For a task that needs input, it has data as POST /v1/runs/RUN/answers takes it.",
		}},
	})
}

// An a2aError is an error of JSON-RPC or A2A.
type a2aError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *a2aError) Error() string { return e.Message }

// a2aParams has the params of all methods.
type a2aParams struct {
	ID      string `json:"id"` // of a task
	Message struct {
		TaskID    string `json:"taskId"`
		MessageID string `json:"messageId"`
		Parts     []struct {
			Text *string         `json:"text"`
			Data json.RawMessage `json:"data"`
		} `json:"parts"`
	} `json:"message"`
	Configuration struct {
		ReturnImmediately bool `json:"returnImmediately"`
	} `json:"configuration"`
}

// a2a answers a request of A2A.
func (s *Server) a2a(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  a2aParams       `json:"params"`
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(r.Body)
	switch {
	case err != nil:
	case !json.Valid(body.Bytes()):
		err = &a2aError{-32700, "the body is no JSON"}
	case json.Unmarshal(body.Bytes(), &in) != nil || in.Version != "2.0" || in.Method == "":
		err = &a2aError{-32600, "the body is no request of JSON-RPC 2.0"}
	case r.Header.Get("A2A-Version") != a2aVersion:
		err = &a2aError{-32009, "the version of A2A is " + a2aVersion + " here, in the header A2A-Version"}
	}
	task, after, streams := in.Params.ID, int64(0), in.Method == "SendStreamingMessage" || in.Method == "SubscribeToTask"
	if err == nil {
		switch p := &in.Params; in.Method {
		case "SendMessage", "SendStreamingMessage":
			task, after, err = s.a2aSend(r, p)
			if err == nil && !streams && !p.Configuration.ReturnImmediately {
				err = s.a2aWait(r.Context(), task, after)
			}
		case "GetTask":
		case "CancelTask":
			r.SetPathValue("run", task)
			if err = callerOf(r).needs(Run); err == nil {
				err = s.cancelRun(r, "")
			}
			if status, _ := statusOf(err); err != nil && status == http.StatusConflict {
				err = &a2aError{-32002, err.Error()}
			}
		case "SubscribeToTask":
			var sum *journal.Summary
			if sum, err = s.opts.Engine.Summary(r.Context(), task); err == nil {
				if after = sum.Events; !sum.Finished.IsZero() && !runner.Left(sum) {
					err = &a2aError{-32004, "the task has ended"}
				}
			}
		default:
			err = &a2aError{-32601, "there is no method " + in.Method + " here"}
		}
	}
	var result members
	if err == nil && !streams {
		if result, err = s.a2aTask(r.Context(), task); in.Method == "SendMessage" {
			result = members{"task": result}
		}
	}
	wrapped := func(result any) members { return members{"jsonrpc": "2.0", "id": in.ID, "result": result} }
	switch {
	case err != nil:
		if in.ID == nil {
			in.ID = json.RawMessage("null")
		}
		answer(w, http.StatusOK, members{"jsonrpc": "2.0", "id": in.ID, "error": a2aErrorOf(err)})
	case streams:
		s.a2aStream(w, r, task, after, in.Params.Message.TaskID != "", wrapped)
	default:
		answer(w, http.StatusOK, wrapped(result))
	}
}

// a2aErrorOf converts an error to one of A2A.
func a2aErrorOf(err error) *a2aError {
	if own, ok := errors.AsType[*a2aError](err); ok {
		return own
	}
	if _, missing := errors.AsType[*journal.MissingError](err); missing {
		return &a2aError{-32001, "there is no such task"}
	}
	if status, _ := statusOf(err); status < http.StatusInternalServerError {
		return &a2aError{-32602, err.Error()}
	}
	return &a2aError{-32603, err.Error()}
}

// a2aSend starts a run with the plan of a message, or passes the answer in a message to a run.
// after is the number of the last event before that.
func (s *Server) a2aSend(r *http.Request, p *a2aParams) (task string, after int64, err error) {
	m := &p.Message
	if len(m.Parts) != 1 || m.Parts[0].Text == nil && m.Parts[0].Data == nil {
		return "", 0, &a2aError{-32005, "a message has one part, a text or data"}
	}
	text, role := m.Parts[0].Data, Run
	if t := m.Parts[0].Text; t != nil {
		text, _ = json.Marshal(members{"plan": *t})
	}
	if m.TaskID != "" {
		role = Approve
	}
	if err := callerOf(r).needs(role); err != nil {
		return "", 0, err
	}
	if m.TaskID == "" {
		var in Planned
		if err := decode(text, &in); err != nil {
			return "", 0, err
		}
		if m.MessageID != "" {
			r.Header.Set("Idempotency-Key", "a2a "+m.MessageID)
		}
		err = s.inSlot(r, func() (err error) { task, _, err = s.startRun(r, &in, text); return err })
		return task, 0, err
	}
	var d Decision
	if err := decode(text, &d); err != nil {
		return "", 0, err
	}
	r.SetPathValue("run", m.TaskID)
	sum, err := s.find(r)
	if err != nil {
		return "", 0, err
	}
	return sum.Run, sum.Events, s.decideEither(r, &d)
}

// a2aWait returns when a run waits or has ended, after an event.
func (s *Server) a2aWait(ctx context.Context, run string, after int64) error {
	for entry, err := range s.opts.Engine.Events(ctx, run, after) {
		if err != nil {
			return err
		}
		if e, err := entry.Event(); err != nil || e.Type == exec.RunPaused || e.Type == exec.RunFinished {
			return err
		}
	}
	return ctx.Err()
}

// a2aTask returns a run as a task.
func (s *Server) a2aTask(ctx context.Context, run string) (members, error) {
	sum, err := s.opts.Engine.Summary(ctx, run)
	if err != nil {
		return nil, err
	}
	status, err := s.a2aStatus(ctx, sum)
	if err != nil {
		return nil, err
	}
	task := members{"id": sum.Run, "contextId": sum.Run, "status": status}
	if sum.Status == exec.Completed {
		again, err := s.opts.Engine.Replay(ctx, sum.Run, plc.Source{}, nil)
		if err != nil {
			return nil, err
		}
		task["artifacts"] = []members{{"artifactId": "result", "name": "result", "parts": []members{{
			"data": members{"output": again.Result.Output, "state": again.Result.State}, "mediaType": "application/json"}}}}
	}
	return task, nil
}

// a2aStatus returns the status of a run as that of a task. Its message has the open questions.
func (s *Server) a2aStatus(ctx context.Context, sum *journal.Summary) (members, error) {
	state := map[exec.Status]string{
		exec.Pending: "SUBMITTED", exec.Paused: "INPUT_REQUIRED", exec.Completed: "COMPLETED", exec.Failed: "FAILED", exec.Cancelled: "CANCELED", exec.Rejected: "REJECTED",
		exec.Undone: "FAILED", exec.UndoneInPart: "FAILED",
	}[sum.Status]
	if state == "" || runner.Left(sum) {
		state = "WORKING"
	}
	status := members{"state": "TASK_STATE_" + state, "timestamp": stamp(sum.Changed)}
	part := members{"text": sum.Reason}
	if sum.Status == exec.Paused {
		all, err := s.questionsOf(ctx, sum.Run)
		if err != nil {
			return nil, err
		}
		digest := ""
		if plc.WaitsForPlan(sum) {
			digest = sum.Program
		}
		part = members{"data": members{"reason": sum.Reason, "questions": all, "planDigest": digest}, "mediaType": "application/json"}
	}
	if sum.Reason != "" || sum.Status == exec.Paused {
		status["message"] = members{
			"messageId": fmt.Sprintf("%s-%d", sum.Run, sum.Events), "contextId": sum.Run, "taskId": sum.Run, "role": "ROLE_AGENT", "parts": []members{part},
		}
	}
	return status, nil
}

// a2aStream streams a task: first its current state, then changes of its status, until it waits or
// has ended. With answered, a question of the run was just answered, so the stream does not end if
// the run still waits at first.
func (s *Server) a2aStream(w http.ResponseWriter, r *http.Request, run string, after int64, answered bool, wrapped func(any) members) {
	var lines bytes.Buffer
	last := ""
	add := func(e *exec.Event) {
		task, err := s.a2aTask(r.Context(), run)
		if err != nil {
			return // the client asks again
		}
		status := task["status"].(members)
		if waits := status["state"] == "TASK_STATE_INPUT_REQUIRED"; waits && (e == nil && answered || e != nil && e.Type != exec.RunPaused) {
			status["state"] = "TASK_STATE_WORKING"
		}
		all := []members{{"task": task}}
		if e != nil {
			all = []members{{"statusUpdate": members{"taskId": run, "contextId": run, "status": status}}}
			if artifacts, ok := task["artifacts"].([]members); ok {
				all = append([]members{{"artifactUpdate": members{"taskId": run, "contextId": run, "artifact": artifacts[0], "lastChunk": true}}}, all...)
			}
		}
		if status["state"] == last {
			return
		}
		last = status["state"].(string)
		for _, one := range all {
			text, _ := json.Marshal(wrapped(one)) // our own type
			fmt.Fprintf(&lines, "data: %s\n\n", text)
		}
	}
	add(nil)
	s.stream(w, r, run, after, lines.Bytes(), func(entry *journal.Entry) (text []byte, ends bool) {
		lines.Reset()
		e, err := entry.Event()
		if err != nil {
			return nil, true
		}
		switch e.Type {
		case exec.RunStarted, exec.RunResumed, exec.RunPaused, exec.RunFinished:
			add(e)
		}
		return lines.Bytes(), last != "TASK_STATE_WORKING" && last != "TASK_STATE_SUBMITTED"
	})
}
