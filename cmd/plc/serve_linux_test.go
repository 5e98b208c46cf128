package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	serveClients = flag.Int("serve.clients", 8, "clients of the server that is killed")
	serveRuns    = flag.Int("serve.runs", 64, "runs that these clients start")
)

// overSocket returns a client of a server on a unix socket.
func overSocket(name string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 200,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", name)
		},
	}}
}

// A ledger is a service that counts what is booked.
type ledger struct {
	mu     sync.Mutex
	booked map[string]int
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	l.booked[in.ID]++
	l.mu.Unlock()
	io.WriteString(w, "true")
}

func (l *ledger) count(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.booked[id]
}

// A clerk is a client that starts runs, watches their events and answers their questions, while
// the server may be gone at any moment.
type clerk struct {
	client  *http.Client
	ledger  *ledger
	settled atomic.Int64 // calls with an unknown outcome that a person has settled
}

// send sends a request until a server answers that has room.
func (c *clerk) send(ctx context.Context, method, path, key string, body, into any) (int, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	for {
		req, err := http.NewRequestWithContext(ctx, method, "http://plc"+path, bytes.NewReader(text))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Idempotency-Key", key)
		res, err := c.client.Do(req)
		if err == nil {
			var got []byte
			got, err = io.ReadAll(res.Body)
			res.Body.Close()
			full := res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable
			if err == nil && !full && res.StatusCode < 500 {
				if into != nil && res.StatusCode < 300 {
					err = json.Unmarshal(got, into)
				}
				return res.StatusCode, err
			}
		}
		if ctx.Err() != nil {
			return 0, errors.Join(ctx.Err(), err)
		}
		time.Sleep(10 * time.Millisecond) // between tries
	}
}

// do takes a run from its start to its end.
func (c *clerk) do(ctx context.Context, id string) error {
	var run struct{ Run string }
	plan := []map[string]any{{"_tool": "note", "text": id, "_outputPath": "†state.x"}, {"_tool": "book", "id": id, "_outputPath": "†state.y"}}
	if status, err := c.send(ctx, "POST", "/v1/runs", id, map[string]any{"plan": plan}, &run); err != nil || run.Run == "" {
		return fmt.Errorf("start: status %d, %w", status, err)
	}
	for after := int64(0); ; {
		status, err := c.watch(ctx, run.Run, &after)
		if err != nil {
			return err
		}
		if status == "completed" {
			return nil
		}
		if status != "" && status != "paused" && status != "cancelled" { // that is what a server that ends leaves
			return fmt.Errorf("the run %s is %s", run.Run, status)
		}
		if err := c.answer(ctx, run.Run, id); err != nil {
			return err
		}
	}
}

// watch reads events until the run waits or has ended, or the stream ends; after is the last one.
func (c *clerk) watch(ctx context.Context, run string, after *int64) (status string, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", "http://plc/v1/runs/"+run+"/events", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Last-Event-ID", fmt.Sprint(*after))
	res, err := c.client.Do(req)
	if err != nil {
		time.Sleep(10 * time.Millisecond) // the server is gone
		return "", ctx.Err()
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for seq := int64(0); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			if _, err := fmt.Sscan(text, &seq); err != nil || seq != *after+1 {
				return "", fmt.Errorf("the run %s: event %q after %d", run, text, *after)
			}
		}
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct{ Type, Status string }
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return "", err
		}
		*after = seq
		switch e.Type {
		case "runFinished":
			return e.Status, nil
		case "runPaused":
			return "paused", nil
		}
	}
	return "", ctx.Err()
}

// answer approves what is open of a run. A call that was under way when the server was killed is
// made again if nothing is booked, and else given the result that was lost.
func (c *clerk) answer(ctx context.Context, run, id string) error {
	var open struct {
		Questions []struct{ Call, Digest, Kind string }
	}
	if _, err := c.send(ctx, "GET", "/v1/runs/"+run+"/questions", "", nil, &open); err != nil {
		return err
	}
	for _, q := range open.Questions {
		d := map[string]any{"call": q.Call, "digest": q.Digest, "decision": "approve"}
		if q.Kind == "uncertain" {
			c.settled.Add(1)
			if c.ledger.count(id) > 0 {
				d["decision"], d["result"] = "answer", true
			}
		}
		// A status of 409 is that an answer came before the server was killed.
		if status, err := c.send(ctx, "POST", "/v1/runs/"+run+"/answers", "", d, nil); err != nil || status != 204 && status != 409 {
			return fmt.Errorf("answer of %s: status %d, %w", run, status, err)
		}
	}
	return nil
}

