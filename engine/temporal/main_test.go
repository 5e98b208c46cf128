package temporal

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/tool"
)

var update = flag.Bool("update", false, "record the histories in testdata/histories again")

// Tests that need a server start the program that PLC_TEMPORAL_SERVER names: the command temporal,
// v1.5.1. The workers that they kill are processes of this test binary.
const (
	serverVariable = "PLC_TEMPORAL_SERVER"
	workerVariable = "PLC_TEST_WORKER" // the file of the effects of a worker process
)

func TestMain(m *testing.M) {
	if file := os.Getenv(workerVariable); file != "" {
		workerProcess(file)
		return
	}
	flag.Parse()
	code := m.Run()
	if shared.server != nil {
		shared.server.stop()
	}
	os.Exit(code)
}

// server is a server for development.
type server struct {
	dir, address string
	forgets      bool // it keeps all in memory
	process      *osexec.Cmd
}

// shared is the server of all tests but those that kill theirs.
var shared struct {
	sync.Mutex
	server *server
}

// needServer returns the server of the tests, and skips the test without one.
func needServer(t testing.TB) *server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = newServer(t, keeps)
	}
	return shared.server
}

// A server keeps all in a file, or forgets it when it ends, which is quicker.
const (
	keeps   = false
	forgets = true
)

// newServer starts a server, and skips the test without one.
func newServer(t testing.TB, forgets bool) *server {
	t.Helper()
	if os.Getenv(serverVariable) == "" {
		t.Skip("SKIPPED: PLC_TEMPORAL_SERVER names no Temporal server; .ci/temporal installs one")
	}
	dir, err := os.MkdirTemp("", "plc-temporal-")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, address: freePort(t), forgets: forgets}
	s.start(t)
	return s
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts the server, and waits until it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	host, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	s.process = osexec.Command(os.Getenv(serverVariable), "server", "start-dev", "--headless", "--ip", host, "--port", port,
		"--log-level", "error",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		"--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000")
	if !s.forgets {
		s.process.Args = append(s.process.Args, "--db-filename", filepath.Join(s.dir, "db"))
	}
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		c, err := client.Dial(client.Options{HostPort: s.address, Logger: quiet})
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not answer: ", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// kill ends the server at once.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

func (s *server) stop() {
	s.kill()
	_ = os.RemoveAll(s.dir)
}

// dial connects to the server, as Dial does to that of the environment.
func (s *server) dial(t testing.TB, o Options) *Client {
	t.Helper()
	opts := client.Options{HostPort: s.address}
	storage, err := o.apply(&opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.DialContext(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return o.client(c, &opts, storage)
}

// serve has a worker of this process serve queues until the test ends or stop is called.
func serve(t testing.TB, c *Client, o WorkerOptions) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx, o) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			stopped = true
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// workerProcess is a worker, whose tools add a line to a file, with the name and the key of the
// call, before they do anything else.
func workerProcess(file string) {
	c, err := Dial(context.Background(), Options{Queue: os.Getenv("PLC_TEST_QUEUE"), Wait: true})
	if err == nil {
		err = c.Work(context.Background(), WorkerOptions{Config: plc.Config{Tools: effectTools(file)}})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// effectTools are tools that note in a file that they were called.
func effectTools(file string) []*tool.Tool {
	note := func(name string) func(context.Context, *tool.Request) error {
		return func(ctx context.Context, req *tool.Request) error {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(f, name, req.Key)
			return cmp.Or(err, f.Close())
		}
	}
	var all []*tool.Tool
	for _, name := range []string{"look", "change", "mend"} {
		t := tool.Func(name, "Does it.", func(ctx context.Context, p text) (string, error) { return p.Text + ".", nil })
		act, did := t.Activity, note(name)
		t.Activity = tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			if err := did(ctx, req); err != nil {
				return tool.Result{}, err
			}
			lasts := 60 * time.Millisecond
			if name == "look" {
				lasts = time.Millisecond // so that there are batches
			}
			select {
			case <-time.After(lasts):
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
			return act.Call(ctx, req)
		})
		switch name {
		case "look":
			t.Definition.Effects.ReadOnly = tool.Yes
		case "mend":
			t.Definition.Effects.Idempotent = tool.Yes
		}
		all = append(all, t)
	}
	return all
}

// effectsIn returns how often tools were called, by their names and keys.
func effectsIn(t *testing.T, file string) map[string]int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		all[lines.Text()]++
	}
	return all
}
