package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// several is a model that answers with the params of each request; of what stands in broken it
// gives no right answer.
type several struct {
	mu    sync.Mutex
	asked []*model.Request
	err   error
}

func (s *several) Complete(_ context.Context, req *model.Request) (*model.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req)
	one := func(prompt gjson.Result) string {
		switch n := prompt.Get("params.n"); n.Int() {
		case 3:
			return `{"_value":"three"}`
		default:
			return `{"_value":` + n.Raw + `}`
		}
	}
	text := one(gjson.Parse(req.Prompt))
	if req.Answers > 1 {
		var parts []string
		gjson.Parse(req.Prompt).ForEach(func(name, p gjson.Result) bool {
			if p.Get("params.n").Int() != 4 { // which is forgotten
				parts = append(parts, name.Raw+":"+one(p))
			}
			return true
		})
		text = "{" + strings.Join(parts, ",") + "}"
		schema, err := schemas.Compile(req.Schema, nil)
		if err != nil || schema.Validate(json.RawMessage(`{"1":{"_value":1},"2":{"_value":2}}`)) != nil && req.Answers == 2 {
			return nil, fmt.Errorf("the schema is none: %s, %w", req.Schema, err)
		}
	}
	return &model.Answer{Text: text, Input: 11, Output: 7}, s.err
}

// outcomes returns what calls with these numbers come to, all at once.
func outcomes(t *testing.T, c model.Client, attempt int, numbers ...int) (said map[int]string, used tool.Usage) {
	def := define(t, `{"properties":{"_output":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`)
	act := model.New(c, nil)
	said = map[int]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, n := range numbers {
		all.Go(func() {
			res, err := act.Call(t.Context(), &tool.Request{Tool: "think", Definition: def, Params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Attempt: attempt})
			mu.Lock()
			defer mu.Unlock()
			used = used.Plus(res.Usage)
			said[n] = string(res.Value)
			var te *tool.Error
			if errors.As(err, &te) {
				said[n] = te.Code
			} else if err != nil {
				said[n] = err.Error()
			}
		})
	}
	all.Wait()
	return said, used
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &several{}
		c := model.Batch(s, 5)
		said, used := outcomes(t, c, 1, 1, 2, 3, 4, 5, 6, 7)
		if want := map[int]string{1: "1", 2: "2", 3: "result", 5: "5", 6: "6", 7: "7"}; len(s.asked) != 2 {
			t.Errorf("%d requests", len(s.asked))
		} else {
			for n, w := range want {
				if said[n] != w {
					t.Errorf("%d comes to %s, want %s", n, said[n], w)
				}
			}
		}
		if said[4] != "result" { // what is forgotten fails by itself
			t.Errorf("4 comes to %s", said[4])
		}
		if used.Input != 22 || used.Output != 14 {
			t.Errorf("used %+v", used)
		}
		// One alone is asked as without a batch, and so is another attempt.
		s.asked = nil
		outcomes(t, c, 1, 1)
		outcomes(t, c, 2, 1, 2)
		for _, req := range s.asked {
			if req.Answers > 1 {
				t.Errorf("%+v", req)
			}
		}
		s.err = &tool.Error{Code: "http-500"}
		if said, _ := outcomes(t, c, 1, 1, 2); said[1] != "http-500" || said[2] != "http-500" {
			t.Errorf("%v", said)
		}
	})
}

// Who does not wait any longer is told so at once; the others get their answers.
func TestLeavingABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &several{}
		c := model.Batch(s, 5)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := c.Complete(ctx, &model.Request{Prompt: `{"params":{"n":1}}`, Schema: json.RawMessage(`{}`), Attempt: 1})
			if err == nil {
				t.Error("an answer")
			}
		})
		synctest.Wait()
		all.Go(func() {
			a, err := c.Complete(t.Context(), &model.Request{Prompt: `{"params":{"n":2}}`, Schema: json.RawMessage(`{}`), Attempt: 1})
			if err != nil || a.Text != `{"_value":2}` {
				t.Errorf("%v, %v", a, err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// A recording does not know what came together.
func TestTapeAroundABatch(t *testing.T) {
	var file bytes.Buffer
	tape, err := model.ReadTape(nil, &file)
	if err != nil {
		t.Fatal(err)
	}
	config := model.Config{Model: "m"}
	first, used := outcomes(t, tape.Client(config, model.Batch(&several{}, 3)), 1, 1, 2, 5)
	again, err := model.ReadTape(bytes.NewReader(file.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	replayed := map[int]string{}
	var usedAgain tool.Usage
	for _, n := range []int{5, 1, 2} {
		one, u := outcomes(t, again.Client(config, nil), 1, n)
		replayed[n], usedAgain = one[n], usedAgain.Plus(u)
	}
	if fmt.Sprint(first) != fmt.Sprint(replayed) || used != usedAgain {
		t.Errorf("%v %v, replayed %v %v", first, used, replayed, usedAgain)
	}
}

// strictly is a model that takes no request with 5 in it, nor one of several with 6.
type strictly struct{ several }

func (s *strictly) Complete(ctx context.Context, req *model.Request) (*model.Answer, error) {
	a, err := s.several.Complete(ctx, req)
	if strings.Contains(req.Prompt, `"n":5`) || strings.Contains(req.Prompt, `"n":6`) && req.Answers > 1 {
		return nil, &tool.Error{Code: "http-400", Permanent: true}
	}
	return a, err
}

// One request that is refused, or several that together are too much, take no others with them.
func TestRefusedBatch(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    map[int]string
	}{
		{[]int{1, 2, 5}, map[int]string{1: "1", 2: "2", 5: "http-400"}},
		{[]int{1, 6}, map[int]string{1: "1", 6: "6"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &strictly{}
			said, _ := outcomes(t, model.Batch(s, len(c.numbers)), 1, c.numbers...)
			if fmt.Sprint(said) != fmt.Sprint(c.want) || len(s.asked) != 1+len(c.numbers) {
				t.Errorf("%v, want %v; %d requests", said, c.want, len(s.asked))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // the key is wrong: that is so for all
		s := &several{err: &tool.Error{Code: "http-401", Permanent: true}}
		if said, _ := outcomes(t, model.Batch(s, 2), 1, 1, 2); said[1] != "http-401" || said[2] != "http-401" || len(s.asked) != 1 {
			t.Error(said, len(s.asked))
		}
	})
}