// Of many runs that clients start, watch and answer, a server that is killed in the middle loses
// none, does nothing twice, and its events have no gap. A call whose answer was lost is not made
// again until somebody has said how it ended. All of it goes over a unix socket.
func TestServerIsKilled(t *testing.T) {
	l := &ledger{booked: map[string]int{}}
	bank := httptest.NewServer(l)
	defer bank.Close()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), fmt.Sprintf(`
tools:
  note: {properties: {text: {type: string}}, effects: {readOnly: true}}
  book: {properties: {id: {type: string}}, effects: {destructive: true}}
activities:
  note: {echo: true}
  book: {http: {method: POST, url: %q, allowHosts: ["127.0.0.1"]}}
`, bank.URL))
	socket := filepath.Join(dir, "run", "plc.sock")
	args := []string{"serve", "--tools", "tools.yaml", "--socket", socket, "--max-per-caller", "1000"}
	server := begun(t, dir, args...)
	c := &clerk{client: overSocket(socket), ledger: l}
	eventually(t, "only this user may use the socket", func() bool { // its folder is closed before it is there
		info, err := os.Stat(socket)
		return err == nil && info.Mode().Perm() == 0o600
	})
	if info, err := os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket: %v, %v", info, err)
	}
	ids := make(chan string)
	var done atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for range *serveClients {
		clients.Go(func() {
			for id := range ids {
				if err := c.do(t.Context(), id); err != nil {
					t.Errorf("%s: %v", id, err)
				}
				done.Add(1)
			}
		})
	}
	for i := range *serveRuns {
		if i == *serveRuns/2 {
			kill(t, server)
			server = begun(t, dir, args...)
		}
		ids <- fmt.Sprintf("id-%d", i)
	}
	close(ids)
	clients.Wait()
	took := time.Since(began)
	for i := range *serveRuns {
		id := fmt.Sprintf("id-%d", i)
		if n := l.count(id); n != 1 {
			t.Errorf("%s is booked %d times", id, n)
		}
	}
	o := recorded(t, dir, "runs", "--format", "json", "--limit", "0", "--status", "completed")
	if got := strings.Count(o.stdout, `"run": `); got != *serveRuns {
		t.Errorf("%d runs are completed, want %d", got, *serveRuns)
	}
	t.Logf("%d runs of %d clients, one kill, %d answers to uncertain calls: %.1f s, %.1f runs a second", done.Load(), *serveClients, c.settled.Load(), took.Seconds(), float64(done.Load())/took.Seconds())
}

// A call that was under way when the server was killed waits for a person, who says what it gave.
func TestUncertainCallIsSettled(t *testing.T) {
	asked, end := make(chan bool, 1), make(chan struct{})
	bank := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- true; <-end }))
	defer bank.Close()
	defer close(end)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), fmt.Sprintf(`
tools:
  book: {properties: {id: {type: string}}, effects: {readOnly: false}}
activities:
  book: {http: {method: POST, url: %q, allowHosts: ["127.0.0.1"]}}
`, bank.URL))
	socket := filepath.Join(dir, "run", "plc.sock")
	args := []string{"serve", "--tools", "tools.yaml", "--socket", socket}
	server := begun(t, dir, args...)
	c := &clerk{client: overSocket(socket)}
	var run struct{ Run string }
	plan := []map[string]any{{"_tool": "book", "id": "x", "_outputPath": "†state.x"}}
	if status, err := c.send(t.Context(), "POST", "/v1/runs", "", map[string]any{"plan": plan}, &run); err != nil || status != 201 {
		t.Fatal(status, err)
	}
	<-asked
	kill(t, server)
	begun(t, dir, args...)
	var open struct {
		Questions []struct{ Call, Digest, Kind string }
	}
	eventually(t, "somebody is asked", func() bool {
		_, err := c.send(t.Context(), "GET", "/v1/runs/"+run.Run+"/questions", "", nil, &open)
		return err == nil && len(open.Questions) == 1
	})
	q := open.Questions[0]
	if q.Kind != "uncertain" {
		t.Errorf("asked %+v", q)
	}
	d := map[string]any{"call": q.Call, "digest": q.Digest, "decision": "answer", "result": 7}
	if status, err := c.send(t.Context(), "POST", "/v1/runs/"+run.Run+"/answers", "", d, nil); err != nil || status != 204 {
		t.Fatal(status, err)
	}
	var doc struct {
		Summary struct{ Status string }
		Result  struct{ State struct{ X int } }
	}
	eventually(t, "the run goes on", func() bool {
		_, err := c.send(t.Context(), "GET", "/v1/runs/"+run.Run, "", nil, &doc)
		return err == nil && doc.Summary.Status == "completed"
	})
	if doc.Result.State.X != 7 || len(asked) != 0 {
		t.Errorf("%+v, called again %d times", doc, len(asked))
	}
}

// A folder that others may enter is no place for a socket, and an address that others can reach
// needs a token.
func TestServerIsNotOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {}")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--socket", filepath.Join(dir, "plc.sock")},
		{"--listen", "0.0.0.0:0", "--tokens", filepath.Join(dir, "tokens.json")},
		{"--tls-cert", "cert.pem"},
	} {
		if o := recorded(t, dir, append([]string{"serve", "--tools", "tools.yaml"}, args...)...); o.code != exitUsage {
			t.Errorf("%v: exit %d, %s", args, o.code, o.stderr)
		}
	}
}

