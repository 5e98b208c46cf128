package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// calls counts the calls of tools that are made up of definitions.
type calls struct {
	mu   sync.Mutex
	made []string
}

func (c *calls) count(tool string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.made {
		if strings.HasPrefix(m, tool+"{") {
			n++
		}
	}
	return n
}

// activity is one that gives a result, by the params.
type activity func(params string) (string, error)

func gives(result string) activity { return func(string) (string, error) { return result, nil } }

func failing(code, message string) activity {
	return func(string) (string, error) { return "", &tool.Error{Code: code, Message: message, Permanent: true} }
}

// made are tools of these definitions, by name; one without an activity is latent.
func (c *calls) tools(t *testing.T, definitions map[string]string, activities map[string]activity) *tool.Catalogue {
	t.Helper()
	var list []*tool.Tool
	for name, raw := range definitions {
		d, findings := tool.ParseDefinition(json.RawMessage(raw), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		made := &tool.Tool{Definition: d, Source: "go"}
		if f := activities[name]; f != nil {
			made.Driver = "go"
			made.Activity = tool.ActivityFunc(func(_ context.Context, req *tool.Request) (tool.Result, error) {
				c.mu.Lock()
				c.made = append(c.made, req.Tool+string(req.Params))
				c.mu.Unlock()
				result, err := f(string(req.Params))
				return tool.Result{Value: json.RawMessage(result)}, err
			})
		}
		list = append(list, made)
	}
	return tool.NewCatalogue(list...)
}

// ways runs a test with whole answers, and with answers that come in pieces.
func ways(t *testing.T, f func(t *testing.T, piece int)) {
	for _, piece := range []int{0, 1, 7} {
		t.Run(fmt.Sprintf("in pieces of %d", piece), func(t *testing.T) { f(t, piece) })
	}
}

type scene struct {
	task    loop.Task
	opts    loop.Options
	answers []string
	asked   []string // what the planner was asked, turn by turn
	calls   calls
}

func (s *scene) solve(t *testing.T, piece int) *loop.Result {
	t.Helper()
	script := loop.Say(s.answers...)
	script.Piece = piece
	script.OnTurn = func(turn *model.Turn) { s.asked = append(s.asked, turn.Messages[0].Text) }
	s.task.Planner = script
	result, err := loop.Solve(t.Context(), &s.task, &s.opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func wants(t *testing.T, r *loop.Result, status exec.Status, output, state string) {
	t.Helper()
	if r.Status != status || output != string(r.Output) || state != string(r.State) {
		t.Errorf("%s (%s), output %s, state %s; want %s, %s, %s", r.Status, r.Reason, r.Output, r.State, status, output, state)
	}
}

// The refund of the † dialect: both calls of the first plan are made, and the one that is listed
// again is not made again.
func TestRefund(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := &scene{}
		s.task = loop.Task{
			Context: json.RawMessage(`[{"type":"input","request":"I'd like a refund for my last order.","customerId":"cust_123","amount":50.0}]`),
			Schema:  json.RawMessage(`{"type":"object","properties":{"confirmationId":{"type":"string"},"message":{"type":"string"}}}`),
			Catalogue: s.calls.tools(t, map[string]string{
				"checkBillingHistory": `{"type":"object","properties":{"customerId":{"type":"string"},"_outputPath":{"const":"†state.billingHistory"}},"required":["customerId"],"effects":{"readOnly":true}}`,
				"issueRefund":         `{"type":"object","properties":{"customerId":{"type":"string"},"amount":{"type":"number"}},"effects":{"readOnly":false}}`,
			}, map[string]activity{
				"checkBillingHistory": gives(`{"orders":5,"lastChargeback":"2025-09-10"}`),
				"issueRefund":         gives(`"refund_xyz789"`),
			}),
		}
		s.answers = []string{
			`{"calls":[{"_tool":"checkBillingHistory","customerId":"†input.customerId"},{"_tool":"issueRefund","customerId":"†input.customerId","amount":"†input.amount"}],"output":null}`,
			`{"calls":[{"_tool":"issueRefund","customerId":"†input.customerId","amount":"†input.amount"}],"output":{"confirmationId":"refund_xyz789","message":"The refund has been processed successfully."}}`,
		}
		r := s.solve(t, piece)
		wants(t, r, exec.Completed, `{"confirmationId":"refund_xyz789","message":"The refund has been processed successfully."}`,
			`{"billingHistory":{"orders":5,"lastChargeback":"2025-09-10"}}`)
		if s.calls.count("issueRefund") != 1 || s.calls.count("checkBillingHistory") != 1 || r.Turns != 2 {
			t.Errorf("%d turns: %v", r.Turns, s.calls.made)
		}
		for _, want := range []string{`¶state`, `"orders":5`, `## Plan`, `issueRefund: completed`} {
			if !strings.Contains(s.asked[1], want) {
				t.Errorf("the second request has no %s:\n%s", want, s.asked[1])
			}
		}
	})
}

// A payment fails; the error is on the whiteboard, what needed the receipt is skipped, and the
// planner reports the failure.
func TestFailedPayment(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := &scene{}
		s.task = loop.Task{
			Context: json.RawMessage(`[{"type":"tool","tool":"Tool.processPayment"},{"type":"input","amount":50.0}]`),
			Schema:  json.RawMessage(`{"type":"object","nullable":true,"properties":{"status":{"type":"string","enum":["Success","Failed"]}}}`),
			Catalogue: s.calls.tools(t, map[string]string{
				"processPayment": `{"properties":{"amount":{"type":"number"}},"effects":{"readOnly":false}}`,
				"confirmOrder":   `{"properties":{"receipt":{}}}`,
				"reportFailure":  `{"properties":{"error":{}}}`,
			}, map[string]activity{
				"processPayment": failing("card_declined", "Your card was declined."),
				"confirmOrder":   gives(`true`), "reportFailure": gives(`true`),
			}),
		}
		s.answers = []string{
			`{"calls":[{"_tool":"processPayment","amount":"†input.amount","_outputPath":"†state.receipt || †state.error"},{"_tool":"confirmOrder","receipt":"†state.receipt"}],"output":null}`,
			"```json\n" + `{"calls":[{"_tool":"reportFailure","error":"†state.error"}],"output":{"status":"Failed"}}` + "\n```",
		}
		r := s.solve(t, piece)
		if r.Status != exec.Completed || string(r.Output) != `{"status":"Failed"}` || s.calls.count("confirmOrder") != 0 || s.calls.count("reportFailure") != 1 {
			t.Errorf("%s %s %s: %v", r.Status, r.Reason, r.Output, s.calls.made)
		}
		for _, want := range []string{`"code":"card_declined"`, `confirmOrder: skipped`} {
			if !strings.Contains(s.asked[1], want) {
				t.Errorf("the second request has no %s:\n%s", want, s.asked[1])
			}
		}
	})
}

