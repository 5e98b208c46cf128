package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/plc-lang/plc/tool/internal/group"
)

// child is a running program with the goroutines at its pipes.
//
// The life of a child: it is started; it exits by itself, or its group gets SIGTERM when ctx is
// done or it prints too much. Then there is a grace period for processes that still hold its pipes.
// After that the whole group is killed, and only then is the child reaped: until then its process
// id, which is the id of the group, can't be used again.
type child struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *reader
	stderr  *reader
	writing sync.WaitGroup
	tooMuch chan struct{}    // closed when stdout is over its limit
	exited  chan struct{}    // closed when the program has exited
	done    chan struct{}    // closed when it has exited and both outputs are at their end
	state   *os.ProcessState // how it ended, once it is reaped
}

// ending is the result of a child process.
type ending struct {
	state          *os.ProcessState
	stdout, stderr []byte // stderr is the end
	stopped        bool   // it was stopped because ctx was done
	tooMuch        bool
	whole          bool // stdout was closed without killing anybody
}

// searched is the number of bytes of standard error, before the part that a message quotes, that
// are searched for secrets too, so that a secret at the beginning of the quote is found as a whole.
const searched = 64 << 10

// start starts the program.
func start(cmd *exec.Cmd, stdin []byte, maxOutput int64, maxStderr int) (*child, error) {
	c := &child{
		cmd:     cmd,
		tooMuch: make(chan struct{}),
		exited:  make(chan struct{}),
		done:    make(chan struct{}),
	}
	cmd.SysProcAttr = group.Attributes()
	if err := c.openPipes(stdin != nil); err != nil {
		return nil, err
	}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	if stdin != nil {
		c.writing.Go(func() {
			// It is no failure if a program does not read its input.
			_, _ = c.stdin.Write(stdin)
			_ = c.stdin.Close()
		})
	}
	var reading sync.WaitGroup
	reading.Go(func() { c.stdout.head(maxOutput, c.tooMuch) })
	reading.Go(func() { c.stderr.tail(maxStderr + searched) })
	go func() {
		reading.Wait()
		<-c.exited
		close(c.done)
	}()
	return c, nil
}

// openPipes makes the pipes. If it fails, the garbage collector closes the open ones.
func (c *child) openPipes(stdin bool) error {
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if stdin {
		if c.stdin, err = c.cmd.StdinPipe(); err != nil {
			return err
		}
	}
	c.stdout, c.stderr = &reader{pipe: stdout}, &reader{pipe: stderr}
	return nil
}

// run starts the program and waits for it on one thread: on Linux the program gets
// a signal when the thread that started it ends (see attributes), so the thread must not end before
// the program. Waiting blocks a thread in any case.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err == nil {
		c.state = group.AwaitExit(c.cmd.Process)
		close(c.exited)
	}
}

// wait returns when the program and its group have ended.
func (c *child) wait(ctx context.Context, grace time.Duration) ending {
	var e ending
	patience := ctx
	select {
	case <-c.exited:
	case <-c.tooMuch:
		group.Terminate(c.cmd.Process)
	case <-ctx.Done():
		group.Terminate(c.cmd.Process)
		e.stopped, patience = true, context.WithoutCancel(ctx)
	}
	var cancelled bool
	e.whole, cancelled = c.linger(patience, grace)
	group.Kill(c.cmd.Process)
	<-c.exited
	if e.stopped = e.stopped || cancelled; !e.stopped {
		// Read the pipes to their end, which comes now unless a process outside the group holds
		// them too.
		_, e.stopped = c.linger(ctx, DefaultGrace)
	}
	c.closePipes()
	<-c.done
	c.writing.Wait()
	_ = c.cmd.Wait() // the state has the relevant part of its error
	if c.state == nil {
		c.state = c.cmd.ProcessState
	}
	e.state, e.stdout, e.stderr, e.tooMuch = c.state, c.stdout.text, c.stderr.text, c.stdout.over
	return e
}

// linger waits until the program has exited and no process holds its outputs, but no longer than
// the grace period, and only until ctx is done.
func (c *child) linger(ctx context.Context, grace time.Duration) (done, cancelled bool) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
		return true, false
	case <-timer.C:
		return false, false
	case <-ctx.Done():
		return false, true
	}
}

func (c *child) closePipes() {
	_ = c.stdout.pipe.Close()
	_ = c.stderr.pipe.Close()
	if c.stdin != nil {
		_ = c.stdin.Close()
	}
}

// reader keeps the output of a program, up to a limit.
type reader struct {
	pipe io.ReadCloser
	text []byte
	over bool // there was more than the limit
}

// head reads the output up to the limit. If there is more, it closes the pipe, so that writers are
// stopped, and closes tooMuch.
func (r *reader) head(limit int64, tooMuch chan<- struct{}) {
	var b bytes.Buffer
	n, _ := b.ReadFrom(io.LimitReader(r.pipe, limit+1)) // an error ends the output
	if r.over = n > limit; r.over {
		_ = r.pipe.Close()
		close(tooMuch)
		return
	}
	r.text = b.Bytes()
}

// tail reads to the end and keeps the last n bytes.
func (r *reader) tail(n int) {
	chunk := make([]byte, 4096)
	for {
		got, err := r.pipe.Read(chunk)
		r.text = append(r.text, chunk[:got]...)
		if len(r.text) > 2*n {
			r.text = append(r.text[:0], r.text[len(r.text)-n:]...)
		}
		if err != nil {
			break
		}
	}
	r.text = r.text[max(0, len(r.text)-n):]
}
