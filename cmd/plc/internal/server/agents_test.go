package server

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The token of an agent opens nothing but /mcp: neither the API nor a page, and nobody logs in with
// it.
func TestTokensOfAgents(t *testing.T) {
	opened := 0
	g := newRig(t, Options{Agents: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { opened++ })})
	agent, err := g.tokens.Make(Token{Name: "bot", Roles: []Role{Read, Run}, Agent: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, g.http.URL+path, bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+agent)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		said, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(said)
	}
	for _, all := range []map[string]http.HandlerFunc{g.server.routes(), g.server.pages()} {
		for pattern := range all {
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.NewReplacer("{$}", "", "{", "x", "}", "", "...", "").Replace(path)
			if status, said := ask(method, path); status != http.StatusForbidden || !strings.Contains(said, "the token is an agent") {
				t.Errorf("%s: status %d, %.200s", pattern, status, said)
			}
		}
	}
	if status, said := ask("POST", agentsPath); status != http.StatusOK || opened != 1 {
		t.Errorf("%s: status %d, %s", agentsPath, status, said)
	}
	res, err := http.PostForm(g.http.URL+"/login", url.Values{"token": {agent}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusForbidden || len(res.Cookies()) > 0 {
		t.Errorf("login: status %d, %v", res.StatusCode, res.Cookies())
	}
}

// A request of an agent ends when its token is revoked, and a program that logs out keeps its
// token.
func TestRevokedAgent(t *testing.T) {
	begun := make(chan bool)
	g := newRig(t, Options{Agents: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})})
	agent, err := g.tokens.Make(Token{Name: "bot", Roles: []Role{Run}, Agent: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		req, _ := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+agentsPath, nil)
		req.Header.Set("Authorization", "Bearer "+agent)
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	<-begun
	if err := g.tokens.Revoke("bot"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the request goes on")
	}
	req, _ := http.NewRequestWithContext(t.Context(), "POST", g.http.URL+"/logout", nil)
	req.Header.Set("Authorization", "Bearer "+g.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if status, _, _ := g.send(g.admin, "GET", "/v1/runs", nil); res.StatusCode != http.StatusForbidden || status != http.StatusOK {
		t.Errorf("log out: %d, and then %d", res.StatusCode, status)
	}
}
