package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// gotTask holds the members of a task that the tests look at.
type gotTask struct {
	mcp.ResultBase
	ResultType    string `json:"resultType"`
	TaskID        string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage"`
	InputRequests map[string]struct {
		Method string           `json:"method"`
		Params mcp.ElicitParams `json:"params"`
	} `json:"inputRequests"`
	Result *mcp.CallToolResult `json:"result"`
}

// namesTasks sets the header that requests about tasks have to have, and the SDK does not set.
type namesTasks struct{}

func (namesTasks) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.Header.Get("Mcp-Method"), "tasks/") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Set("Mcp-Name", gjson.GetBytes(body, "params.taskId").Str)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// page is where a person answers, in tests.
func page(run string) string { return "https://plc.example/inbox?run=" + run }

// withTasks declares the extension, and that pages can be opened.
func withTasks(opened chan<- *mcp.ElicitParams) *mcp.ClientOptions {
	can := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
	can.AddExtension(tasksExtension, nil)
	return &mcp.ClientOptions{Capabilities: can, ElicitationHandler: opens(opened, "accept")}
}

// opens handles requests to open pages.
func opens(opened chan<- *mcp.ElicitParams, action string) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		opened <- r.Params
		return &mcp.ElicitResult{Action: action}, nil
	}
}

// last returns the run that was begun last.
func last(t *testing.T, store journal.Store) string {
	t.Helper()
	all, err := store.Runs(t.Context(), journal.Filter{Limit: 1})
	if err != nil || len(all) == 0 {
		t.Fatalf("no run: %v", err)
	}
	return all[0].Run
}

