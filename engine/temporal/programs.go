package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// Limits of the programs that a worker keeps. If it needs another one than its mostPrograms, it
// drops those that have been unused for longer than idle, since they may have running servers.
const (
	mostPrograms = 64
	idle         = time.Minute
)

// programs holds the programs of the runs that a worker serves, by bundle digest. Each is compiled
// twice: sealed, to step the run, and with secrets and servers, to make its calls.
type programs struct {
	config plc.Config

	mu            sync.Mutex
	stepped, made shelf
}

// program is a compiled program.
type program struct {
	digest string
	turn   chan struct{} // holds a value while the program is being compiled
	engine *plc.Engine
	plan   *plc.Plan // nil until it is compiled
	opts   *exec.Options

	// mu of programs guards these.
	used int       // number of users
	last time.Time // time of the last use
}

// shelf holds programs, the most recently used one last.
type shelf []*program

// sealed returns a program for stepping, and a copy of the options of its run.
func (p *programs) sealed(digest, bundle string) (*plc.Plan, *exec.Options, error) {
	x := p.take(&p.stepped, digest)
	defer p.give(x)
	if err := x.compile(context.Background(), p.config, true, func() (string, error) { return bundle, nil }); err != nil {
		return nil, nil, err
	}
	opts := *x.opts
	return x.plan, &opts, nil
}

// open returns a program whose calls can be made until release is called. It returns an error as a
// failure of the call, unless ctx is done.
func (p *programs) open(ctx context.Context, digest string, bundle func() (string, error)) (prog *compile.Program, release func(), err error) {
	x := p.take(&p.made, digest)
	if err := x.compile(ctx, p.config, false, bundle); err != nil {
		p.give(x)
		return nil, nil, unmade(err)
	}
	return x.plan.Program, func() { p.give(x) }, nil
}

// compile compiles the program unless it is compiled already; it doesn't keep an error. Servers
// that it starts outlive the call that needed them first.
func (x *program) compile(ctx context.Context, config plc.Config, sealed bool, bundle func() (string, error)) error {
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if x.plan != nil {
		return nil
	}
	text, err := bundle()
	if err != nil {
		return err
	}
	var b plc.Bundle
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return err
	}
	engine := plc.New(config)
	plan, opts, err := engine.Unpack(context.WithoutCancel(ctx), &b, sealed)
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	x.engine, x.plan, x.opts = engine, plan, opts
	return nil
}

// take returns the program of a shelf with the given digest, and adds one if there is none.
func (p *programs) take(s *shelf, digest string) *program {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(*s, func(x *program) bool { return x.digest == digest })
	if i < 0 {
		more := len(*s) - mostPrograms + 1 // number of programs above the limit
		*s = slices.DeleteFunc(*s, func(x *program) bool {
			if x.used > 0 || more <= 0 && time.Since(x.last) < idle {
				return false
			}
			more--
			x.close()
			return true
		})
		*s = append(*s, &program{digest: digest, turn: make(chan struct{}, 1)})
		i = len(*s) - 1
	}
	x := (*s)[i]
	*s = append(slices.Delete(*s, i, i+1), x)
	x.used++
	return x
}

func (p *programs) give(x *program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.used--
	x.last = time.Now()
}

// close stops the servers of the program.
func (x *program) close() {
	if x.engine != nil {
		_ = x.engine.Close()
	}
}

// close stops the servers of all programs.
func (p *programs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range slices.Concat(p.stepped, p.made) {
		x.close()
	}
	p.stepped, p.made = nil, nil
}
