//go:build unix

package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool/internal/secret"
)

// No part of a secret that is longer than what an error quotes gets into the error.
func TestErrorsQuoteNoPartOfASecret(t *testing.T) {
	token := "S3CR3T-" + strings.Repeat("abcdefghij", 60) + "-TAIL" // longer than all that is quoted of a message
	known := secret.New(token)
	hide := hider{known.Message, known.Value}
	in := strings.Repeat("x", 180) + token // the secret begins before the cut
	escaped := `\u0053` + token[1:]

	said := map[string]string{}
	for name, message := range map[string]string{
		"not JSON":           `{"jsonrpc":"2.0","id":1,"result":` + token,
		"not JSON, no id":    `{"jsonrpc":"2.0","result":` + token,
		"a broken string":    `{"jsonrpc":"2.0","id":1,"result":"` + in,
		"a name twice":       `{"jsonrpc":"2.0","id":1,"` + token + `":1,"` + token + `":2}`,
		"an escaped name":    `{"jsonrpc":"2.0","id":1,"` + escaped + `":1,"` + escaped + `":2}`,
		"an unpaired escape": `{"jsonrpc":"2.0","id":1,"result":{"a":"` + token + `\ud800"}}`,
	} {
		got, err := faithful([]byte(message), hide)
		if said[name] = fmt.Sprint(gjson.GetBytes(got, "error.message").Str, err); said[name] == "" {
			t.Errorf("%s: nothing is wrong with it", name)
		}
	}
	for name, message := range map[string]string{
		"an initialization": `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":5,"x":"Bearer ` + token + `"}}`,
		"beside a content":  `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":"` + token + `"}}`,
		"an error":          `{"jsonrpc":"2.0","id":1,"error":{"code":"` + token + `"}}`,
	} {
		got, err := faithful([]byte(message), hide)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Result struct {
				ProtocolVersion string
				IsError         bool
			}
			Error struct{ Code int }
		}
		said[name] = fmt.Sprint(json.Unmarshal(got, &m)) // as the SDK would
	}
	quoted := secret.New(`se"cret-` + token)
	if got, err := faithful([]byte(`{"jsonrpc":"2.0","id":1,"result":"se"cret-`+token+`"}`), hider{quoted.Message, quoted.Value}); err != nil {
		t.Error(err)
	} else if said["a secret that breaks JSON"] = gjson.GetBytes(got, "error.message").Str; strings.Contains(said["a secret that breaks JSON"], "nil") {
		t.Error(said)
	}
	for name, result := range map[string]string{
		"a tool's failure":            `{"isError":true,"content":[{"type":"text","text":"` + strings.Repeat("x", maxStderr-20) + token + `"}]}`,
		"a tool's failure in JSON":    `{"isError":true,"structuredContent":{"a":"` + token + `"}}`,
		"a failure with escapes":      `{"isError":true,"structuredContent":{"a":"` + escaped + `"}}`,
		"a content that does not fit": `{"content":[{"type":"` + token + `"},{"type":"text","text":"a"}]}`,
	} {
		_, err := value(t.Context(), gjson.Parse(result), nil, hide)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		said[name] = fmt.Sprint(err)
	}
	for name, written := range map[string]string{
		"standard error":             in,
		"much on standard error":     strings.Repeat("y", 2*maxStderr) + token[:300] + "\n" + token + "\nend",
		"a cut line":                 token + strings.Repeat("z", 2*maxStderr-len(token)+100),
		"lines of secrets":           strings.Repeat(token+"\n", 100),
		"more secrets than are kept": strings.Repeat(token, 200) + "\nend",
	} {
		kept := &tail{hide: hide}
		for len(written) > 0 { // as it comes through a pipe
			n := min(len(written), 1000)
			_, _ = kept.Write([]byte(written[:n]))
			written = written[n:]
		}
		said[name] = kept.String()
	}
	c := &child{hide: hide, stderr: &tail{hide: hide}, lines: make(chan line, 1)}
	noise := 0
	_, _ = c.message([]byte(in), &noise)
	said["noise"] = c.stderr.String()
	c.stderr = &tail{hide: hide}
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString([]byte(token))), 250) {
		_, _ = c.message(line, &noise)
	}
	if said["noise in lines"] = c.stderr.String(); said["noise in lines"] != "•••" {
		t.Errorf("lines of noise: %q", said["noise in lines"])
	}
	c.lines <- line{text: []byte(`{"jsonrpc":"2.0","id":{"a":"` + token + `"},"result":{}}`)}
	_, err := c.Read(t.Context())
	said["a message with a bad id"] = fmt.Sprint(err)

	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(nethttp.StatusForbidden)
		fmt.Fprint(w, in, strings.Repeat("x", maxStderr-len(in)-20), token)
	}))
	defer server.Close()
	w, err := newWeb(&Server{URL: server.URL}, hide)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&nethttp.Client{Transport: w}).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body strings.Builder
	_, _ = fmt.Fprintf(&body, "%v", w.explain(err))
	_ = res.Write(&body)
	said["a status"] = body.String()
	told := &jsonrpc.Error{Message: strings.Repeat("\r", 3) + token}
	said["a refusal"] = refusal(told, hide.head([]byte(told.Message), maxStderr)).Message

	for name, text := range said {
		if strings.Contains(text, token[:7]) || strings.Contains(text, token[20:60]) || strings.Contains(text, "-TAIL") || strings.Contains(text, escaped[:8]) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if raw := json.RawMessage(`{"isError":true,"structuredContent":{"a":1}}`); toolError(gjson.ParseBytes(raw), hide).Error() != toolError(gjson.ParseBytes(raw), hider{}).Error() {
		t.Error("what holds no secret has changed")
	}
}

// What a server says in an error of the protocol is cut, after its secrets were taken out.
func TestLongErrorsOfTheProtocol(t *testing.T) {
	known := secret.New("S3CR3T-abcdefghijklmnopqrstuvwxyz")
	serve := func(mode string) *Pool {
		s := stdio(mode, "TOKEN=S3CR3T-abcdefghijklmnopqrstuvwxyz")
		s.Redact, s.RedactValue = known.Message, known.Value
		return open(t, nil, s)
	}
	_, err := call(t, serve("verbose"), "a", "{}")
	for name, said := range map[string]string{"a call": failed(t, err).Message, "the list of tools": fmt.Sprint(serve("refusing").Findings())} {
		if len(said) > maxStderr+500 || strings.Contains(said, "S3C") || name == "a call" && !strings.Contains(said, "•••") {
			t.Errorf("%s: %d bytes, which end with %q", name, len(said), said[max(0, len(said)-100):])
		}
	}
}
