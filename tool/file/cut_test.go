package file

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// No part of a secret that is longer than what an error quotes gets into the error.
func TestErrorsQuoteNoPartOfASecret(t *testing.T) {
	const token = "S3CR3T-abcdefghijklmnopqrstuvwxyz0123456789-TAIL-zyxwvutsrqponm"
	inBase64 := base64.StdEncoding.EncodeToString([]byte(token))
	shapes := map[string]string{
		"bare": token, "after a number": "1 " + token, "after an object": `{"a":1}` + token, "in an object": `{"a":` + token + `}`,
		"after digits": "123" + token, "base64": inBase64, "not UTF-8": token + "\xff", "in a string": `{"a":"` + token,
		"after what is quoted": strings.Repeat("x", 180) + token, "names": fmt.Sprintf(`{"%s":1,"%[1]s":2}`, token),
	}
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/refused" {
			w.WriteHeader(nethttp.StatusForbidden)
		}
		fmt.Fprint(w, shapes[r.URL.Query().Get("shape")])
	}))
	defer server.Close()
	f, findings := Read(diag.NewFile("f.yaml", []byte(`activities:
  process: {process: {command: [printf, "%s", "{text}"], env: {T: {env: TOKEN}}}}
  failed: {process: {command: [sh, -c, 'printf "%s" "$1"; exit 3', sh, "{text}"], env: {T: {env: TOKEN}}}}
  http: {http: {url: `+server.URL+`, allowPrivate: true, headers: {A: {env: TOKEN}}, query: {shape: "{shape}"}}}
  refused: {http: {url: `+server.URL+`/refused, allowPrivate: true, headers: {A: {env: TOKEN}}, query: {shape: "{shape}"}}}
`)))
	f.Secrets = &Secrets{LookupEnv: func(string) (string, bool) { return token, true }}
	c, _, more := Catalogue(f)
	if findings = append(findings, more...); len(findings) > 0 {
		t.Fatal(findings)
	}
	for _, driver := range []string{"process", "failed", "http", "refused"} {
		i, _ := c.Implementation(driver)
		for shape, text := range shapes {
			if strings.Contains(text, "\xff") && (driver == "process" || driver == "failed") {
				continue // no param says that
			}
			params, err := json.Marshal(map[string]string{"shape": shape, "text": text})
			if err != nil {
				t.Fatal(err)
			}
			res, err := i.Activity.Call(t.Context(), &tool.Request{Params: params})
			said := fmt.Sprint(string(res.Value), err)
			if err == nil || strings.Contains(said, token[:6]) || strings.Contains(said, inBase64[:8]) {
				t.Errorf("%s, %s: %s", driver, shape, said)
			}
		}
	}
}

// A secret that a program writes over several lines, or before the end that an error quotes, is
// redacted before plc cuts the text.
func TestProgramsQuoteNoPartOfASecret(t *testing.T) {
	const token = "S3CR3T-abcdefghijklmnopqrstuvwxyz0123456789-TAIL-zyxwvutsrqponm"
	dump := regexp.MustCompile("..").ReplaceAllString(hex.EncodeToString([]byte(token)), " $0")
	for shape, whole := range map[string]string{
		"base64": base64.StdEncoding.EncodeToString([]byte(token)), "hexadecimal": hex.EncodeToString([]byte(token)), "dump": dump,
	} {
		text := whole[:30] + "\n" + whole[30:60] + "\n" + whole[60:]
		f, findings := Read(diag.NewFile("f.yaml", []byte(`activities:
  lines: {process: {command: [printf, "%s", "{text}"], env: {T: {env: TOKEN}}, output: lines}}
  failed: {process: {command: [sh, -c, 'printf "%s" "$1" >&2; exit 3', sh, "{text}"], env: {T: {env: TOKEN}}, maxStderr: 300}}
  killed: {process: {command: [sh, -c, 'printf "%s" "$1" >&2; kill -9 $$', sh, "{text}"], env: {T: {env: TOKEN}}, maxStderr: 300}}
`)))
		f.Secrets = &Secrets{LookupEnv: func(string) (string, bool) { return token, true }}
		c, _, more := Catalogue(f)
		if findings = append(findings, more...); len(findings) > 0 {
			t.Fatal(findings)
		}
		for _, name := range []string{"lines", "failed", "killed"} {
			i, _ := c.Implementation(name)
			for _, after := range []int{0, 250} {
				params, err := json.Marshal(map[string]string{"text": "first\n" + text + strings.Repeat(".", after)})
				if err != nil {
					t.Fatal(err)
				}
				res, err := i.Activity.Call(t.Context(), &tool.Request{Params: params})
				said := fmt.Sprint(string(res.Value), err)
				if !strings.Contains(said, "•••") || strings.Contains(said, text[len(text)-12:]) || strings.Contains(said, text[:12]) {
					t.Errorf("%s, %s: %s", name, shape, said)
				}
			}
		}
	}
}
