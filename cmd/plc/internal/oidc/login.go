package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// A Login is the state of a login under way. The browser keeps it until the person comes back.
type Login struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// CanLogIn reports whether people can log in at the issuer.
func (p *Provider) CanLogIn() bool { return p.config.ClientID != "" }

// Begin begins a login, and returns the address to which the person is sent.
func (p *Provider) Begin(ctx context.Context) (*Login, string, error) {
	m, err := p.discover(ctx)
	if err != nil {
		return nil, "", err
	}
	if !safe(strings.SplitN(m.Login, "?", 2)[0]) || !safe(m.Token) {
		return nil, "", errors.New("the issuer has no addresses with https: for logging in")
	}
	l := &Login{rand.Text(), rand.Text(), rand.Text() + rand.Text()} // 130 bits each
	challenge := sha256.Sum256([]byte(l.Verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {p.config.ClientID}, "redirect_uri": {p.config.Redirect},
		"scope": {strings.Join(append([]string{"openid"}, p.config.Scopes...), " ")}, "state": {l.State}, "nonce": {l.Nonce},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	sep := "?"
	if strings.Contains(m.Login, "?") {
		sep = "&"
	}
	return l, m.Login + sep + q.Encode(), nil
}

// End returns the caller who has logged in; back is the query with which the issuer has sent the
// browser back.
func (p *Provider) End(ctx context.Context, l *Login, back url.Values) (*Caller, error) {
	switch {
	case l.State == "" || subtle.ConstantTimeCompare([]byte(l.State), []byte(back.Get("state"))) != 1:
		return nil, fmt.Errorf("%w: this browser has begun no such login", ErrToken)
	case back.Get("error") != "":
		return nil, fmt.Errorf("%w: the issuer says %s", ErrToken, back.Get("error"))
	case back.Has("iss") && back.Get("iss") != p.config.Issuer: // RFC 9207
		return nil, fmt.Errorf("%w: it is of another issuer", ErrToken)
	}
	m, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "redirect_uri": {p.config.Redirect},
		"client_id": {p.config.ClientID}, "code_verifier": {l.Verifier},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if p.config.Secret != "" {
		req.SetBasicAuth(url.QueryEscape(p.config.ClientID), url.QueryEscape(p.config.Secret))
	}
	var answer struct {
		Token string `json:"id_token"`
	}
	if err := p.do(req, &answer); err != nil {
		return nil, err
	}
	claims, err := p.verify(ctx, answer.Token, p.config.ClientID)
	if err != nil {
		return nil, err
	}
	if nonce, _ := claims["nonce"].(string); subtle.ConstantTimeCompare([]byte(nonce), []byte(l.Nonce)) != 1 {
		return nil, fmt.Errorf("%w: it is of another login", ErrToken)
	}
	if azp, ok := claims["azp"].(string); ok && azp != p.config.ClientID {
		return nil, fmt.Errorf("%w: it was made for another client", ErrToken)
	}
	return p.caller(claims)
}