// The server says which flag names another address, and what programs need.
func TestServerSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {}")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	args := []string{"serve", "--tools", "tools.yaml", "--tokens", filepath.Join(dir, "tokens.json"), "--store", filepath.Join(dir, "runs.db"), "--listen"}
	want := fmt.Sprintf("plc: --listen %q: another program listens there; name another address, or port 0 for any that is free\n", l.Addr())
	if o := runPLC(t, dir, append(args, l.Addr().String())...); o.code != exitUsage || o.stderr != want {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	begunTo(t, dir, in, "plc", append(args, "127.0.0.1:0")...)
	in.Close()
	for lines := bufio.NewScanner(out); ; {
		if !lines.Scan() {
			t.Fatal("the server did not say that programs need a token")
		}
		if strings.HasPrefix(lines.Text(), "hint: programs need a token, which plc token create makes") {
			return
		}
	}
}

// A server that listens on all addresses prints a link that leads to it.
func TestServerOnAllAddresses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {}")
	tokens := []string{"--tokens", filepath.Join(dir, "tokens.json")}
	if o := runPLC(t, dir, append([]string{"token", "create", "bot", "--roles", "read"}, tokens...)...); o.code != 0 {
		t.Fatal(o.stderr)
	}
	args := append([]string{"serve", "--tools", "tools.yaml", "--listen", "0.0.0.0:0"}, tokens...)
	link := begunServer(t, dir, append(args, "--store", filepath.Join(dir, "a.db"))...)
	res, err := http.Get(link)
	if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(link, "http://localhost:") {
		t.Errorf("%s: %v, %v", link, res, err)
	}
	link = begunServer(t, dir, append(args, "--store", filepath.Join(dir, "b.db"), "--host", "plc.example:8443")...)
	if !strings.HasPrefix(link, "http://plc.example:8443/") {
		t.Error(link)
	}
}

// With a certificate the server speaks HTTPS, and its cookie goes over nothing else.
func TestServerWithTLS(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {}")
	pool := certificate(t, dir)
	c := begunServer(t, dir, "serve", "--tools", "tools.yaml", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tokens", filepath.Join(dir, "tokens.json"))
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Get(c)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if all := res.Cookies(); res.StatusCode != http.StatusSeeOther || len(all) != 1 || !all[0].Secure || !all[0].HttpOnly {
		t.Errorf("status %d, cookies %v", res.StatusCode, all)
	}
	if res, err := client.Get(strings.Replace(c, "https:", "http:", 1)); err == nil {
		if res.Body.Close(); res.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: status %d", res.StatusCode)
		}
	}
}

// begunServer starts a server and returns the link that it prints.
func begunServer(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	begunTo(t, dir, in, "plc", args...)
	in.Close()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if i := strings.Index(lines.Text(), "http"); i >= 0 && strings.Contains(lines.Text(), "/enter?") {
			return lines.Text()[i:]
		}
	}
	t.Fatal("the server printed no link")
	return ""
}

// certificate writes a certificate for 127.0.0.1 and its key.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(text)
	write(t, filepath.Join(dir, "cert.pem"), string(text))
	write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	return pool
}

// The inbox shows of a plan, and of a question, all that an approval covers, as plc approve does.
func TestInboxShowsAll(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), `
tools:
  notify: {properties: {to: {type: string}}, effects: {destructive: true}}
  pay: {properties: {to: {type: string}}, effects: {destructive: true}}
activities: {notify: {fail: {code: busy, message: "no"}}, pay: {echo: true}}
`)
	socket := filepath.Join(dir, "run", "plc.sock")
	begun(t, dir, "serve", "--tools", "tools.yaml", "--socket", socket)
	c := &clerk{client: overSocket(socket)}
	call := map[string]any{
		"_tool": "notify", "to": "ada", "_retry": map[string]any{"max": 1000, "delay": 0.001}, "_timeout": "99h",
		"_fallback": map[string]any{"_tool": "pay", "to": "bob"},
		"_undo":     map[string]any{"tool": "pay", "params": map[string]any{"to": "eve"}},
	}
	eventually(t, "the server is there", func() bool {
		_, err := c.send(t.Context(), "GET", "/v1/runs", "", nil, &struct{}{})
		return err == nil
	})
	for mode, want := range map[string][]string{
		"lazy":  {"ada", "if it fails for good: pay", "bob", "undone by: pay", "eve", "99h", "1000 attempts", "effects that may happen"},
		"eager": {"ada", "fallback", "bob", "99h", "1000 attempts", "tool file"},
	} {
		var started struct{ Run string }
		plan := map[string]any{"type": "plan", "mode": mode, "plan": []any{call}}
		if status, err := c.send(t.Context(), "POST", "/v1/runs", "", map[string]any{"plan": plan}, &started); err != nil || status != http.StatusCreated {
			t.Fatal(status, err)
		}
		var page string
		eventually(t, "the run waits", func() bool {
			res, err := c.client.Get("http://plc/inbox?run=" + started.Run)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			page = html.UnescapeString(string(text))
			return strings.Contains(page, "<article")
		})
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page does not have %q:\n%s", mode, text, page)
			}
		}
	}
}
