package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"unicode"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
)

// A Problem is the body of an error response (RFC 9457).
type Problem struct {
	Type     string            `json:"type"`
	Title    string            `json:"title"`
	Status   int               `json:"status"`
	Detail   string            `json:"detail"`
	Findings []json.RawMessage `json:"findings,omitempty"`
}

// problem responds with an error: as a page if the client wants one, else as JSON.
func problem(w http.ResponseWriter, r *http.Request, status int, detail string, findings ...json.RawMessage) {
	tellProblem(w, r, wantsPage(r), status, detail, findings...)
}

func tellProblem(w http.ResponseWriter, r *http.Request, page bool, status int, detail string, findings ...json.RawMessage) {
	p := Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: display.Line(strings.TrimPrefix(detail, "journal: ")).String(), Findings: findings}
	if page {
		show(w, status, viewOf(r, string(headingOf(status))).problem(&p, r.PathValue("run"), formAgain(r, status)))
		return
	}
	writeJSON(w, status, "application/problem+json", p)
}

// typedFields are the fields of forms that people type into, with their labels.
var typedFields = []struct{ name, label html.Name }{{"reason", "Reason"}, {"value", "JSON"}, {"set", "Values at the start, one a line"}}

// keptFields are the fields of forms that a page fills in.
var keptFields = []html.Name{"call", "instance", "digest", "then", "at", "was"}

// formAgain returns the form of a refused request as the person filled it in, so that it can be
// corrected and sent again. It returns nothing if nothing was typed, or if the caller may not send
// the form.
func formAgain(r *http.Request, status int) html.Item {
	if r.Method != http.MethodPost || callerOf(r) == nil || status == http.StatusUnauthorized || status == http.StatusForbidden {
		return html.Item{}
	}
	var fields []html.Item
	for _, f := range typedFields {
		if value := typed(r, string(f.name)); value != "" {
			fields = append(fields, el("p", el("label", text(f.label, " "), el("textarea", attr("name", f.name), attr("rows", "6"), attr("spellcheck", "false"), html.Lines(value)))))
		}
	}
	if len(fields) == 0 {
		return html.Item{}
	}
	for _, name := range keptFields {
		if value := typed(r, string(name)); value != "" {
			fields = append(fields, hidden(name, value))
		}
	}
	decision := r.PostFormValue("decision")
	return html.Join(words("h2", "What you typed"),
		el("form", attr("method", "post"), html.Action(path(strings.Split(strings.Trim(r.URL.Path, "/"), "/")...)), html.Join(fields...),
			el("button", when(decision != "", attr("name", "decision"), exactly("value", decision)), text("Send it again"))))
}

// known passes requests to the routes of a mux, and responds with a problem if there is no route:
// 404, or 405 if the path has routes for other methods.
func known(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		plain := &unsent{header: http.Header{}}
		h.ServeHTTP(plain, r)
		detail := fmt.Sprintf("there is nothing at %s; GET /v1/openapi.json describes what there is", r.URL.Path)
		if allow := plain.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			detail = fmt.Sprintf("%s takes %s, and not %s", r.URL.Path, allow, r.Method)
		}
		page := wantsPage(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
		tellProblem(w, r, page, plain.status, detail)
	})
}

// unsent is a response writer that keeps only the headers and the status.
type unsent struct {
	header http.Header
	status int
}

func (u *unsent) Header() http.Header         { return u.header }
func (u *unsent) Write(b []byte) (int, error) { return len(b), nil }
func (u *unsent) WriteHeader(status int)      { u.status = status }

// fail responds with the status that fits an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if _, ok := errors.AsType[*runner.FullError](err); ok {
		w.Header().Set("Retry-After", "1")
	}
	var findings []json.RawMessage
	if plan, ok := errors.AsType[*plc.PlanError](err); ok {
		findings = findingsOf(plan.Findings)
	}
	status, err := statusOf(err)
	problem(w, r, status, err.Error(), findings...)
}

