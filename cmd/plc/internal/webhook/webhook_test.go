package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// A service is what hooks are told by: it notes each request, and answers as it likes.
type service struct {
	mu     sync.Mutex
	got    []*request
	answer func(n int, r *request) int // n is how many came before
}

type request struct {
	id, signature string
	at            time.Time
	body          struct {
		Type Kind
		Data data
	}
	text []byte
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	text, _ := io.ReadAll(r.Body)
	q := &request{id: r.Header.Get("Webhook-Id"), signature: r.Header.Get("Webhook-Signature"), at: time.Now(), text: text}
	if err := json.Unmarshal(text, &q.body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status := 200
	if s.answer != nil {
		status = s.answer(len(s.got), q)
	}
	s.got = append(s.got, q)
	if status == 0 {
		return nil, errors.New("the line is cut")
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}, nil
}

// requests returns the requests that the service got, in order.
func (s *service) requests() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// kinds returns what the service was told, in order.
func (s *service) kinds() (all []string) {
	for _, q := range s.requests() {
		all = append(all, string(q.body.Type)+" "+string(q.body.Data.Status))
	}
	return all
}

var (
	keyA = []byte("0123456789abcdef0123456789abcdef")
	keyB = []byte("another key of thirty-two bytes.")
)

func engine(t *testing.T, store journal.Store) *plc.Engine {
	wipe := tool.Func("wipe", "Wipes.", func(_ context.Context, in struct {
		What  string `json:"what"`
		Where string `json:"where,omitempty"`
	}) (string, error) {
		if in.What == "" {
			return "", errors.New("nothing to wipe in " + in.Where)
		}
		return in.What, nil
	})
	e := plc.New(plc.Config{Tools: []*tool.Tool{wipe}, Store: store})
	t.Cleanup(func() { e.Close() })
	return e
}

func begin(t *testing.T, e *plc.Engine, plan string, calls plc.ApproveCalls) *exec.Result {
	t.Helper()
	res, err := e.Run(t.Context(), plc.Spec{Plan: plc.Text(plan), Approvals: plc.Approvals{Calls: calls}, Labels: map[string]string{"team": "a"}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func page(run string, decides bool) string {
	if decides {
		return "https://plc.example/inbox?run=" + run
	}
	return "https://plc.example/runs/" + run
}

// A hook is told what waits, what ended and what failed, each once, with both signatures while a
// key is changed. A message that the service did not take is sent again, with the same id.
func TestTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		e := engine(t, store)
		begin(t, e, `[{"_tool": "wipe", "what": "before"}]`, plc.ApproveNone) // nobody is told of it
		time.Sleep(time.Second)
		s := &service{answer: func(n int, _ *request) int { return []int{500, 0, 200}[min(n, 2)] }}
		o := Options{Store: store, Hooks: []*Hook{{Name: "h", URL: "https://hook.example", Keys: [][]byte{keyA, keyB}}}, Page: page, transport: s}
		sender := Start(t.Context(), o)
		time.Sleep(time.Second)
		res := begin(t, e, `[{"_tool": "wipe", "what": "x", "_id": "a"}]`, plc.ApproveAll)
		time.Sleep(time.Minute)
		if got, want := s.kinds(), []string{"run.question paused", "run.question paused", "run.question paused"}; !slices.Equal(got, want) {
			t.Fatalf("told %q, want %q", got, want)
		}
		all := s.requests()
		first := all[0]
		if all[1].id != first.id || all[2].id != first.id {
			t.Errorf("the id changes")
		}
		if d := first.body.Data; d.Run != res.Run || d.Link != page(res.Run, true) || d.Asked != 1 || d.Questions[0].Call != "a" || d.Questions[0].Tool != "wipe" || d.Labels["team"] != "a" {
			t.Errorf("%+v", d)
		}
		if strings.Contains(string(first.text), `"x"`) {
			t.Errorf("a param is sent: %s", first.text)
		}
		for _, q := range s.requests() {
			for i, key := range [][]byte{keyA, keyB} {
				if want := (&Hook{Keys: [][]byte{key}}).sign(q.id, q.at, q.text); strings.Split(q.signature, " ")[i] != want {
					t.Errorf("signature %q, want %q", q.signature, want)
				}
			}
		}
		open, err := e.Questions(t.Context(), res.Run)
		if err != nil || len(open) != 1 {
			t.Fatal(open, err)
		}
		if err := e.Answer(t.Context(), res.Run, journal.Answer{Path: "a", Answer: exec.Answer{Approved: true, Digest: open[0].Digest}}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Resume(t.Context(), res.Run, plc.Change{}); err != nil {
			t.Fatal(err)
		}
		begin(t, e, `[{"_tool": "wipe", "what": "", "where": "cellar"}]`, plc.ApproveNone)
		time.Sleep(time.Minute)
		for _, q := range s.requests() {
			if q.body.Type != Failed {
				continue
			}
			if strings.Contains(string(q.text), "cellar") || !strings.HasPrefix(q.body.Data.Reason, `"wipe" failed: `) {
				t.Errorf("told %s", q.text)
			}
		}
		got := s.kinds()[3:]
		if slices.Sort(got); !slices.Equal(got, []string{"run.ended completed", "run.failed failed"}) {
			t.Errorf("told %q", got)
		}
		sender.Close()
		sender = Start(t.Context(), o) // the next one has nothing to tell
		time.Sleep(time.Hour)
		if n := len(s.kinds()); n != 5 {
			t.Errorf("told %q", s.kinds())
		}
		sender.Close()
	})
}

// What was not told when a server ended is told by the next one, with the same id. What was
// answered meanwhile is not told.
func TestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		e := engine(t, store)
		s := &service{answer: func(int, *request) int { return 503 }}
		o := Options{Store: store, Hooks: []*Hook{{Name: "h", URL: "https://hook.example", Keys: [][]byte{keyA}}}, transport: s}
		sender := Start(t.Context(), o)
		time.Sleep(time.Second)
		done := begin(t, e, `[{"_tool": "wipe", "what": "x"}]`, plc.ApproveNone)
		asked := begin(t, e, `[{"_tool": "wipe", "what": "x", "_id": "a"}]`, plc.ApproveAll)
		time.Sleep(time.Minute)
		sender.Close()
		open, _ := e.Questions(t.Context(), asked.Run)
		if err := e.Answer(t.Context(), asked.Run, journal.Answer{Path: "a", Answer: exec.Answer{Skip: true, Digest: open[0].Digest}}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Resume(t.Context(), asked.Run, plc.Change{}); err != nil {
			t.Fatal(err)
		}
		before := map[string]string{}
		for _, q := range s.got {
			before[q.body.Data.Run] = q.id
		}
		s.got, s.answer = nil, nil
		one, two := Start(t.Context(), o), Start(t.Context(), o) // of several servers, one tells
		time.Sleep(time.Minute)
		one.Close()
		two.Close()
		told := map[string]string{}
		for _, q := range s.got {
			told[q.body.Data.Run] = string(q.body.Type)
			if q.body.Data.Run == done.Run && q.id != before[done.Run] {
				t.Errorf("the id changes")
			}
		}
		if len(s.got) != 2 || told[done.Run] != "run.ended" || told[asked.Run] != "run.ended" {
			t.Errorf("told %q", s.kinds())
		}
	})
}