// A state that is only a schema is the blueprint by which a plan is made: its slots are where the
// calls write.
func TestTranslation(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := &scene{}
		s.task = loop.Task{
			Context: json.RawMessage(`[{"type":"tool","tool":"Tool.detectLanguage"},{"type":"tool","tool":"Tool.isEnglish"},{"type":"tool","tool":"Tool.translateText"},
				{"type":"input","text":"Bonjour le monde"},
				{"type":"state","schema":{"type":"object","properties":{"language":{"type":"string"},"isEnglish":{"type":"boolean"},"translatedText":{"type":"string"}}}}]`),
			Catalogue: s.calls.tools(t, map[string]string{
				"detectLanguage": `{"properties":{"text":{"type":"string"},"_output":{"type":"string"}},"required":["text"]}`,
				"isEnglish":      `{"properties":{"language":{"type":"string"},"_output":{"type":"boolean"}},"required":["language"]}`,
				"translateText":  `{"properties":{"text":{"type":"string"},"isEnglish":{"type":"boolean"},"_output":{"type":"string"}},"required":["text"]}`,
			}, map[string]activity{"detectLanguage": gives(`"fr"`), "isEnglish": gives(`false`), "translateText": gives(`"Hello world"`)}),
		}
		plan := `[{"_tool":"detectLanguage","text":"†input.text","_outputPath":"†state.language"},
			{"_tool":"isEnglish","language":"†state.language","_outputPath":"†state.isEnglish"},
			{"_tool":"translateText","text":"†input.text","isEnglish":"†state.isEnglish","_outputPath":"†state.translatedText"}]`
		s.answers = []string{`{"calls":[{"_tool":"detectLanguage","text":"†input.text","_outputPath":"†state.isEnglish"}],"output":null}`, // a slot of another type
			`{"calls":` + plan + `,"output":null}`, `{"calls":` + plan + `,"output":"†state.translatedText"}`}
		r := s.solve(t, piece)
		wants(t, r, exec.Completed, `"Hello world"`, `{"language":"fr","isEnglish":false,"translatedText":"Hello world"}`)
		if len(s.calls.made) != 3 || !strings.Contains(s.asked[0], "Schema for ¶state:") || !strings.Contains(s.asked[1], "/calls/0") {
			t.Errorf("%v\n%s", s.calls.made, s.asked[1])
		}
	})
}

// Comments are moderated in instances of their own, one call each; a global input is seen by all,
// and the next turn works on one of them only.
func TestModeration(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := &scene{}
		s.task = loop.Task{
			Context: json.RawMessage(`[{"type":"input","rules":"no ads"},
				{"type":"state","_instance":"c1","state":{"comment":"nice"}},{"type":"state","_instance":"c2","state":{"comment":"buy now"}},{"type":"state","_instance":"c3","state":{"comment":"hm"}}]`),
			Catalogue: s.calls.tools(t, map[string]string{
				"moderateComment": `{"properties":{"comment":{"type":"string"},"rules":{"type":"string"}}}`, "hide": `{"properties":{"comment":{"type":"string"}},"effects":{"readOnly":false}}`,
			}, map[string]activity{"hide": gives(`true`), "moderateComment": func(params string) (string, error) {
				return fmt.Sprint(!strings.Contains(params, "buy") && strings.Contains(params, "no ads")), nil
			}}),
		}
		var calls []string
		for _, c := range []string{"c1", "c2", "c3"} {
			calls = append(calls, `{"_tool":"moderateComment","_instance":"`+c+`","comment":"†state.comment","rules":"†input.rules","_outputPath":"†state.fine"}`)
		}
		s.answers = []string{`{"calls":[` + strings.Join(calls, ",") + `],"output":null}`,
			`{"calls":[{"_tool":"hide","_instance":"c2","comment":"†state.comment","_outputPath":"†state.hidden"}],"output":"one hidden"}`}
		r := s.solve(t, piece)
		if r.Status != exec.Completed || s.calls.count("moderateComment") != 3 || s.calls.count("hide") != 1 {
			t.Errorf("%+v %v", r, s.calls.made)
		}
		for _, want := range []string{`{"comment":"nice","fine":true}`, `{"comment":"buy now","fine":false}`, `{"comment":"hm","fine":true}`} {
			if !strings.Contains(s.asked[1], want) {
				t.Errorf("the second request has no %s:\n%s", want, s.asked[1])
			}
		}
	})
}
