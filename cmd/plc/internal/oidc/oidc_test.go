package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/plc-lang/plc/cmd/plc/internal/oidc/oidctest"
)

// providerOf returns a provider with the clock of its issuer.
func providerOf(i *oidctest.Issuer, c Config) *Provider {
	c.Issuer, c.Roles = i.URL, map[string][]string{"approvers": {"approve"}, "runners": {"run", "read"}}
	if c.Claim == "" {
		c.Claim = "groups"
	}
	if c.Name == "" {
		c.Name = "sub"
	}
	p := New(c)
	p.now = func() time.Time { return i.Now }
	return p
}

// A token counts that the issuer signed for this server, now, with a key that it has.
func TestVerify(t *testing.T) {
	i := oidctest.New(t)
	for id, curve := range map[string]elliptic.Curve{"e2": elliptic.P256(), "e3": elliptic.P384(), "e5": elliptic.P521()} {
		k, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		i.Add(id, k)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.Add("ed", ed)
	p := providerOf(i, Config{Audience: "api"})
	type object = map[string]any
	for name, token := range map[string]string{
		"RS256": i.Token("r", "RS256", nil), "PS384": i.Token("r", "PS384", nil), "ES256": i.Token("e2", "ES256", nil),
		"ES384": i.Token("e3", "ES384", nil), "ES512": i.Token("e5", "ES512", nil), "EdDSA": i.Token("ed", "EdDSA", nil),
		"one audience":        i.Token("r", "RS256", object{"aud": "api"}),
		"a clock that is off": i.Token("r", "RS256", object{"exp": i.Now.Add(-50 * time.Second).Unix()}),
		"and the other way":   i.Token("r", "RS256", object{"iat": i.Now.Add(50 * time.Second).Unix(), "nbf": i.Now.Add(50 * time.Second).Unix()}),
	} {
		if c, err := p.Verify(t.Context(), token); err != nil || c.Name != "ada" || fmt.Sprint(c.Roles) != "[approve]" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	good := i.Token("r", "RS256", nil)
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"r"}`)) + "." + parts[1] + "."
	public, _ := json.Marshal(oidctest.Public("r", i.Keys["r"]))
	mac := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": i.URL, "aud": "api", "sub": "ada", "exp": i.Now.Add(time.Hour).Unix()})
	mac.Header["kid"] = "r"
	signedByPublic, _ := mac.SignedString(public)
	strange := oidctest.New(t)
	strange.URL = i.URL
	for name, token := range map[string]string{
		"another audience": i.Token("r", "RS256", object{"aud": "plc"}), "no audience": i.Token("r", "RS256", object{"aud": nil}),
		"another issuer":        i.Token("r", "RS256", object{"iss": i.URL + "/"}),
		"expired":               i.Token("r", "RS256", object{"exp": i.Now.Add(-2 * time.Minute).Unix()}),
		"no end":                i.Token("r", "RS256", object{"exp": nil}),
		"not yet":               i.Token("r", "RS256", object{"nbf": i.Now.Add(2 * time.Minute).Unix()}),
		"from the future":       i.Token("r", "RS256", object{"iat": i.Now.Add(2 * time.Minute).Unix()}),
		"nobody":                i.Token("r", "RS256", object{"sub": nil}),
		"no signature":          none,
		"a public key as a MAC": signedByPublic,
		"another key":           strange.Token("r", "RS256", nil),
		"a changed one":         parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2],
		"no token":              "x", "nothing": "",
	} {
		if c, err := p.Verify(t.Context(), token); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	for claim, want := range map[string]string{"realm.roles": "[run read]", "scope": "[approve]", "nothing": "[]", "realm": "[]"} {
		if c, err := providerOf(i, Config{Audience: "api", Claim: claim}).Verify(t.Context(), good); err != nil || fmt.Sprint(c.Roles) != want {
			t.Errorf("%s: %+v, %v", claim, c, err)
		}
	}
	mail := providerOf(i, Config{Audience: "api", Name: "email"})
	for verified, want := range map[bool]bool{true: true, false: false} {
		if _, err := mail.Verify(t.Context(), i.Token("r", "RS256", object{"email": "ada@example.org", "email_verified": verified})); (err == nil) != want {
			t.Errorf("email verified %t: %v", verified, err)
		}
	}
	if _, err := providerOf(i, Config{ClientID: "plc"}).Verify(t.Context(), i.Token("r", "RS256", object{"aud": "plc"})); !errors.Is(err, ErrToken) {
		t.Errorf("a token of a login is taken as one of a program: %v", err)
	}
}

// A new key counts at once, a withdrawn one for an hour at most, and an issuer that is down is not
// missed for a day. Tokens with keys that nobody knows do not have it asked each time.
func TestKeysRotate(t *testing.T) {
	i := oidctest.New(t)
	p := providerOf(i, Config{Audience: "api"})
	verify := func(id string) error {
		t.Helper()
		_, err := p.Verify(t.Context(), i.Token(id, "RS256", nil))
		return err
	}
	pass := func(d time.Duration) { p.mu.Lock(); i.Now = i.Now.Add(d); p.mu.Unlock() }
	if err := verify("r"); err != nil || i.Asked.Load() != 1 {
		t.Fatal(err, i.Asked.Load())
	}
	pass(time.Minute)
	i.Add("new", oidctest.NewRSA(t))
	if err := errors.Join(verify("new"), verify("r")); err != nil || i.Asked.Load() != 2 {
		t.Error(err, i.Asked.Load())
	}
	forged := func() {
		for range 20 {
			k := i.Keys["r"]
			i.Keys["forged"] = k
			text := i.Token("forged", "RS256", nil)
			delete(i.Keys, "forged")
			if _, err := p.Verify(t.Context(), text); !errors.Is(err, ErrToken) {
				t.Error(err)
			}
		}
	}
	pass(time.Minute)
	if forged(); i.Asked.Load() != 3 {
		t.Errorf("asked %d times", i.Asked.Load())
	}
	old := i.Token("r", "RS256", map[string]any{"exp": i.Now.Add(48 * time.Hour).Unix()})
	delete(i.Keys, "r")
	pass(freshTime + time.Second)
	for range 100 { // the keys are asked for beside the request
		if _, err := p.Verify(t.Context(), old); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := p.Verify(t.Context(), old); !errors.Is(err, ErrToken) {
		t.Errorf("a withdrawn key: %v", err)
	}
	i.Down.Store(true)
	pass(staleTime / 2)
	if err := verify("new"); err != nil {
		t.Errorf("while the issuer is down: %v", err)
	}
	pass(staleTime)
	if err := verify("new"); err == nil || errors.Is(err, ErrToken) {
		t.Errorf("after a day: %v", err)
	}
	i.Down.Store(false)
	pass(askEvery)
	if err := verify("new"); err != nil {
		t.Error(err)
	}
}

// A person logs in by a code that counts once, for the browser that has begun the login.
func TestLogin(t *testing.T) {
	i := oidctest.New(t)
	p := providerOf(i, Config{ClientID: "plc", Secret: "s3cret", Redirect: "http://127.0.0.1/login/callback"})
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	begin := func() (*Login, url.Values) {
		t.Helper()
		l, at, err := p.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		res, err := browser.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		back, err := url.Parse(res.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		return l, back.Query()
	}
	l, back := begin()
	if c, err := p.End(t.Context(), l, back); err != nil || c.Name != "ada" || fmt.Sprint(c.Roles) != "[approve]" {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := p.End(t.Context(), l, back); err == nil {
		t.Error("a code counts twice")
	}
	first, _ := begin()
	second, back := begin()
	if _, err := p.End(t.Context(), first, back); !errors.Is(err, ErrToken) {
		t.Errorf("the login of another browser: %v", err)
	}
	if _, err := p.End(t.Context(), &Login{State: second.State, Nonce: second.Nonce, Verifier: first.Verifier}, back); err == nil {
		t.Error("another verifier counts")
	}
	third, back := begin()
	if _, err := p.End(t.Context(), &Login{State: third.State, Nonce: first.Nonce, Verifier: third.Verifier}, back); !errors.Is(err, ErrToken) {
		t.Errorf("another nonce: %v", err)
	}
	if _, err := p.End(t.Context(), &Login{}, url.Values{"code": {"code"}}); !errors.Is(err, ErrToken) {
		t.Errorf("no login: %v", err)
	}
	if _, err := p.End(t.Context(), third, url.Values{"state": {third.State}, "error": {"access_denied"}}); !errors.Is(err, ErrToken) {
		t.Errorf("the issuer refuses: %v", err)
	}
}

// What is wrong with a file is said.
func TestRead(t *testing.T) {
	lookup := func(name string) (string, bool) { return "s3cret", name == "SECRET" }
	c, err := Read("oidc.yaml", []byte("{issuer: 'https://login.example', audience: plc, claim: groups, roles: {a: [read]}, clientId: plc, clientSecretFrom: SECRET}"), lookup)
	if err != nil || c.Secret != "s3cret" || c.Name != "sub" {
		t.Fatalf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		`{issuer: 'http://login.example'}`: "https:", `{issuer: 'https://login.example'}`: "neither an audience",
		`{issuer: 'https://login.example', audience: a}`: "claim and roles", `{x: 1}`: "unknown field", `{clientSecretFrom: NO}`: "NO is not set",
	} {
		if _, err := Read("oidc.yaml", []byte(text), lookup); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
