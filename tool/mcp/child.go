package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/group"
)

const (
	maxNoise  = 1 << 20  // bytes on standard output that are not messages
	maxStderr = 16 << 10 // bytes of the end of standard error that are kept
	grace     = 2 * time.Second
	// discoverTime is the time for which a server may leave server/discover unanswered. Servers
	// from before 2026 need not know this request; most of them answer with an error.
	discoverTime = 10 * time.Second
)

// child is a server that runs as a program, and the connection with it, on which each message is a
// line (mcp.Connection). Its process group ends with it.
type child struct {
	cmd     *exec.Cmd
	hide    hider
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	stderr  *tail
	reading sync.WaitGroup // of stderr
	exited  chan struct{}  // closed when the program has exited
	closing sync.Once

	lines   chan line             // messages, and at last an error
	fault   atomic.Pointer[error] // what is wrong with its output
	closed  chan struct{}         // closed by Close
	writing sync.Mutex

	// patience bounds the time that server/discover may stay unanswered; 0 is no bound.
	patience time.Duration
	timing   sync.Mutex
	timer    *time.Timer // of server/discover; guarded by timing, like all fields below
	asked    jsonrpc.ID  // the id of server/discover
	answers  int         // the number of answers to it: ours, given instead of the server, and its own
	stood    bool        // we have answered instead of the server
	slow     bool        // it answered after we had
}

// line is a message, or the error after which there are no more.
type line struct {
	text []byte
	err  error
}

// Connect starts the program (mcp.Transport).
func (c *child) Connect(context.Context) (mcp.Connection, error) {
	c.exited, c.closed, c.lines = make(chan struct{}), make(chan struct{}), make(chan line)
	c.cmd.SysProcAttr = group.Attributes()
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.stdout, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, &startFault{err}
	}
	c.reading.Go(func() { _, _ = io.Copy(c.stderr, stderr) })
	go c.read()
	return c, nil
}

// startFault is the error of a program that could not be started.
type startFault struct{ err error }

func (f *startFault) Error() string { return f.err.Error() }
func (f *startFault) Unwrap() error { return f.err }

// run starts the program and waits for it, on one thread: see group.Attributes.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err == nil {
		group.AwaitExit(c.cmd.Process)
		close(c.exited)
		// Processes that the program leaves running may hold its output open, but send no answers.
		time.AfterFunc(grace, func() { _ = c.stdout.Close() })
	}
}

// read reads messages until there are no more.
func (c *child) read() {
	in := bufio.NewReaderSize(c.stdout, 64<<10)
	noise := 0
	for {
		text, err := readLine(in)
		if err == nil {
			text, err = c.message(text, &noise)
		}
		if err == nil && text == nil {
			continue
		}
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// message returns a line as a message for the SDK, or nil if it should be ignored. Text that a
// server prints by mistake is added to its standard error unchanged, line by line, since a secret
// may be encoded over several lines.
func (c *child) message(text []byte, noise *int) ([]byte, error) {
	message, err := faithful(text, c.hide)
	if !errors.Is(err, errNoise) {
		return message, err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, nil
	}
	if *noise += len(text); *noise > maxNoise {
		return nil, fmt.Errorf("more than %d bytes on standard output that are no messages", maxNoise)
	}
	_, _ = c.stderr.Write(append(bytes.Clone(text), '\n'))
	return nil, nil
}

// readLine reads a line, up to the size of a message.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		chunk, err := in.ReadSlice('\n')
		if len(text)+len(chunk) > maxMessage {
			return nil, fmt.Errorf("a message of more than %d MiB", maxMessage>>20)
		}
		text = append(text, chunk...)
		switch {
		case err == nil:
			return text, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		default:
			return nil, err
		}
	}
}

