package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

var away = flag.Duration("temporal.away", 3*time.Second, "how long the server of TestServerAway is away")

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// A server that is not there, and a namespace that is not, are named.
func TestNoServer(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("TEMPORAL_ADDRESS", freePort(t))
	if _, err := Dial(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "no Temporal server answers at "+os.Getenv("TEMPORAL_ADDRESS")) {
		t.Error(err)
	}
	s := needServer(t)
	t.Setenv("TEMPORAL_ADDRESS", s.address)
	t.Setenv("TEMPORAL_NAMESPACE", "nowhere")
	c, err := Dial(t.Context(), Options{})
	if err == nil {
		err = c.Start(t.Context(), bundleOf(t, asking))
	}
	if err == nil || !strings.Contains(err.Error(), `no namespace "nowhere"`) {
		t.Error(err)
	}
	if err := c.Work(t.Context(), WorkerOptions{}); err == nil || !strings.Contains(err.Error(), `no namespace "nowhere"`) {
		t.Error("a worker: ", err)
	}
}

// A worker that begins before the server does says so, and serves when the server is there.
func TestServerLater(t *testing.T) {
	s := newServer(t, keeps)
	defer s.stop()
	s.kill()
	t.Setenv("TEMPORAL_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("TEMPORAL_ADDRESS", s.address)
	said := &sink{}
	dialed := make(chan *Client, 1)
	go func() {
		c, err := Dial(t.Context(), Options{Queue: t.Name(), Wait: true, Logger: slog.New(slog.NewTextHandler(said, nil))})
		if err != nil {
			t.Error(err)
		}
		dialed <- c
	}()
	eventually(t, "nobody says that there is no server", func() bool { return strings.Contains(said.String(), "no Temporal server answers at "+s.address) })
	s.start(t)
	c := <-dialed
	defer c.Close()
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	b := bundleOf(t, many(2, "echo"))
	begin(t, c, b)
	if o := wait(t, c, b.Run); o.Status != exec.Completed {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
}

// sink is a buffer that several may use at once.
type sink struct {
	mu  sync.Mutex
	all []byte
}

func (s *sink) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text...)
	return len(text), nil
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.all)
}

// A run stays with the version of the workers that began it, and new ones begin on the current one.
func TestVersions(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	worlds := map[string]*world{"1": {}, "2": {}}
	begun := map[string]string{} // runs, by version
	for _, build := range []string{"1", "2"} {
		serve(t, c, WorkerOptions{Config: plc.Config{Tools: worlds[build].tools()}, Deployment: t.Name(), Build: build})
		eventually(t, "the version does not become the current one", func() bool {
			_, err := c.WorkerDeploymentClient().GetHandle(t.Name()).SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
			return err == nil
		})
		b := bundleOf(t, `{"calls": [{"_tool": "wipe", "_id": "w", "text": "x", "_outputPath": "†state.w"}, {"_tool": "send", "_dependsOn": ["w"], "text": "`+build+`"}]}`)
		begin(t, c, b)
		begun[build] = b.Run
		asked(t, c, b.Run) // now it has begun
	}
	for build, run := range begun {
		q := asked(t, c, run)
		if err := c.Answer(t.Context(), run, Answer{Path: q.Path, Answer: exec.Answer{Approved: true, Digest: q.Digest}}); err != nil {
			t.Fatal(err)
		}
		o := wait(t, c, run)
		if sent := worlds[build].sent; o.Status != exec.Completed || !slices.Equal(sent, []string{build}) {
			t.Errorf("version %s: %s %s, and its workers sent %q", build, o.Status, o.Reason, sent)
		}
	}
}

// A worker whose function of a tool takes other params than the client's fails the call, and says so.
func TestOtherTool(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	other := tool.Func("send", "Sends it elsewhere.", func(context.Context, struct{ To int }) (int, error) { return 0, nil })
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: []*tool.Tool{other}}})
	b := bundleOf(t, `{"calls": [{"_tool": "send", "_id": "s", "text": "1", "_outputPath": "†state.s"}]}`)
	begin(t, c, b)
	o := wait(t, c, b.Run)
	if o.Status != exec.Failed || !strings.Contains(o.Reason, "the worker can't make the call") || !strings.Contains(o.Reason, `requires the param "To"`) {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
}

// A run that was begun by a newer version waits for a worker that is as new.
func TestNewerRun(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	b := bundleOf(t, asking)
	in := inputOf(t, b)
	beginVersion(t, c, b, in, inputVersion+1)
	var said string
	eventually(t, "nobody says why the run does not begin", func() bool {
		_, err := c.Show(t.Context(), b.Run)
		if err != nil {
			said = err.Error()
		}
		return strings.Contains(said, "its worker has to be as new")
	})
	t.Log(said)
}