// A service that is away for days misses what is older, and one that is gone is left alone. Another
// hook is told all the same.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		e := engine(t, store)
		var logged []string
		bad := &service{answer: func(_ int, q *request) int {
			if strings.Contains(string(q.text), "run.failed") {
				return 410
			}
			return 404
		}}
		s := Start(t.Context(), Options{
			Store: store, Hooks: []*Hook{{Name: "bad", URL: "https://bad.example", Events: []Kind{Ended, Failed}, Keys: [][]byte{keyA}}},
			Log: func(text string) { logged = append(logged, text) }, transport: bad,
		})
		time.Sleep(time.Second)
		begin(t, e, `[{"_tool": "wipe", "what": "x"}]`, plc.ApproveNone)
		begin(t, e, `[{"_tool": "wipe", "what": "x"}]`, plc.ApproveAll) // no kind that is wanted
		time.Sleep(80 * time.Hour)
		n := len(bad.kinds())
		if n < 70 || n > 140 || bad.kinds()[0] != "run.ended completed" || bad.got[n-1].at.Sub(bad.got[0].at) > giveUp {
			t.Errorf("%d attempts", n)
		}
		begin(t, e, `[{"_tool": "wipe", "what": ""}]`, plc.ApproveNone)
		time.Sleep(10 * time.Hour)
		if len(bad.kinds()) != n+1 {
			t.Errorf("%d attempts after it was gone", len(bad.kinds())-n)
		}
		s.Close()
		for _, text := range logged {
			if strings.Contains(text, "bad.example") {
				t.Errorf("the URL is told: %s", text)
			}
		}
	})
}