// Read returns the next message (mcp.Connection).
func (c *child) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case l := <-c.lines:
			if l.err != nil {
				if !errors.Is(l.err, io.EOF) && !errors.Is(l.err, os.ErrClosed) {
					c.fault.Store(&l.err)
				}
				return nil, l.err
			}
			msg, err := jsonrpc.DecodeMessage(l.text)
			if err != nil {
				err = fmt.Errorf("%w; it begins with %q", err, c.hide.head(l.text, shownBytes))
				c.fault.Store(&err)
				return nil, err
			}
			c.answered(msg)
			return msg, nil
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// answered stops the timer of server/discover.
func (c *child) answered(msg jsonrpc.Message) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return
	}
	c.stopTimer()
	c.timing.Lock()
	defer c.timing.Unlock()
	if r.ID == c.asked {
		c.answers++
		c.slow = c.answers > 1 && r.Error == nil
	}
}

// wasSlow reports whether the server answered server/discover too late, and whether it may still do
// so because we did not wait for its answer: a server that knows the newer handshake may refuse the
// older one before its late answer is read.
func (c *child) wasSlow() (was, mayBe bool) {
	c.timing.Lock()
	defer c.timing.Unlock()
	return c.slow, c.stood
}

func (c *child) stopTimer() {
	c.timing.Lock()
	defer c.timing.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// Write sends a message (mcp.Connection).
func (c *child) Write(_ context.Context, msg jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "server/discover" {
		c.timing.Lock()
		c.asked = req.ID
		if c.patience > 0 {
			c.timer = time.AfterFunc(c.patience, func() { c.answerDiscover(gjson.GetBytes(text, "id").Raw) })
		}
		c.timing.Unlock()
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err = c.stdin.Write(append(text, '\n'))
	return err
}

// answerDiscover answers server/discover instead of the server, with an error that it is unknown,
// so that the SDK continues with the older handshake.
func (c *child) answerDiscover(id string) {
	c.timing.Lock()
	c.stood = true
	c.timing.Unlock()
	text := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no answer"}}`, id, jsonrpc.CodeMethodNotFound)
	select {
	case c.lines <- line{text: text}:
	case <-c.closed:
	}
}

// SessionID implements mcp.Connection; only other transports have sessions.
func (c *child) SessionID() string { return "" }

// Close ends the program (mcp.Connection). It closes its input, sends SIGTERM if the program has
// not ended after a grace period, and SIGKILL after another. Then it kills the rest of its process
// group.
func (c *child) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		c.stopTimer()
		_ = c.stdin.Close()
		if !c.awaitExit() {
			group.Terminate(c.cmd.Process)
			c.awaitExit()
		}
		group.Kill(c.cmd.Process)
		<-c.exited
		c.awaitStderr()
		_ = c.cmd.Wait() // closes the pipes
		c.reading.Wait()
	})
	return nil
}

// awaitExit waits for the program to exit, but no longer than the grace period.
func (c *child) awaitExit() bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}

// awaitStderr waits until all of standard error is read, but no longer than the grace period: a
// process outside the group may hold it open.
func (c *child) awaitStderr() {
	read := make(chan struct{})
	go func() {
		c.reading.Wait()
		close(read)
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	hide hider
	mu   sync.Mutex
	text []byte
	cut  bool // text lacks its beginning
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*maxStderr {
		t.text, t.cut = append(t.text[:0], t.text[len(t.text)-maxStderr:]...), true
	}
	return len(p), nil
}

// lastLines is the maximum number of lines of standard error that a message quotes.
const lastLines = 5

// String returns the last lines, without secrets.
func (t *tail) String() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text
	if t.cut { // the first line may begin in the middle of a secret
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = t.hide.clean(text)
	lines := strings.Split(driver.Printable(text[max(0, len(text)-maxStderr/4):]), "\n")
	return strings.TrimSpace(strings.Join(lines[max(0, len(lines)-lastLines):], "\n"))
}

// ending returns how the program ended, or what is wrong with its output.
func (c *child) ending() string {
	if fault := c.fault.Load(); fault != nil {
		_ = c.Close()
		return (*fault).Error()
	}
	return "it has ended" + c.status()
}

// status returns how the program ended, if that is known.
func (c *child) status() string {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.exited:
	case <-timer.C:
		return ""
	}
	_ = c.Close() // so that it is reaped
	if name, killed := group.SignalName(c.cmd.ProcessState); killed {
		return ", killed by " + name
	}
	return fmt.Sprintf(" with status %d", c.cmd.ProcessState.ExitCode())
}
