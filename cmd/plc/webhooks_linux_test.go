package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A listener is a service that is told by webhooks.
type listener struct {
	mu   sync.Mutex
	away bool
	got  []heard
	sent int // attempts
}

type heard struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
	if l.away {
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	h := heard{Headers: map[string]string{}, Body: string(text)}
	for name := range r.Header {
		h.Headers[strings.ToLower(name)] = r.Header.Get(name)
	}
	l.got = append(l.got, h)
}

func (l *listener) attempts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

func (l *listener) heard() []heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]heard{}, l.got...)
}

// Messages survive a server that is killed while the service is away. They are signed as the
// library of Standard Webhooks says, lead to the page, and neither the secret nor the URL is in the
// record.
func TestWebhooksSurvive(t *testing.T) {
	const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	l := &listener{away: true}
	service := httptest.NewServer(l)
	defer service.Close()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), `
tools:
  note: {properties: {text: {type: string}}, effects: {readOnly: true}}
  wipe: {properties: {text: {type: string}}, effects: {destructive: true}}
  burst: {properties: {}, effects: {readOnly: true}}
activities: {note: {echo: true}, wipe: {echo: true}, burst: {fail: {code: burst, message: "it burst"}}}
`)
	write(t, filepath.Join(dir, "hooks.yaml"), "webhooks: [{name: ours, urlFrom: HOOK_URL, secretsFrom: [HOOK_SECRET], allowPrivate: true}]")
	t.Setenv("HOOK_SECRET", secret)
	t.Setenv("HOOK_URL", service.URL+"/s3cretPath")
	socket := filepath.Join(dir, "run", "plc.sock")
	args := []string{"serve", "--tools", "tools.yaml", "--socket", socket, "--webhooks", "hooks.yaml", "--page", "https://plc.example"}
	server := begun(t, dir, args...)
	c := &clerk{client: overSocket(socket)}
	runs := map[string]string{}
	start := func(tool, want string) {
		var run struct{ Run string }
		call := map[string]any{"_tool": tool, "text": "x"}
		if tool == "burst" {
			delete(call, "text")
		}
		if status, err := c.send(t.Context(), "POST", "/v1/runs", "", map[string]any{"plan": []any{call}}, &run); err != nil || status != 201 {
			t.Fatal(status, err)
		}
		runs[run.Run] = want
	}
	eventually(t, "the record of the hook is there", func() bool { // it begins with what happens from then on
		_, err := os.Stat(filepath.Join(dir, "runs.db.locks", "loop-webhook-ours"))
		return err == nil
	})
	start("note", "run.ended https://plc.example/runs/")
	start("burst", "run.failed https://plc.example/runs/")
	eventually(t, "the service was asked", func() bool { return l.attempts() >= 2 })
	start("wipe", "run.question https://plc.example/inbox?run=")
	kill(t, server)
	l.mu.Lock()
	l.away = false
	l.mu.Unlock()
	server = begun(t, dir, args...)
	eventually(t, "the service is told", func() bool { return len(l.heard()) >= 3 })
	kill(t, server)
	begun(t, dir, args...)
	time.Sleep(2 * time.Second) // in which nothing is told that is new
	ids := map[string]string{}
	for _, h := range l.heard() {
		var m struct {
			Type string
			Data struct{ Run, Link string }
		}
		if err := json.Unmarshal([]byte(h.Body), &m); err != nil {
			t.Fatal(err)
		}
		if want := runs[m.Data.Run] + m.Data.Run; m.Type+" "+m.Data.Link != want {
			t.Errorf("told %s, want %s", h.Body, want)
		}
		if id := ids[m.Data.Run]; id != "" && id != h.Headers["webhook-id"] { // it may be sent twice
			t.Errorf("the run %s has the messages %s and %s", m.Data.Run, id, h.Headers["webhook-id"])
		}
		ids[m.Data.Run] = h.Headers["webhook-id"]
	}
	if len(ids) != 3 {
		t.Errorf("told of %d runs", len(ids))
	}
	for _, name := range []string{"runs.db", "runs.db-wal"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("s3cretPath")) || bytes.Contains(text, []byte(secret[6:])) {
			t.Errorf("%s has a secret", name)
		}
	}
	node := program(t, "node")
	all, err := json.Marshal(l.heard())
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/protocols/webhooks.mjs")
	if err != nil {
		t.Fatal(err)
	}
	verify := exec.CommandContext(t.Context(), node, script, secret)
	verify.Env = append(os.Environ(), "PACKAGES="+modules(t, "PLC_NPM_PROTOCOLS"))
	verify.Stdin = bytes.NewReader(all)
	if out, err := verify.CombinedOutput(); err != nil {
		t.Error(fmt.Errorf("%w\n%s", err, out))
	}
}