// A hook does not lead to an address that is not public, also not by a redirect.
func TestPrivateAddress(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") }))
	defer inside.Close()
	redirect := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	attempt := func(h *Hook) error {
		s := &Sender{}
		l := &notifier{Sender: s, hook: h, client: s.client(h)}
		err, _ := l.attempt(t.Context(), &message{})
		return err
	}
	if err := attempt(&Hook{URL: inside.URL}); err == nil || !strings.Contains(err.Error(), "allowPrivate") || strings.Contains(err.Error(), inside.URL) {
		t.Error(err)
	}
	if err := attempt(&Hook{URL: redirect.URL, AllowPrivate: true}); err == nil || !strings.Contains(err.Error(), "307") {
		t.Error(err)
	}
}

// What Slack is sent has names as plain text.
func TestSlack(t *testing.T) {
	m := &message{Type: Question, Data: data{Run: "R", Plan: "<!channel> *b*", Asked: 1, Questions: []question{{Call: "a\u202e", Tool: "wipe", Reason: "it may destroy"}}, Link: "https://plc.example/inbox?run=R"}}
	var got struct {
		Text   string
		Blocks []struct {
			Text     struct{ Type, Text string }
			Elements []struct{ URL string }
		}
	}
	if err := json.Unmarshal(m.body(true), &got); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Text, "<!") || strings.Contains(got.Text, "\u202e") || got.Blocks[0].Text.Type != "plain_text" || got.Blocks[1].Elements[0].URL != m.Data.Link ||
		!strings.Contains(got.Text, "1 call waits for a person\n• a") {
		t.Errorf("%s", m.body(true))
	}
}

// A file of hooks is read, and what is wrong with one is said without its secrets.
func TestRead(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"KEY": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "URL": "https://hooks.example/s3cret", "SHORT": "whsec_czNjcmV0", "HTTP": "http://a.example/s3cret"}[name]
		return v, ok
	}
	all, err := Read("hooks.yaml", []byte("webhooks:\n- {name: a, url: 'https://a.example', secretsFrom: [KEY], events: [run.failed]}\n- {name: s, urlFrom: URL, format: slack}"), lookup)
	if err != nil || len(all) != 2 || string(all[0].Keys[0]) != string(keyA) || !all[1].Slack || all[0].wants(Ended) || !all[1].wants(Ended) {
		t.Fatalf("%+v %v", all, err)
	}
	for text, want := range map[string]string{
		`{}`:                                                                                        "no webhooks",
		`{"webhooks": [{"name": "A b"}]}`:                                                           "its name",
		`{"webhooks": [{"name": "a", "x": 1}]}`:                                                     "unknown field",
		`{"webhooks": [{"name": "a", "url": ""}]}`:                                                  "url or urlFrom",
		`{"webhooks": [{"name": "a", "urlFrom": "NO"}]}`:                                            "NO is not set",
		`{"webhooks": [{"name": "a", "urlFrom": "URL"}]}`:                                           "secretsFrom is missing",
		`{"webhooks": [{"name": "a", "urlFrom": "HTTP", "format": "slack"}]}`:                       "begin with https:",
		`{"webhooks": [{"name": "a", "urlFrom": "URL", "secretsFrom": ["SHORT"]}]}`:                 "SHORT is not whsec_",
		`{"webhooks": [{"name": "a", "urlFrom": "URL", "format": "xml"}]}`:                          "neither standard nor slack",
		`{"webhooks": [{"name": "a", "urlFrom": "URL", "format": "slack", "events": ["run.run"]}]}`: "no event",
		`{"webhooks": [{"name": "a", "urlFrom": "URL", "format": "slack"}, {"name": "a", "urlFrom": "URL", "format": "slack"}]}`: "two with this name",
	} {
		if _, err := Read("hooks.json", []byte(text), lookup); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestToldNothingOfValues checks that reasons which may quote params and results are not told.
func TestToldNothingOfValues(t *testing.T) {
	for name, e := range map[string]*exec.Event{
		"a failed run":  {Type: exec.RunFinished, Status: exec.Failed, Reason: `"a" failed: no: secret`},
		"an undone run": {Type: exec.RunFinished, Status: exec.Undone, Reason: `"a" failed: no: secret`},
		"a failure":     {Type: exec.ApprovalAsked, Question: exec.FailureQuestion, Reason: "it failed: no: secret"},
		"a lost answer": {Type: exec.ApprovalAsked, Question: exec.UncertainQuestion, Reason: "its answer was lost: secret"},
		"a policy": {Type: exec.ApprovalAsked, Question: exec.ApprovalQuestion, Reason: "this call would make it secret",
			Asked: &exec.Terms{Breaks: []string{"this call would make it secret"}}},
	} {
		told := &messageMaker{sum: &journal.Summary{Run: "R"}}
		told.take(1, e)
		if len(told.messages) != 1 {
			t.Fatalf("%s: %d messages", name, len(told.messages))
		}
		if text := told.messages[0].body(false); bytes.Contains(text, []byte("secret")) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
