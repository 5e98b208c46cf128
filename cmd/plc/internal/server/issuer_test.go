package server

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/oidc/oidctest"
)

// Who has a token of the issuer may do what the groups in it allow, and is known by it.
func TestIssuer(t *testing.T) {
	g := &rig{issuer: oidctest.New(t)}
	g.start(t, Options{})
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": "x"}}})["run"].(string)
	g.until(run, "runPaused", 0)
	token := g.issuer.Token("r", "RS256", nil)
	status := func(want int, token, method, path string, body any) {
		t.Helper()
		if got, _, text := g.send(token, method, path, body); got != want {
			t.Errorf("%s %s: %d, want %d: %s", method, path, got, want, text)
		}
	}
	status(200, token, "GET", "/v1/runs", nil)
	status(403, token, "POST", "/v1/runs", object{"plan": []object{}})
	status(401, token+"x", "GET", "/v1/runs", nil)
	status(401, g.issuer.Token("r", "RS256", object{"exp": time.Now().Add(-time.Hour).Unix()}), "GET", "/v1/runs", nil)
	status(403, g.issuer.Token("r", "RS256", object{"groups": []string{"others"}}), "GET", "/v1/runs", nil)
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	status(204, token, "POST", "/v1/runs/"+run+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": "approve"})
	g.until(run, "runFinished", 0)
	if c := g.want(200, "GET", "/v1/runs/"+run, nil)["calls"].([]any)[0].(object); c["by"] != "oidc:ada" {
		t.Errorf("%v", c)
	}
	g.issuer.Down.Store(true)
	other := g.issuer.Token("r", "RS256", nil)
	status(200, other, "GET", "/v1/runs", nil) // its key is known
}

// A person logs in at the issuer, and has a session like others.
func TestLoginAtIssuer(t *testing.T) {
	g := &rig{issuer: oidctest.New(t)}
	g.start(t, Options{})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(path string) (*http.Response, string) {
		t.Helper()
		res, err := browser.Get(g.http.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res, string(text)
	}
	if _, text := get("/login"); !strings.Contains(text, issuerPath) {
		t.Errorf("the page of the login has no link: %s", text)
	}
	if res, _ := get(CallbackPath + "?code=code&state=x"); res.StatusCode != 403 {
		t.Errorf("a login that nobody has begun: %d", res.StatusCode)
	}
	res, text := get(issuerPath)
	if res.StatusCode != 200 || res.Header.Get("Refresh") != "0; url=/" || !strings.Contains(text, "Logged in") {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	at, _ := url.Parse(g.http.URL)
	if all := jar.Cookies(at); len(all) != 1 || all[0].Name != cookieName {
		t.Errorf("cookies %v", all)
	}
	if res, text := get("/"); res.StatusCode != 200 || !strings.Contains(text, "oidc:ada") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	if err := g.tokens.Revoke("oidc:ada"); err != nil {
		t.Fatal(err)
	}
	if res, _ := get("/"); res.Request.URL.Path != "/login" {
		t.Errorf("after the session was ended: %s", res.Request.URL)
	}
}