// A call that the worker has no function for fails, and says so; when the run is resumed with a
// worker that has it, it goes on.
func TestWithoutTheTool(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	stop := serve(t, c, WorkerOptions{})
	b := bundleOf(t, `{"calls": [{"_tool": "send", "_id": "s", "text": "1", "_outputPath": "†state.s"}]}`)
	begin(t, c, b)
	o := wait(t, c, b.Run)
	if o.Status != exec.Failed || !strings.Contains(o.Reason, "the worker can't make the call") {
		t.Fatalf("%s %s", o.Status, o.Reason)
	}
	stop()
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	if err := c.Resume(t.Context(), b.Run, Limits{}); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed || len(w.sent) != 1 {
		t.Errorf("%s %s, sent %d times", o.Status, o.Reason, len(w.sent))
	}
}

// A storage that can't be written loses nothing: what could not be kept is made again, or asked
// about, when it can be.
func TestFullStorage(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "storage")
	c := needServer(t).dial(t, Options{Queue: t.Name(), Storage: folder})
	made := make(chan bool, 10)
	large := tool.Func("large", "Gives much.", func(context.Context, text) (string, error) {
		made <- true
		return noise(300_000), nil
	})
	tools := []*tool.Tool{large}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
	p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), specOf(t, `{"calls": [{"_tool": "large", "_id": "l", "text": "", "_outputPath": "†state.l"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	room := fill(t, folder)
	in := inputOf(t, b)
	in.LostAfter = 2 * time.Second
	beginWith(t, c, b, in)
	<-made
	q := asked(t, c, b.Run)
	if q.Kind != exec.UncertainQuestion {
		t.Fatalf("%+v", q)
	}
	room()
	if err := c.Answer(t.Context(), b.Run, Answer{Path: "l", Answer: exec.Answer{Approved: true, Digest: q.Digest}}); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed || len(made) != 1 {
		t.Errorf("%s %s, made again %d times", o.Status, o.Reason, len(made))
	}
}

// fill has no room in a folder until room is called: a small disk is mounted there, or without the
// right to do that, a file is in its way.
func fill(t *testing.T, folder string) (room func()) {
	t.Helper()
	mount := func(options string) error {
		return osexec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder).Run()
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if mount("size=64k") == nil {
		t.Cleanup(func() { _ = osexec.Command("umount", folder).Run() })
		return func() {
			if err := mount("remount,size=8m"); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log("no small disk can be mounted here: a file is in the way of the folder")
	if err := errors.Join(os.Remove(folder), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that is away for a while, from before the run is waited for until after its calls have
// ended, finds all as it was.
func TestServerAway(t *testing.T) {
	t.Parallel()
	s := newServer(t, keeps)
	defer s.stop()
	c := s.dial(t, Options{Queue: t.Name()})
	w := &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	plan := many(12, "echo")
	b := bundleOf(t, plan)
	in := inputOf(t, b)
	in.LostAfter = 2 * time.Second
	beginWith(t, c, b, in)
	eventually(t, "no call has ended", func() bool {
		v, err := c.Show(t.Context(), b.Run)
		return err == nil && v.Calls[exec.Completed] > 0
	})
	s.kill()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Wait(t.Context(), b.Run)
		ended <- err
	}()
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := c.Start(soon, bundleOf(t, plan)); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("begun without a server: %v", err)
	}
	time.Sleep(*away)
	s.start(t)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	o := wait(t, c, b.Run)
	if o.Status != exec.Completed {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
}

// Two clusters may have runs of one id, and share a storage.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	other := newServer(t, keeps)
	defer other.stop()
	o := Options{Queue: t.Name(), Storage: t.TempDir()}
	b := bundleOf(t, `{"calls": [{"_tool": "echo", "_id": "e", "text": "`+noise(200_000)+`", "_outputPath": "†state.e"}]}`)
	for _, s := range []*server{needServer(t), other} {
		c := s.dial(t, o)
		serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
		begin(t, c, b)
		if o := wait(t, c, b.Run); o.Status != exec.Completed {
			t.Errorf("%s %s", o.Status, o.Reason)
		}
	}
}

// beginVersion begins a run with an input of another version.
func beginVersion(t *testing.T, c *Client, b *plc.Bundle, in *input, version int) {
	t.Helper()
	in.Version, in.Most = version, c.most
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.execute(t.Context(), b.Run, "", text, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, temporal.SearchAttributes{}); err != nil {
		t.Fatal(err)
	}
}