// statusOf returns the status that fits an error, and the error to show.
func statusOf(err error) (int, error) {
	var (
		plan     *plc.PlanError
		setting  *plc.SpecError
		value    *plc.ValueError
		missing  *journal.MissingError
		held     *journal.HeldError
		answered *journal.AnswerError
		unfit    *plc.UnfitError
		waits    *plc.NotWaitingError
		rejected *plc.RejectedError
		undone   *plc.UndoneError
		undoes   *plc.UndoesError
		changed  *plc.ChangedPlanError
		nothing  *plc.NothingUndoneError
		ended    *plc.EndedError
		gone     *plc.ChangedRunError
		unseen   *plc.UnseenError
		full     *runner.FullError
		large    *http.MaxBytesError
		bad      *badRequest
	)
	status := http.StatusInternalServerError
	switch {
	case errors.As(err, &plan):
		status = http.StatusUnprocessableEntity
	case errors.As(err, &setting), errors.As(err, &value), errors.As(err, &unfit), errors.Is(err, forecast.ErrGivenUp):
		status = http.StatusUnprocessableEntity
	case errors.As(err, &missing):
		status = http.StatusNotFound
	case errors.As(err, &held), errors.As(err, &answered), errors.As(err, &waits), errors.As(err, &rejected),
		errors.As(err, &undone), errors.As(err, &undoes), errors.As(err, &changed), errors.As(err, &nothing),
		errors.As(err, &ended), errors.As(err, &gone), errors.As(err, &unseen):
		status = http.StatusConflict
	case errors.As(err, &full):
		status = http.StatusServiceUnavailable
		if full.Owner {
			status = http.StatusTooManyRequests
		}
	case errors.As(err, &large):
		status = http.StatusRequestEntityTooLarge
		err = fmt.Errorf("the request has more than %d MiB, which is the most that is taken here; POST %s takes larger files of instances", large.Limit>>20, uploadPath)
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, err = http.StatusRequestTimeout, errors.New("the body of the request did not come in time")
	case errors.Is(err, io.ErrUnexpectedEOF):
		status, err = http.StatusBadRequest, errors.New("the body of the request ends too early")
	case errors.As(err, &bad):
		status = bad.status
	}
	return status, err
}

// A badRequest is an error that the client has caused.
type badRequest struct {
	status  int
	message string
}

func (e *badRequest) Error() string { return e.message }

func badf(status int, format string, args ...any) error {
	return &badRequest{status, fmt.Sprintf(format, args...)}
}

// findingsOf returns findings in the format of plc check --format json.
func findingsOf(list diag.List) []json.RawMessage {
	var lines bytes.Buffer
	if err := diag.WriteJSON(&lines, list); err != nil {
		panic(err) // a buffer returns no errors
	}
	all := []json.RawMessage{}
	for line := range bytes.Lines(lines.Bytes()) {
		all = append(all, bytes.TrimSpace(line))
	}
	return all
}

func writeJSON(w http.ResponseWriter, status int, kind string, v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // our own types
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	w.Write(text.Bytes()) // the client may be gone
}

func answer(w http.ResponseWriter, status int, v any) { writeJSON(w, status, "application/json", v) }

// readBody reads the JSON of a request. Unknown members are errors.
func readBody(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return decode(text, into)
}

// bodyFault returns the text of an error of package json without names of Go types.
func bodyFault(err error) string {
	kind, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	var path []string
	for _, name := range strings.Split(kind.Field, ".") {
		if name != "" && !unicode.IsUpper(rune(name[0])) { // otherwise it is an embedded struct
			path = append(path, name)
		}
	}
	what := "it"
	if len(path) > 0 {
		what = fmt.Sprintf("the member %q", strings.Join(path, "."))
	}
	wants := "a number"
	switch kind.Type.Kind() {
	case reflect.Struct, reflect.Map:
		wants = "an object"
	case reflect.Slice, reflect.Array:
		wants = "a list"
	case reflect.String:
		wants = "a string"
	case reflect.Bool:
		wants = "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		wants = "a whole number"
	}
	return fmt.Sprintf("%s has to be %s, and is of the kind %s", what, wants, kind.Value)
}

func decode(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return badf(http.StatusBadRequest, "the body is not what is expected here: %s", bodyFault(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return badf(http.StatusBadRequest, "the body has more than one JSON value")
	}
	return nil
}
