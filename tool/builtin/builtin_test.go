package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/builtin"
)

// call calls a tool as a run does, with checks on both sides. An error is its code.
func call(t *testing.T, ctx context.Context, cfg builtin.Config, name, params string) (result, code string) {
	t.Helper()
	b, err := builtin.New(name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Definition.Params.Validate(json.RawMessage(params)); err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	res, err := b.Activity.Call(ctx, &tool.Request{Params: json.RawMessage(params), Definition: b.Definition})
	if err != nil {
		var e *tool.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", params, err)
		}
		return e.Message, e.Code
	}
	value := res.Value
	if value == nil {
		value = json.RawMessage("null")
	}
	if err := b.Definition.Output.Validate(value); err != nil {
		t.Errorf("%s %s gave %s: %v", name, params, value, err)
	}
	return string(value), ""
}

// A policy path that was a file admits that file, whatever takes its place.
func TestFileAdmitsNothingBelow(t *testing.T) {
	dir, cfg := tree(t)
	only := filepath.Join(dir, "one", "only")
	b, err := builtin.New("file.read", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(only); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(only, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(only, "below"), []byte("s3cret"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = b.Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(fmt.Sprintf(`{"path":%q}`, filepath.Join(only, "below"))), Definition: b.Definition})
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != "not-allowed" {
		t.Errorf("the file below it: %v", err)
	}
}

func TestNothingIsThereUnasked(t *testing.T) {
	for _, name := range builtin.Names() {
		_, err := builtin.New(name, builtin.Config{})
		needs := strings.HasPrefix(name, "http.") || strings.HasPrefix(name, "file.") || strings.HasPrefix(name, "dir.")
		if (err != nil) != needs {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := builtin.New("shell", builtin.Config{}); err == nil {
		t.Error("there is a shell")
	}
}

// tree makes a folder "in" that may be reached, and a file beside it that may not.
func tree(t *testing.T) (dir string, cfg builtin.Config) {
	t.Helper()
	dir = t.TempDir()
	in := filepath.Join(dir, "in")
	for name, text := range map[string]string{"in/a.txt": "hällo\n", "in/sub/b.txt": "b", "in/bad.bin": "\xff", "in/big": strings.Repeat("x", 101), "secret": "s3cret", "one/only": "1", "one/other": "2"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": "../secret", "abs": filepath.Join(dir, "secret"), "up": "..", "near": "sub/b.txt", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(in, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, builtin.Config{Paths: []string{in, filepath.Join(dir, "one", "only")}, MaxBytes: 100}
}

func TestRead(t *testing.T) {
	dir, cfg := tree(t)
	for _, c := range []struct{ path, want, code string }{
		{"in/a.txt", `"hällo\n"`, ""},
		{"in/sub/../a.txt", `"hällo\n"`, ""},
		{"in/near", `"b"`, ""},
		{"one/only", `"1"`, ""},
		{"one/other", "", "not-allowed"},
		{"secret", "", "not-allowed"},
		{"in/../secret", "", "not-allowed"},
		{"in/out", "", "not-allowed"},
		{"in/abs", "", "not-allowed"},
		{"in/up/secret", "", "not-allowed"},
		{"in/none", "", "not-found"},
		{"in/loop", "", "io"},
		{"in/sub", "it is a folder", "io"},
		{"in/bad.bin", "", "bad-output"},
		{"in/big", "", "output-too-large"},
		{"in/\x00", "", "bad-params"},
	} {
		params, _ := json.Marshal(map[string]string{"path": dir + "/" + c.path})
		got, code := call(t, t.Context(), cfg, "file.read", string(params))
		if code != c.code || !strings.Contains(got, c.want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s: %s %s, want %s %s", c.path, code, got, c.code, c.want)
		}
	}
}

func TestRelativePathsAreFromHere(t *testing.T) {
	dir, _ := tree(t)
	t.Chdir(dir)
	if got, code := call(t, t.Context(), builtin.Config{Paths: []string{"in"}}, "file.read", `{"path":"./in/sub/b.txt"}`); got != `"b"` {
		t.Error(got, code)
	}
}

func TestWrite(t *testing.T) {
	dir, cfg := tree(t)
	for _, c := range []struct{ path, text, code string }{
		{"in/new.txt", "1", ""},
		{"in/a.txt", "other", ""},
		{"in/x/y/z.txt", "deep", ""},
		{"one/only", "3", ""},
		{"in/none", strings.Repeat("x", 101), "output-too-large"},
		{"in/up/secret", "no", "not-allowed"},
		{"in/out", "no", "not-allowed"},
		{"secret", "no", "not-allowed"},
		{"in/sub", "no", "io"},
		{"in/a.txt/b", "no", "io"},
	} {
		params, _ := json.Marshal(map[string]string{"path": dir + "/" + c.path, "text": c.text})
		got, code := call(t, t.Context(), cfg, "file.write", string(params))
		if code != c.code {
			t.Errorf("%s: %s %s, want %q", c.path, code, got, c.code)
		}
		if written, err := os.ReadFile(filepath.Join(dir, c.path)); c.code == "" && (err != nil || string(written) != c.text || got != `{"bytes":`+strconv.Itoa(len(c.text))+`}`) {
			t.Errorf("%s has %q: %s %v", c.path, written, got, err)
		}
	}
	if secret, err := os.ReadFile(filepath.Join(dir, "secret")); err != nil || string(secret) != "s3cret" {
		t.Errorf("the secret is %q now: %v", secret, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "in/a.txt")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("a file that was replaced has %v: %v", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".plc-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestList(t *testing.T) {
	dir, cfg := tree(t)
	path, _ := json.Marshal(filepath.Join(dir, "in"))
	flat := `[{"name":"a.txt","type":"file","size":7},{"name":"abs","type":"link","size":0},{"name":"bad.bin","type":"file","size":1},{"name":"big","type":"file","size":101},` +
		`{"name":"loop","type":"link","size":0},{"name":"near","type":"link","size":0},{"name":"out","type":"link","size":0},{"name":"sub","type":"dir","size":0},{"name":"up","type":"link","size":0}]`
	if got, code := call(t, t.Context(), cfg, "dir.list", `{"path":`+string(path)+`}`); got != flat {
		t.Errorf("%s %s", code, got)
	}
	deep := strings.Replace(flat, `{"name":"up"`, `{"name":"sub/b.txt","type":"file","size":1},{"name":"up"`, 1)
	if got, code := call(t, t.Context(), cfg, "dir.list", `{"path":`+string(path)+`,"recursive":true}`); got != deep {
		t.Errorf("%s %s", code, got)
	}
	for below, code := range map[string]string{"/up": "not-allowed", "/a.txt": "io", "/none": "not-found", "/..": "not-allowed"} {
		path, _ := json.Marshal(filepath.Join(dir, "in") + below)
		if got, is := call(t, t.Context(), cfg, "dir.list", `{"path":`+string(path)+`}`); is != code {
			t.Errorf("%s: %s %s, want %s", path, is, got, code)
		}
	}
}

func TestGet(t *testing.T) {
	srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"q":"` + r.URL.Query().Get("q") + `","accept":"` + r.Header.Get("Accept") + `","n":1.10}`))
		case "/away":
			nethttp.Redirect(w, r, "http://other.example/", nethttp.StatusFound)
		case "/big":
			_, _ = w.Write(make([]byte, 2000))
		default:
			w.WriteHeader(nethttp.StatusNotFound)
		}
	}))
	defer srv.Close()
	cfg := builtin.Config{Hosts: []string{strings.TrimPrefix(srv.URL, "http://")}, MaxBytes: 1000}
	got, code := call(t, t.Context(), cfg, "http.get", `{"url":"`+srv.URL+`/json?q=a%26b","headers":{"accept":"x/y"}}`)
	if !strings.HasPrefix(got, `{"status":200,"headers":{`) || !strings.HasSuffix(got, `,"body":{"q":"a\u0026b","accept":"x/y","n":1.10}}`) && !strings.HasSuffix(got, `,"body":{"q":"a&b","accept":"x/y","n":1.10}}`) {
		t.Errorf("%s %s", code, got)
	}
	for params, want := range map[string]string{
		`{"url":"` + srv.URL + `/none"}`:                      "http-404",
		`{"url":"` + srv.URL + `/big"}`:                       "output-too-large",
		`{"url":"` + srv.URL + `/away"}`:                      "host-not-allowed",
		`{"url":"http://other.example/"}`:                     "host-not-allowed",
		`{"url":"http://169.254.169.254/"}`:                   "host-not-allowed",
		`{"url":"file:///etc/passwd"}`:                        "bad-params",
		`{"url":"http://user@` + cfg.Hosts[0] + `/json"}`:     "bad-params",
		`{"url":"` + srv.URL + `/{x}"}`:                       "bad-params",
		`{"url":"` + srv.URL + `/","headers":{"Host":"x"}}`:   "bad-params",
		`{"url":"` + srv.URL + `/","headers":{"A":"b\r\nc"}}`: "bad-params",
		`{"url":"` + srv.URL + `/","headers":{"a b":"c"}}`:    "bad-params",
	} {
		if got, code := call(t, t.Context(), cfg, "http.get", params); code != want {
			t.Errorf("%s: %s %s, want %s", params, code, got, want)
		}
	}
}

func TestTemplate(t *testing.T) {
	for _, c := range []struct{ params, want, code string }{
		{`{"template":"Dear {name}, {{x}} {n}","values":{"name":"Ada","n":1.50}}`, `"Dear Ada, {x} 1.50"`, ""},
		{`{"template":"{user.mail}/{a.b}/{list}","values":{"user":{"mail":"m"},"a.b":true,"list":[1, 2]}}`, `"m/true/[1,2]"`, ""},
		{`{"template":"- {a.b.c}","values":[{"a":{"b.c":1}},{"a":{"b":{"c":2}}}]}`, `"- 1\n- 2"`, ""},
		{`{"template":"{a}","values":[{"a":1},{"a":2}],"join":", "}`, `"1, 2"`, ""},
		{`{"template":"{a}","values":[]}`, `""`, ""},
		{`{"template":"{b}","values":{"a":1}}`, "no value for {b}", "bad-params"},
		{`{"template":"{a}","values":{"a":null}}`, "no value for {a}", "bad-params"},
		{`{"template":"{a","values":{"a":1}}`, "byte 0", "bad-params"},
		{`{"template":"` + strings.Repeat("{a}", 30) + `","values":{"a":"xxxxxxxxxx"}}`, "", "output-too-large"},
		{`{"template":"{a}","values":[{"a":"` + strings.Repeat("x", 60) + `"},{"a":"` + strings.Repeat("x", 60) + `"}]}`, "", "output-too-large"},
	} {
		got, code := call(t, t.Context(), builtin.Config{MaxBytes: 100}, "text.template", c.params)
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s %s, want %s %s", c.params, code, got, c.code, c.want)
		}
	}
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const want = `{"time":"2000-01-01T00:00:00Z","date":"2000-01-01","weekday":"Saturday","unix":946684800}`
		if got, code := call(t, t.Context(), builtin.Config{}, "time.now", `{}`); got != want {
			t.Error(got, code)
		}
		for params, d := range map[string]time.Duration{`{"duration":1.5}`: 1500 * time.Millisecond, `{"duration":"2m"}`: 2 * time.Minute, `{"duration":0}`: 0} {
			start := time.Now()
			if got, code := call(t, t.Context(), builtin.Config{}, "wait", params); got != "null" || time.Since(start) != d {
				t.Errorf("%s took %v: %s %s", params, time.Since(start), got, code)
			}
		}
		for _, params := range []string{`{"duration":86401}`, `{"duration":"soon"}`, `{"duration":"-1s"}`, `{"duration":1e300}`} {
			if got, code := call(t, t.Context(), builtin.Config{}, "wait", params); code != "bad-params" {
				t.Errorf("%s: %s %s", params, got, code)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		if got, code := call(t, ctx, builtin.Config{}, "wait", `{"duration":"1h"}`); code != "cancelled" || time.Since(start) != time.Second {
			t.Errorf("after %v: %s %s", time.Since(start), got, code)
		}
	})
}
