package file

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
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
