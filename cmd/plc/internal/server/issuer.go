package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/oidc"
)

const (
	// ofPrefix is the prefix of the names of callers with a token of the issuer, so that they
	// differ from the names of other tokens.
	ofPrefix = "oidc:"

	// issuerPath is the path at which a login at the issuer begins.
	issuerPath = "/login/oidc"

	// CallbackPath is the path to which the issuer sends people back.
	CallbackPath = "/login/callback"
)

// IsOfIssuer reports whether a name belongs to a caller with a token of the issuer.
func IsOfIssuer(name string) bool { return strings.HasPrefix(name, ofPrefix) }

// ofIssuer returns the caller that has a token of the issuer; nil if the token is not valid.
func (s *Server) ofIssuer(ctx context.Context, token string) (*caller, error) {
	c, err := s.opts.Issuer.Verify(ctx, token)
	switch {
	case errors.Is(err, oidc.ErrToken):
		return nil, nil
	case err != nil:
		return nil, badf(http.StatusServiceUnavailable, "%v", err)
	}
	return &caller{name: ofPrefix + c.Name, roles: rolesOf(c), channel: "http", hash: hashOf(token)}, nil
}

// rolesOf returns the roles of a caller with a token of the issuer. Every other role includes Read.
func rolesOf(c *oidc.Caller) (all []Role) {
	for i, r := range c.Roles {
		if i == 0 {
			all = append(all, Read)
		}
		if Role(r) != Read {
			all = append(all, Role(r))
		}
	}
	return all
}

// loginCookie returns the name of the cookie that a browser has during a login. With TLS no other
// server of the domain can set it.
func loginCookie(r *http.Request) string {
	if r.TLS != nil {
		return "__Host-plc_login"
	}
	return "plc_login"
}

// setLogin sets the cookie of a login. It is not strict, since the browser has to send it when it
// comes back from another site.
func setLogin(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: loginCookie(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil, MaxAge: seconds,
	})
}

// beginLogin sends a person to the issuer.
func (s *Server) beginLogin(w http.ResponseWriter, r *http.Request) {
	l, at, err := s.opts.Issuer.Begin(r.Context())
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, err.Error())
		return
	}
	text, _ := json.Marshal(l)
	setLogin(w, r, base64.RawURLEncoding.EncodeToString(text), int(codeTime.Seconds()))
	http.Redirect(w, r, at, http.StatusSeeOther)
}

// endLogin begins the session of a person who comes back from the issuer.
func (s *Server) endLogin(w http.ResponseWriter, r *http.Request) {
	var l oidc.Login
	if cookie, err := r.Cookie(loginCookie(r)); err == nil {
		text, _ := base64.RawURLEncoding.DecodeString(cookie.Value)
		_ = json.Unmarshal(text, &l) // without a valid cookie, End fails
	}
	setLogin(w, r, "", -1)
	c, err := s.opts.Issuer.End(r.Context(), &l, r.URL.Query())
	switch {
	case errors.Is(err, oidc.ErrToken):
		problem(w, r, http.StatusForbidden, err.Error())
	case err != nil:
		problem(w, r, http.StatusServiceUnavailable, err.Error())
	case len(c.Roles) == 0:
		problem(w, r, http.StatusForbidden, "you may do nothing here: none of your groups has a role")
	case s.setSession(w, r, Token{Name: ofPrefix + c.Name, Roles: rolesOf(c)}):
		// A browser sends a strict cookie only if it comes from this site, so a redirect would not
		// send it: the navigation began at the issuer.
		w.Header().Set("Refresh", "0; url=/")
		show(w, http.StatusOK, viewOf(r, "Logged in").loggedIn())
	}
}
