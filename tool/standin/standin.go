// Package standin has an activity that stands in for a real one in tests and dry runs of plans
// (cli, "The tool file"): it waits, fails and returns results as its Config says.
//
//	busy, err := standin.New(standin.Config{
//		Return:    json.RawMessage(`{"ok": true}`),
//		Fail:      &tool.Error{Code: "busy", Message: "try again"},
//		FailTimes: 1, // the first attempt of each call
//	})
//
// It keeps no state between calls: its behaviour depends on the request alone, so a run with the
// same seed is repeated exactly.
package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Config says what a stand-in does. The result is the value in ReturnEach for the call, else one of
// Return, Echo and Sample, of which one may be given, else null.
type Config struct {
	Return     json.RawMessage            // this value
	ReturnEach map[string]json.RawMessage // this value for the call of this _id
	Echo       bool                       // the params
	Sample     bool                       // a value made from the output schema in Request.Definition

	After  time.Duration // before it answers or fails
	Jitter time.Duration // at most this much more, drawn from Request.Seed

	Fail      *tool.Error // the failure; nil with FailTimes is one with the code "stand-in"
	FailTimes int         // how many attempts of each call fail; 0 with Fail is all of them
}

// Takes returns how long a call may take; nil if the config does not say.
func (c *Config) Takes() []time.Duration {
	switch {
	case c.After <= 0:
		return nil
	case c.Jitter > 0:
		return []time.Duration{c.After, c.After + c.Jitter/2, c.After + c.Jitter}
	}
	return []time.Duration{c.After}
}

// Activity is a stand-in. It is immutable.
type Activity struct{ config Config }

// New makes a stand-in. An error names the member of the config.
func New(c Config) (*Activity, error) {
	given := 0
	for _, is := range []bool{c.Return != nil, c.Echo, c.Sample} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, errors.New("return, echo and sample: only one of them can be the result")
	case c.After < 0:
		return nil, fmt.Errorf("after is %s, before the call", c.After)
	case c.Jitter < 0:
		return nil, fmt.Errorf("jitter is %s, less than nothing", c.Jitter)
	case c.FailTimes < 0:
		return nil, fmt.Errorf("failTimes is %d, less than none", c.FailTimes)
	}
	if c.Fail == nil && c.FailTimes > 0 {
		c.Fail = &tool.Error{Code: "stand-in", Message: fmt.Sprintf("the first %d attempts fail", c.FailTimes)}
	}
	return &Activity{c}, nil
}

// Takes returns how long a call may take; nil if the config does not say.
func (a *Activity) Takes() []time.Duration { return a.config.Takes() }

// Call waits, then fails or answers. It returns at once when ctx is done.
func (a *Activity) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	if err := wait(ctx, a.delay(req)); err != nil {
		return tool.Result{}, err
	}
	_, res, err := a.Answer(req)
	return res, err
}

// Answer returns the results of Call, and how long Call would wait, without waiting.
func (a *Activity) Answer(req *tool.Request) (time.Duration, tool.Result, error) {
	after := a.delay(req)
	if a.fails(req.Attempt) {
		err := *a.config.Fail // a copy, which the caller may change
		return after, tool.Result{}, &err
	}
	value, err := a.value(req)
	return after, tool.Result{Value: value}, err
}

func (a *Activity) delay(req *tool.Request) time.Duration {
	d := a.config.After
	if a.config.Jitter > 0 {
		draw := rand.New(rand.NewPCG(req.Seed, uint64(req.Attempt)))
		d += time.Duration(draw.Uint64N(uint64(a.config.Jitter) + 1))
	}
	return d
}

func (a *Activity) fails(attempt int) bool {
	return a.config.Fail != nil && (a.config.FailTimes == 0 || attempt <= a.config.FailTimes)
}

func (a *Activity) value(req *tool.Request) (json.RawMessage, error) {
	if v, ok := a.config.ReturnEach[req.Call]; ok {
		return v, nil
	}
	switch {
	case a.config.Sample:
		return sample(req)
	case a.config.Echo:
		return req.Params, nil
	}
	return a.config.Return, nil
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sample makes a value that meets the output schema, the same for the same seed.
func sample(req *tool.Request) (json.RawMessage, error) {
	if req.Definition == nil || req.Definition.Output == nil {
		return nil, nil
	}
	v, err := schemas.Sample(req.Definition.Output, req.Seed)
	if err != nil {
		return nil, &tool.Error{Code: "stand-in", Message: fmt.Sprintf("no sample of the result: %s", err), Permanent: true, Err: err}
	}
	return v, nil
}
