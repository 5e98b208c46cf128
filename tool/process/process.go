package process

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Activity runs a program. It is immutable; calls may run at once, each with a
// process of its own. Make it with New.
type Activity struct {
	command       []driver.Template
	dir           string
	env           []string
	basic, named  []string // the inherited variables
	stdin         string   // params, request, none or template; "" is params
	stdinTemplate driver.Template
	output        string // json, text or lines; "" is json
	allowDash     []string
	allowCode     []string
	dash          int // after this element of the command, arguments may begin with a dash
	okExit        []int
	maxOutput     int64
	maxStderr     int
	grace         time.Duration
	pins          []pinned // nil when nothing is pinned
}

var _ tool.Activity = (*Activity)(nil)

// Inherited returns the variables that the program inherits, as KEY=value: those that every program
// inherits, and those that Config.InheritEnv names, which may be secrets. The caller must not
// change them.
func (a *Activity) Inherited() (basic, named []string) { return a.basic, a.named }

// Place returns the folder that the program runs in, its file, and the pinned files. The file is
// looked up as for a call; its path is empty if it does not exist.
func (a *Activity) Place() tool.Place {
	p := tool.Place{Dir: a.dir}
	if dir, err := filepath.Abs(cmp.Or(a.dir, ".")); err == nil {
		p.Dir = dir
	}
	if dir, err := filepath.EvalSymlinks(p.Dir); err == nil { // a link to another folder is another place
		p.Dir = dir
	}
	for _, t := range a.command {
		p.Program = append(p.Program, t.String())
	}
	program := a.command[0].String()
	if strings.ContainsAny(program, `/\`) {
		p.Path = in(p.Dir, program)
	} else {
		p.Path, _ = exec.LookPath(program)
	}
	if _, err := os.Stat(p.Path); err != nil {
		p.Path = ""
	} else {
		p.Follow(p.Path)
	}
	for i, pin := range a.pins {
		if i == 0 || pin.SHA256 != "" {
			p.Pins = append(p.Pins, pin.Pin)
		}
	}
	return p
}

// Params returns the names of the placeholders, sorted: the tool must declare them.
func (a *Activity) Params() []string {
	return driver.SortedNames(append(slices.Clone(a.command), a.stdinTemplate)...)
}

// Call runs the program once and returns when it and its process group have ended. The variables
// PLC_RUN, PLC_CALL, PLC_TOOL, PLC_ATTEMPT, PLC_SEED and PLC_IDEMPOTENCY_KEY identify the attempt;
// if the context has a trace (tool.TraceOf), TRACEPARENT and TRACESTATE identify its span.
//
// Errors are *tool.Error. The codes:
//
//   - "exit-N": another exit status than 0 and those of OKExit; the message is the end
//     of standard error. If its last line is a JSON object with a string code, that is the error:
//     {"code", "message", "permanent", "uncertain", "retryAfter"} (retryAfter is in seconds).
//   - "signal-NAME": somebody else killed it; uncertain.
//   - "bad-output", "output-too-large": it did its work, but there is no result;
//     permanent and uncertain.
//   - "timeout", "cancelled": ctx is done; uncertain, unless it had not begun.
//   - "bad-params": a param that cannot be passed on; permanent.
//   - "changed-program": a file that was pinned has changed; permanent.
//   - "no-program", "no-start": it could not be started; "no-program" is permanent.
func (a *Activity) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, driver.Stopped(ctx, false)
	}
	params := driver.ReadParams(req.Params)
	args, err := a.arguments(params)
	if err != nil {
		return tool.Result{}, err
	}
	stdin, err := a.input(req, params)
	if err != nil {
		return tool.Result{}, err
	}
	env, err := a.environ(ctx, req)
	if err != nil {
		return tool.Result{}, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = a.dir, env
	var changed *tool.Error
	switch err := a.UsePinned(cmd); {
	case errors.As(err, &changed):
		return tool.Result{}, err
	case err != nil:
		return tool.Result{}, startError(cmd, err)
	}
	c, err := start(cmd, stdin, a.maxOutput, a.maxStderr)
	if err != nil {
		return tool.Result{}, startError(cmd, err)
	}
	return a.result(ctx, c.wait(ctx, a.grace))
}

// arguments returns the program and its arguments with the params in them.
func (a *Activity) arguments(params driver.Params) ([]string, error) {
	var args []string
	for i, t := range a.command {
		arg, missing := t.Fill(params.Text)
		switch {
		case missing != "":
			continue
		case strings.Contains(arg, "\x00"):
			return nil, driver.Refuse("a param in the argument %q holds a NUL byte, which no argument can", t)
		case t.StartsOpen() && strings.HasPrefix(arg, "-") && i <= a.dash && !a.mayDash(t):
			return nil, driver.Refuse("the argument %q would begin with a dash and be taken for an option: %q; "+
				`put "--" before it in the command, or name the param in allowDash`, t, driver.Head([]byte(arg), 40))
		}
		args = append(args, arg)
	}
	return args, nil
}

// mayDash reports whether all params of the argument may begin with a dash. It checks all of them,
// since if the first is empty, the argument begins with the next.
func (a *Activity) mayDash(t driver.Template) bool {
	return !slices.ContainsFunc(t.Names(), func(name string) bool { return !slices.Contains(a.allowDash, name) })
}

// request is the input of a program with Stdin "request".
type request struct {
	Run     string          `json:"run"`
	Call    string          `json:"call"`
	Tool    string          `json:"tool"`
	Attempt int             `json:"attempt"`
	Key     string          `json:"key"`
	Seed    uint64          `json:"seed"`
	Params  json.RawMessage `json:"params"`
	Scopes  json.RawMessage `json:"scopes"`
}

// input returns what the program reads.
func (a *Activity) input(req *tool.Request, params driver.Params) ([]byte, error) {
	switch a.stdin {
	case "none":
		return nil, nil
	case "request":
		text, err := json.Marshal(request{
			req.Run, req.Call, req.Tool, req.Attempt, req.Key, req.Seed, orEmpty(req.Params), req.Scopes,
		})
		if err != nil {
			return nil, driver.Refuse("the params are not JSON: %v", err)
		}
		return append(text, '\n'), nil
	case "template":
		text, missing := a.stdinTemplate.Fill(params.Text)
		if missing != "" {
			return nil, driver.Refuse("param %q is not given, and standard input needs it", missing)
		}
		return []byte(text), nil
	}
	line := make([]byte, 0, len(req.Params)+len("{}\n"))
	return append(append(line, orEmpty(req.Params)...), '\n'), nil
}

func orEmpty(params json.RawMessage) json.RawMessage {
	if len(params) == 0 {
		return json.RawMessage("{}")
	}
	return params
}

// environ returns the environment of one attempt.
func (a *Activity) environ(ctx context.Context, req *tool.Request) ([]string, error) {
	env := append(slices.Clip(a.env),
		"PLC_RUN="+req.Run,
		"PLC_CALL="+req.Call,
		"PLC_TOOL="+req.Tool,
		"PLC_ATTEMPT="+strconv.Itoa(req.Attempt),
		"PLC_SEED="+strconv.FormatUint(req.Seed, 10),
		"PLC_IDEMPOTENCY_KEY="+req.Key,
	)
	if trace := tool.TraceOf(ctx); trace.Parent != "" {
		env = append(env, "TRACEPARENT="+trace.Parent)
		if trace.State != "" {
			env = append(env, "TRACESTATE="+trace.State)
		}
	}
	for _, variable := range env[len(a.env):] {
		if strings.Contains(variable, "\x00") {
			return nil, driver.Refuse("%q holds a NUL byte, which no variable can", variable)
		}
	}
	return env, nil
}

// result returns the result or the error of a program that has ended.
func (a *Activity) result(ctx context.Context, e ending) (tool.Result, error) {
	switch {
	case e.stopped:
		return tool.Result{}, driver.Stopped(ctx, true)
	case e.tooMuch:
		return tool.Result{}, &tool.Error{
			Code: driver.TooLarge, Permanent: true, Uncertain: true,
			Message: "more than " + strconv.FormatInt(a.maxOutput, 10) + " bytes on standard output; let the tool print less, or raise maxOutput",
		}
	case !e.state.Success() && !slices.Contains(a.okExit, e.state.ExitCode()):
		return tool.Result{}, a.exitError(ctx, e)
	}
	value, err := a.value(ctx, e)
	if err != nil {
		return tool.Result{}, &tool.Error{
			Code: driver.BadOutput, Message: err.Error(), Permanent: true, Uncertain: true, Err: err,
		}
	}
	return tool.Result{Value: value}, nil
}

// value returns the output as the result. If the output may be cut off, because a process that the
// program left behind held it open, it is accepted only if it is complete by itself, as a JSON
// value is.
func (a *Activity) value(ctx context.Context, e ending) (json.RawMessage, error) {
	var value json.RawMessage
	var err error
	switch a.output {
	case "text":
		value, err = driver.Text(trimLineEnd(driver.Clean(ctx, e.stdout)))
	case "lines": // a secret may be encoded over several of them
		value, err = lines(driver.Clean(ctx, e.stdout))
	default:
		if value, err = driver.JSON(ctx, e.stdout); value != nil {
			return value, nil
		}
		if err != nil {
			err = fmt.Errorf("%w; output: text takes any text, and output: lines its lines", err)
		}
	}
	if err == nil && !e.whole {
		err = errors.New("the program has ended, but what it left running still holds its output; redirect that")
	}
	return value, err
}

// lines returns a list of strings; the line end of the last one may be missing.
func lines(output []byte) (json.RawMessage, error) {
	list := []byte{'['}
	for line := range bytes.Lines(output) {
		text, err := driver.Text(trimLineEnd(line))
		if err != nil {
			return nil, err
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, text...)
	}
	return append(list, ']'), nil
}

func trimLineEnd(text []byte) []byte {
	text, _ = bytes.CutSuffix(text, []byte("\n"))
	text, _ = bytes.CutSuffix(text, []byte("\r"))
	return text
}
