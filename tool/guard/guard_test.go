package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/guard"
)

// counter counts its calls, and gives their number or the error.
type counter struct {
	n   int
	err error
}

func (c *counter) Call(context.Context, *tool.Request) (tool.Result, error) {
	c.n++
	return tool.Result{Value: fmt.Append(nil, c.n), Usage: tool.Usage{Tokens: 7}}, c.err
}

func request(params string, e tool.Effects) *tool.Request {
	return &tool.Request{Tool: "t", Params: json.RawMessage(params), Definition: &tool.Definition{Name: "t", Effects: e}}
}

func code(err error) string {
	var e *tool.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{}
		a := guard.Cache(time.Minute)(c)
		reads, writes := tool.Effects{ReadOnly: tool.Yes}, tool.Effects{ReadOnly: tool.No}
		scoped := request(`{"a":1,"b":2}`, reads)
		scoped.Scopes = json.RawMessage(`{"state":{}}`)
		for i, step := range []struct {
			req  *tool.Request
			wait time.Duration
			want string
		}{
			{request(`{"a":1,"b":2}`, reads), 0, "1"},
			{request(`{"b": 2.0, "a": 1}`, tool.Effects{Pure: tool.Yes}), 59 * time.Second, "1"},
			{request(`{"a":1,"b":3}`, reads), 0, "2"},
			{scoped, 0, "3"},
			{request(`{"a":1,"b":2}`, writes), 0, "4"},
			{request(`{"a":1,"b":2}`, tool.Effects{}), 0, "5"},
			{&tool.Request{Params: json.RawMessage(`{"a":1,"b":2}`)}, 0, "6"},
			{request(`{"a":1,"b":2}`, reads), 0, "1"},
			{request(`{"a":1,"b":2}`, reads), time.Second, "7"},
		} {
			time.Sleep(step.wait)
			res, err := a.Call(t.Context(), step.req)
			if err != nil || string(res.Value) != step.want {
				t.Errorf("%d: %s %v, want %s", i, res.Value, err, step.want)
			}
			if fresh := res.Usage.Tokens != 0; fresh != (i != 1 && i != 7) {
				t.Errorf("%d: used %v", i, res.Usage)
			}
		}
		c.err = &tool.Error{Code: "busy"}
		for range 2 {
			if _, err := a.Call(t.Context(), request(`{"new":1}`, reads)); code(err) != "busy" {
				t.Error(err)
			}
		}
		if c.n != 9 {
			t.Errorf("%d calls: errors are not kept", c.n)
		}
	})
}

// What is kept is bounded, and the least used goes first.
func TestCacheIsBounded(t *testing.T) {
	calls := map[string]int{}
	big := json.RawMessage(`"` + strings.Repeat("x", 20<<20) + `"`)
	a := guard.Cache(time.Hour)(tool.ActivityFunc(func(_ context.Context, r *tool.Request) (tool.Result, error) {
		calls[string(r.Params)]++
		return tool.Result{Value: big}, nil
	}))
	for _, p := range []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":1}`, `{"a":4}`, `{"a":1}`, `{"a":2}`} {
		if _, err := a.Call(t.Context(), request(p, tool.Effects{Pure: tool.Yes})); err != nil {
			t.Fatal(err)
		}
	}
	if calls[`{"a":1}`] != 1 || calls[`{"a":2}`] != 2 {
		t.Error(calls)
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{}
		a := guard.Breaker(3, 30*time.Second)(c)
		busy, permanent := &tool.Error{Code: "busy"}, &tool.Error{Code: "http-404", Permanent: true}
		for i, step := range []struct {
			wait time.Duration
			err  error
			want string
		}{
			{0, busy, "busy"}, {0, busy, "busy"}, {0, permanent, "http-404"}, // it answered: counted anew
			{0, busy, "busy"}, {0, busy, "busy"}, {0, busy, "busy"},
			{0, nil, guard.Open}, {29 * time.Second, nil, guard.Open},
			{time.Second, busy, "busy"}, {0, nil, guard.Open}, // one try, and another pause
			{30 * time.Second, nil, "<nil>"}, {0, busy, "busy"}, {0, nil, "<nil>"},
		} {
			time.Sleep(step.wait)
			c.err = step.err
			_, err := a.Call(t.Context(), request(`{}`, tool.Effects{}))
			if code(err) != step.want {
				t.Errorf("%d: %v, want %s", i, err, step.want)
			}
			var e *tool.Error
			if errors.As(err, &e) && e.Code == guard.Open && (e.Permanent || e.Uncertain || e.RetryAfter <= 0) {
				t.Errorf("%d: %+v", i, e)
			}
		}
	})
}

