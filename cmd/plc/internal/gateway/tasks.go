package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
)

// The extension of the protocol for calls whose result comes later (io.modelcontextprotocol/tasks,
// version 2026-07-28), which the SDK does not have. A task is a run with the same id, so it
// outlives the gateway.
//
//	working ⇄ input_required → completed, cancelled
//
// A task is input_required if its run waits for a person and the client can open a page: the answer
// to the request says that the page was opened, and decides nothing. A failed run is a completed
// task, since the tool run has a result; the status failed is for errors of the protocol.

// tasksExtension is the name of the extension.
const tasksExtension = "io.modelcontextprotocol/tasks"

// The methods of the extension.
const (
	getTask    = "tasks/get"
	updateTask = "tasks/update"
	cancelTask = "tasks/cancel"
)

const (
	// pollTasksEvery is the interval at which clients should poll a task.
	pollTasksEvery = time.Second

	// soon is the time that a client that supports tasks waits for a result before it gets a task.
	soon = 2 * time.Second
)

// A Task describes a run to a client.
type Task struct {
	TaskID        string    `json:"taskId"`
	Status        string    `json:"status"`
	StatusMessage string    `json:"statusMessage,omitempty"`
	CreatedAt     time.Time `json:"createdAt"`
	LastUpdatedAt time.Time `json:"lastUpdatedAt"`
	TTL           *int64    `json:"ttlMs"` // nil: until the run is deleted
	PollInterval  int64     `json:"pollIntervalMs"`
}

// createdTask is the response to a call that continues as a task.
type createdTask struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	Task
}

// detailedTask is the response to tasks/get.
type detailedTask struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	Task
	InputRequests mcp.InputRequestMap `json:"inputRequests,omitempty"`
	Result        *mcp.CallToolResult `json:"result,omitempty"`
}

// acknowledged is the response to tasks/update and tasks/cancel.
type acknowledged struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

// taskParams has the params of all methods.
type taskParams struct {
	mcp.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
}

func (g *Gateway) addTasks(s *mcp.Server) {
	for _, err := range []error{
		mcp.AddReceivingCustomMethod(s, getTask, g.getTask),
		mcp.AddReceivingCustomMethod(s, updateTask, g.updateTask),
		mcp.AddReceivingCustomMethod(s, cancelTask, g.cancelTask),
	} {
		if err != nil {
			panic(err) // the SDK has these methods by now
		}
	}
}

// knowsTasks reports whether the client of a request declares the extension, in a version of the
// protocol that has it.
func (x *exchange) knowsTasks() bool {
	_, ok := x.can.Extensions[tasksExtension]
	return ok && x.version >= withoutSessions
}

// taskOf returns the state of the run of a task, if the client supports tasks and may see it.
func (g *Gateway) taskOf(ctx context.Context, p *taskParams) (*State, error) {
	if !exchangeOf(ctx).knowsTasks() {
		return nil, &jsonrpc.Error{
			Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client does not declare the extension " + tasksExtension,
			Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
		}
	}
	if _, err := g.summary(ctx, p.TaskID); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return g.state(ctx, p.TaskID)
}

// task returns the description of a run for a client, and the requests to open a page.
func (g *Gateway) task(x *exchange, s *State) (Task, mcp.InputRequestMap) {
	t := Task{
		TaskID: s.Run, Status: "working", CreatedAt: s.sum.Created.UTC(), LastUpdatedAt: s.sum.Changed.UTC(), PollInterval: pollTasksEvery.Milliseconds(),
	}
	switch {
	case s.Status == string(journal.Interrupted): // the next gateway goes on with it
	case s.Status == string(exec.Cancelled):
		t.Status, t.StatusMessage = "cancelled", s.Reason
	case !s.sum.Finished.IsZero() && s.Status != string(exec.Undoing):
		t.Status = "completed"
	case s.waits:
		t.StatusMessage = s.Answer
		if asks := g.invitation(x, s); asks != nil {
			t.Status = "input_required"
			return t, asks
		}
	}
	return t, nil
}

func (g *Gateway) getTask(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*detailedTask, error) {
	s, err := g.taskOf(ctx, p)
	if err != nil {
		return nil, err
	}
	d := &detailedTask{ResultType: "complete"}
	if d.Task, d.InputRequests = g.task(exchangeOf(ctx), s); d.Status != "completed" {
		return d, nil
	}
	text, err := jsonscan.Marshal(s)
	d.Result = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: s}
	return d, err
}

// updateTask processes a client's answer to a request to open a page. No answer approves anything.
func (g *Gateway) updateTask(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	s, err := g.taskOf(ctx, p)
	if err != nil {
		return nil, err
	}
	if _, ok := p.InputResponses[s.invitationKey()]; ok {
		exchangeOf(ctx).session.first(s.digestOf())
	}
	return &acknowledged{ResultType: "complete"}, nil
}

func (g *Gateway) cancelTask(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	if _, err := g.taskOf(ctx, p); err != nil {
		return nil, err
	}
	_, _, err := g.cancel(ctx, nil, Cancelled{Run: p.TaskID})
	return &acknowledged{ResultType: "complete"}, err
}

// maxNamedBody is the maximum size of the body of a request about a task.
const maxNamedBody = 4 << 20

// namesTask reports whether a request may pass: a request about a task must have its id in the
// header Mcp-Name, which the SDK does not check. It responds to a request that may not pass.
func namesTask(w http.ResponseWriter, r *http.Request) bool {
	switch r.Header.Get("Mcp-Method") {
	case getTask, updateTask, cancelTask:
	default:
		return true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNamedBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var message struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			TaskID string `json:"taskId"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &message) != nil || strings.TrimSpace(r.Header.Get("Mcp-Name")) == message.Params.TaskID {
		return true
	}
	if message.ID == nil {
		message.ID = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"the header Mcp-Name is not the taskId of the request"}}`, message.ID, mcp.CodeHeaderMismatch) // a client that is gone needs no answer
	return false
}