// A run that waits for a person is a task that wants a page opened, then one that works, and at
// last one that has the result of the tool; whatever the client says of the page approves nothing.
func TestTask(t *testing.T) {
	for _, transport := range []string{"pipes", "HTTP"} {
		t.Run(transport, func(t *testing.T) {
			w, store := &world{}, open(t, filepath.Join(t.TempDir(), "runs.db"))
			g := serveWith(t, w, store, Options{Page: page})
			c := connect(t, g, transport, "2026-07-28", withTasks(make(chan *mcp.ElicitParams, 9)))
			get := func(method string, p *taskParams) *gotTask {
				t.Helper()
				got, err := mcp.CallCustomMethod[*taskParams, *gotTask](t.Context(), c, method, &taskParams{TaskID: p.TaskID, InputResponses: p.InputResponses}) // the SDK notes the client in params
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if _, refused := call[any](t, c, "run", list(object{"_tool": "wipe", "_outputPath": "†state.x"})); refused != "" {
				t.Fatal(refused)
			}
			id := &taskParams{TaskID: last(t, store)}
			task := get(getTask, id)
			if task.ResultType != "complete" || task.TaskID != id.TaskID || task.Status != "input_required" || len(task.InputRequests) != 1 {
				t.Fatalf("%+v", task)
			}
			for key, asks := range task.InputRequests {
				if asks.Method != "elicitation/create" || asks.Params.Mode != "url" || asks.Params.URL != page(id.TaskID) || !strings.Contains(asks.Params.Message, "wipe") {
					t.Errorf("%+v", asks)
				}
				yes := json.RawMessage(`{"action":"accept","content":{"approve":true}}`)
				ack := get(updateTask, &taskParams{TaskID: id.TaskID, InputResponses: map[string]json.RawMessage{key: yes, "other": yes}})
				if ack.ResultType != "complete" || ack.TaskID != "" {
					t.Errorf("%+v", ack)
				}
			}
			if task = get(getTask, id); task.Status != "working" || task.InputRequests != nil || !strings.Contains(task.StatusMessage, "plc approve "+id.TaskID) || w.wiped.Load() != 0 {
				t.Errorf("after the page was opened: %+v, wiped %d times", task, w.wiped.Load())
			}
			if err := store.Answer(t.Context(), id.TaskID, "", "wipe", exec.Answer{Approved: true}); err != nil {
				t.Fatal(err)
			}
			for task.Status == "working" {
				task = get(getTask, id)
			}
			text, _ := json.Marshal(task.Result)
			if task.Status != "completed" || !strings.Contains(string(text), `"status":"completed"`) || w.wiped.Load() != 1 {
				t.Errorf("%+v, %s", task, text)
			}
			get(cancelTask, id)
			if task = get(getTask, id); task.Status != "completed" {
				t.Errorf("a cancelled task that had completed: %+v", task)
			}
			for _, method := range []string{getTask, updateTask, cancelTask} {
				_, err := mcp.CallCustomMethod[*taskParams, *gotTask](t.Context(), c, method, &taskParams{TaskID: "nosuch"})
				if err == nil || !strings.Contains(err.Error(), "there is no run") {
					t.Errorf("%s of no task: %v", method, err)
				}
			}
			plain := connect(t, g, transport, "2026-07-28", nil)
			_, err := mcp.CallCustomMethod[*taskParams, *gotTask](t.Context(), plain, getTask, &taskParams{TaskID: id.TaskID})
			if err == nil || !strings.Contains(err.Error(), tasksExtension) {
				t.Errorf("a client without the extension: %v", err)
			}
		})
	}
}

// A run that takes long is a task, which can be cancelled.
func TestTaskIsCancelled(t *testing.T) {
	w, store := &world{gate: make(chan struct{})}, open(t, filepath.Join(t.TempDir(), "runs.db"))
	c := connect(t, serveWith(t, w, store, Options{}), "pipes", "2026-07-28", withTasks(nil))
	if _, refused := call[any](t, c, "run", object{"plan": []any{object{"_tool": "slow"}}, "wait": 0}); refused != "" {
		t.Fatal(refused)
	}
	id := &taskParams{TaskID: last(t, store)}
	for method, want := range map[string]string{getTask: "working", cancelTask: ""} {
		if got, err := mcp.CallCustomMethod[*taskParams, *gotTask](t.Context(), c, method, id); err != nil || got.Status != want && method == cancelTask {
			t.Errorf("%s: %+v, %v", method, got, err)
		}
	}
	if got, err := mcp.CallCustomMethod[*taskParams, *gotTask](t.Context(), c, getTask, id); err != nil || got.Status != "cancelled" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a client reads of a new task is what the extension says, and a request about a task has to
// name it in a header.
func TestTaskOnTheWire(t *testing.T) {
	w, store := &world{}, open(t, filepath.Join(t.TempDir(), "runs.db"))
	server := httptest.NewServer(serveWith(t, w, store, Options{}).Handler(nil))
	defer server.Close()
	send := func(method, name, params string) (status int, body map[string]any) {
		t.Helper()
		text := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
			"io.modelcontextprotocol/clientCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}}}`
		req, err := http.NewRequest("POST", server.URL, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		_, data, found := strings.Cut(string(got), "data: ")
		if !found {
			data = string(got)
		}
		if err := json.Unmarshal([]byte(data), &body); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		return res.StatusCode, body
	}
	_, body := send("tools/call", "run", `"name":"run","arguments":{"plan":[{"_tool":"wipe"}]}`)
	task, _ := body["result"].(map[string]any)
	id, _ := task["taskId"].(string)
	_, hasTTL := task["ttlMs"]
	created, err := time.Parse(time.RFC3339, task["createdAt"].(string))
	if task["resultType"] != "task" || id == "" || task["status"] != "working" || !hasTTL || err != nil || time.Since(created) > time.Hour || task["content"] != nil {
		t.Errorf("%v", task)
	}
	for name, want := range map[string]int{id: http.StatusOK, " " + id + " ": http.StatusOK, "other": http.StatusBadRequest, "": http.StatusBadRequest} {
		status, body := send(getTask, name, `"taskId":"`+id+`"`)
		fault, _ := body["error"].(map[string]any)
		if status != want || want != http.StatusOK && fault["code"] != float64(mcp.CodeHeaderMismatch) {
			t.Errorf("the name %q: %d %v", name, status, body)
		}
	}
}

// A client that can open pages is asked to when a run waits for a person. Its saying yes approves
// nothing; the call is answered when the person has decided, or says no, or after its time.
func TestPageIsOpened(t *testing.T) {
	for _, way := range ways {
		t.Run(way.transport+" "+way.version, func(t *testing.T) {
			w, store := &world{}, open(t, filepath.Join(t.TempDir(), "runs.db"))
			g := serveWith(t, w, store, Options{Page: page, Spec: plc.Spec{}})
			opened := make(chan *mcp.ElicitParams, 1)
			can := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
			c := connect(t, g, way.transport, way.version, &mcp.ClientOptions{Capabilities: can, ElicitationHandler: opens(opened, "accept")})
			told := make(chan *State)
			go func() {
				s, _ := call[*State](t, c, "run", object{"plan": []any{object{"_tool": "wipe", "_outputPath": "†state.x"}}, "wait": 60})
				told <- s
			}()
			asked := <-opened
			id := last(t, store)
			if asked.URL != page(id) || !strings.Contains(asked.Message, "wipe") || w.wiped.Load() != 0 {
				t.Errorf("%+v, wiped %d times", asked, w.wiped.Load())
			}
			if err := store.Answer(t.Context(), id, "", "wipe", exec.Answer{Approved: true}); err != nil {
				t.Fatal(err)
			}
			if s := <-told; s == nil || s.Status != "completed" || s.Run != id || w.wiped.Load() != 1 {
				t.Errorf("%+v", s)
			}
			// Who says no gets the answer at once, and is not asked for the same again.
			no := connect(t, g, way.transport, way.version, &mcp.ClientOptions{Capabilities: can, ElicitationHandler: opens(opened, "decline")})
			s, refused := call[*State](t, no, "run", object{"plan": []any{object{"_tool": "wipe"}}, "wait": 60})
			if <-opened; refused != "" || s.Status != "paused" || len(s.Waiting) != 1 || s.Answer == "" {
				t.Errorf("%+v %s", s, refused)
			}
			s, refused = call[*State](t, no, "status", object{"run": s.Run, "wait": 0.1})
			if refused != "" || s.Status != "paused" || len(opened) != 0 || w.wiped.Load() != 1 {
				t.Errorf("%+v %s, asked %d times more", s, refused, len(opened))
			}
		})
	}
}
