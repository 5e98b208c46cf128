package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
)

// What is wrong with a request of A2A has the code that the protocol gives it.
func TestA2AErrors(t *testing.T) {
	g := newRig(t, Options{})
	for body, want := range map[string]float64{
		`{`: -32700, `[]`: -32600, `{"jsonrpc": "2.0", "id": 1, "method": "message/send"}`: -32601, `{"jsonrpc": "1.0", "id": 1, "method": "GetTask"}`: -32600,
		`{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}`:                                                         -32001,
		`{"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": "x"}}`:                                                 -32001,
		`{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"parts": [{"url": "file:///etc/passwd"}]}}}`:         -32005,
		`{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"parts": [{"text": "[{\"_tool\": \"dubble\"}]"}]}}}`: -32602,
	} {
		var out struct{ Error struct{ Code float64 } }
		status, _, text := g.send(g.admin, "POST", a2aPath, json.RawMessage(body), "A2A-Version", "1.0")
		if err := json.Unmarshal(text, &out); err != nil || status != 200 || out.Error.Code != want {
			t.Errorf("%s: %d %s, want %g", body, status, text, want)
		}
	}
	if _, _, text := g.send(g.admin, "POST", a2aPath, object{"jsonrpc": "2.0", "id": 1, "method": "GetTask"}); !strings.Contains(string(text), "-32009") {
		t.Errorf("without a version: %s", text)
	}
	if status, _, text := g.send("", "GET", cardPath, nil); status != 200 || !strings.Contains(string(text), a2aPath) {
		t.Errorf("the card: %d %s", status, text)
	}
}

// A lazy plan is an interrupt of AG-UI by itself, and a run that is cancelled ends so.
func TestAGUIOfPlans(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Lazy: true}})
	last := func(body object) object {
		t.Helper()
		status, _, text := g.send(g.admin, "POST", "/v1/agui", body)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n\n")
		var e object
		if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[len(lines)-1], "data: ")), &e); err != nil || status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		return e
	}
	begin := func(thread string) any {
		e := last(object{"threadId": thread, "runId": "1", "messages": []object{{"role": "user", "content": `[{"_tool": "double", "n": 2, "_outputPath": "†state.x"}]`}}})
		outcome, _ := e["outcome"].(object)
		if e["type"] != "RUN_FINISHED" || outcome["type"] != "interrupt" {
			t.Fatalf("%v", e)
		}
		return outcome["interrupts"].([]any)[0].(object)["id"]
	}
	id := begin("a")
	for _, unclear := range []object{ // only an explicit decision approves
		{"status": "resolved", "payload": object{}}, {"status": "resolved", "payload": object{"decision": nil}},
		{"status": "resolved", "payload": object{"decision": ""}}, {"status": "resolved", "payload": object{"approved": false}},
		{"status": "resolved", "payload": object{"decision": "approve", "approved": false}}, {"status": "resolved", "payload": object{"decision": "yes"}},
		{"status": "denied", "payload": object{"decision": "approve"}}, {"status": "", "payload": object{"decision": "approve"}},
		{"payload": object{"decision": "approve"}}, {"status": "resolved", "payload": false}, {"status": "resolved", "payload": "no"},
	} {
		unclear["interruptId"] = id
		if status, _, text := g.send(g.admin, "POST", "/v1/agui", object{"threadId": "a", "runId": "2", "resume": []object{unclear}}); status != 422 && status != 400 {
			t.Errorf("%v: %d %s", unclear, status, text)
		}
	}
	e := last(object{"threadId": "a", "runId": "2", "resume": []object{{"interruptId": id, "status": "resolved", "payload": object{"decision": "approve"}}}})
	if e["type"] != "RUN_FINISHED" || e["outcome"].(object)["type"] != "success" {
		t.Errorf("%v", e)
	}
	e = last(object{"threadId": "b", "runId": "2", "resume": []object{{"interruptId": begin("b"), "status": "cancelled"}}})
	if e["type"] != "RUN_ERROR" || e["code"] != "rejected" {
		t.Errorf("%v", e)
	}
	g.want(422, "POST", "/v1/agui", object{"threadId": "b", "runId": "3", "resume": []object{{"interruptId": "x"}}})
	g.want(400, "POST", "/v1/agui", object{"threadId": "b"})
}