// One call tries, the others wait for what comes of it; a cancelled try says nothing.
func TestOneTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, fail := 0, true
		a := guard.Breaker(1, time.Second)(tool.ActivityFunc(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
			calls++
			if fail {
				return tool.Result{}, errors.New("down")
			}
			select {
			case <-time.After(time.Minute):
				return tool.Result{}, nil
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
		}))
		_, _ = a.Call(t.Context(), request(`{}`, tool.Effects{}))
		fail = false
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = a.Call(ctx, request(`{}`, tool.Effects{})) })
		synctest.Wait()
		for range 3 {
			if _, err := a.Call(t.Context(), request(`{}`, tool.Effects{})); code(err) != guard.Open {
				t.Error(err)
			}
		}
		cancel()
		all.Wait()
		if _, err := a.Call(t.Context(), request(`{}`, tool.Effects{})); err != nil || calls != 3 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}

func TestMaxOutput(t *testing.T) {
	a := guard.MaxOutput(5)(tool.ActivityFunc(func(_ context.Context, r *tool.Request) (tool.Result, error) {
		return tool.Result{Value: r.Params}, nil
	}))
	if _, err := a.Call(t.Context(), request(`12345`, tool.Effects{})); err != nil {
		t.Error(err)
	}
	for _, e := range []tool.Effects{{}, {ReadOnly: tool.Yes}, {Idempotent: tool.Yes}} {
		_, err := a.Call(t.Context(), request(`123456`, e))
		var te *tool.Error
		if !errors.As(err, &te) || te.Code != "output-too-large" || !te.Permanent || te.Uncertain == e.Repeatable() {
			t.Errorf("%+v: %+v", e, te)
		}
	}
}

// What a model makes of the same params depends on what it is told besides them.
func TestCacheOfBriefedCalls(t *testing.T) {
	expect, err := schemas.Compile([]byte(`{"minimum":1}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	briefs := []*tool.Brief{
		nil, {}, {Description: "short"}, {Description: "long"}, {Expect: expect}, {Description: "short", Expect: expect},
		{Outcomes: []tool.Outcome{{Name: "yes"}, {Name: "no"}}}, {Outcomes: []tool.Outcome{{Name: "good"}, {Name: "bad"}}},
		{Outcomes: []tool.Outcome{{Name: "yes", Schema: expect}, {Name: "no"}}},
	}
	c := &counter{}
	a := guard.Cache(time.Minute)(c)
	for range 2 {
		for i, b := range briefs {
			req := request(`{"a":1}`, tool.Effects{ReadOnly: tool.Yes})
			req.Brief = b
			if res, err := a.Call(t.Context(), req); err != nil || string(res.Value) != fmt.Sprint(i+1) {
				t.Errorf("%d: %s %v", i, res.Value, err)
			}
		}
	}
}

// Numbers that no float tells apart are two.
func TestCacheKeepsDigits(t *testing.T) {
	c := &counter{}
	a := guard.Cache(time.Minute)(c)
	for i, params := range []string{`{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":1e400}`, `{"a":1e401}`, `{"a":"1e400"}`} {
		if res, err := a.Call(t.Context(), request(params, tool.Effects{Pure: tool.Yes})); err != nil || string(res.Value) != fmt.Sprint(i+1) {
			t.Errorf("%s: %s %v", params, res.Value, err)
		}
	}
}
