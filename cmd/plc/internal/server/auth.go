package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A caller is the sender of a request.
type caller struct {
	name    string
	roles   []Role
	channel string // "http", or "page" for a person with a cookie
	hash    string // of the token
	agent   string // the role of agents that have the token
}

func (c *caller) may(r Role) bool { return slices.Contains(c.roles, r) }

// needs returns an error if the caller does not have a role.
func (c *caller) needs(r Role) error {
	if !c.may(r) {
		return badf(http.StatusForbidden, "%s", lacks(r))
	}
	return nil
}

// lacks returns the message for a caller without a role.
func lacks(r Role) string {
	return fmt.Sprintf("you need the role %s; plc token create NAME --roles %[1]s makes a token with it", r)
}

type callerKey struct{}

func callerOf(r *http.Request) *caller {
	c, _ := r.Context().Value(callerKey{}).(*caller)
	return c
}

const (
	// cookieName is the name of the cookie that a person gets after logging in.
	cookieName = "plc_session"

	// sessionTime is the lifetime of a login.
	sessionTime = 12 * time.Hour
)

// codes are the one-time codes of links. The zero value has none.
type codes struct {
	mu   sync.Mutex
	open map[string]time.Time // when each code expires, by its hash
}

// codeTime is the lifetime of a one-time link.
const codeTime = 10 * time.Minute

func (c *codes) make() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string]time.Time{}
	}
	code := random()
	c.open[hashOf(code)] = time.Now().Add(codeTime)
	return code
}

func (c *codes) use(code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := hashOf(code)
	expires, ok := c.open[hash]
	delete(c.open, hash)
	return ok && time.Now().Before(expires)
}

// guard passes a request to next if its origin is allowed and its sender is known.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		if !s.opts.Trusted && !slices.Contains(s.opts.Hosts, strings.ToLower(r.Host)) {
			problem(w, r, http.StatusMisdirectedRequest, "the header Host names none of the hosts of this server; plc serve --host allows another one")
			return
		}
		c, err := s.who(r)
		if err != nil {
			fail(w, r, err)
			return
		}
		if c != nil && c.agent != "" && r.URL.Path != agentsPath {
			problem(w, r, http.StatusForbidden, "the token is an agent's, and agents are served at "+agentsPath+" only, where their role holds")
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !s.sameOrigin(r, c) {
			problem(w, r, http.StatusForbidden, "the request comes from another site")
			return
		}
		empty := r.Body == http.NoBody
		streamed := r.URL.Path == uploadPath // its handler reads the body in parts
		most := int64(maxBody)
		if streamed {
			most = s.uploads.most
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		if c != nil && !empty && !streamed {
			release, err := s.receive(r)
			defer release()
			if err == nil { // the token may have been revoked since the request began
				c, err = s.who(r)
			}
			if err != nil {
				fail(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// The maximum sizes of bodies in bytes, and the maximum number of large ones at once.
const (
	maxBody   = 16 << 20
	smallBody = 64 << 10
	maxLarge  = 16
)

// receive reads the body of a request, so that it can be read again. At most maxLarge large bodies
// are in memory at once; others wait until release is called for one, or fail after a while.
func (s *Server) receive(r *http.Request) (release func(), err error) {
	release = func() {}
	body, err := io.ReadAll(io.LimitReader(r.Body, smallBody))
	if err == nil && len(body) == smallBody {
		wait := time.NewTimer(slotTime)
		defer wait.Stop()
		select {
		case s.large <- struct{}{}:
			release = func() { <-s.large }
		case <-r.Context().Done():
			return release, r.Context().Err()
		case <-wait.C:
			return release, badf(http.StatusServiceUnavailable, "the server receives as many large requests as it can; ask again")
		}
		var rest []byte
		rest, err = io.ReadAll(r.Body)
		body = append(body, rest...)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return release, err
}

// harden sets the headers that all responses have for security.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types plc")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send forms with the origin null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// who returns the sender of a request; nil if it is not authenticated.
func (s *Server) who(r *http.Request) (*caller, error) {
	if s.opts.Trusted {
		return &caller{name: "local", roles: roles, channel: "socket"}, nil
	}
	channel := "http"
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		cookie, err := r.Cookie(cookieName)
		if err != nil {
			return nil, nil
		}
		secret, channel = cookie.Value, "page"
	}
	k, ok, err := s.opts.Tokens.find(secret)
	if err == nil && !ok && channel == "http" && s.opts.Issuer != nil {
		return s.ofIssuer(r.Context(), secret)
	}
	if err != nil || !ok || k.Session != (channel == "page") {
		return nil, err
	}
	return &caller{k.Name, k.Roles, channel, k.Hash, k.Agent}, nil
}

// sameOrigin reports whether a request that may change something comes from a page of this server,
// or from a program that has a token.
func (s *Server) sameOrigin(r *http.Request, c *caller) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return c == nil || c.channel != "page" || r.Header.Get("Sec-Fetch-Site") == "same-origin"
	}
	u, err := url.Parse(origin)
	// If there is no TLS here, there may be a proxy with TLS.
	return err == nil && strings.EqualFold(u.Host, r.Host) && (r.TLS == nil || u.Scheme == "https")
}

// wants passes only requests of callers with a role to next.
func wants(role Role, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callerOf(r)
		switch {
		case c == nil && wantsPage(r):
			to := "/login"
			if r.Method == http.MethodGet && r.URL.Path != "/" {
				to += "?" + url.Values{"to": {r.URL.RequestURI()}}.Encode()
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
		case c == nil:
			w.Header().Set("WWW-Authenticate", "Bearer")
			problem(w, r, http.StatusUnauthorized, "the token in the header Authorization is missing, wrong or revoked; plc token create makes one, for the header Authorization: Bearer TOKEN")
		case !c.may(role):
			problem(w, r, http.StatusForbidden, lacks(role))
		default:
			next(w, r)
		}
	}
}

// Link returns a path that logs in one person, with all roles, once.
func (s *Server) Link() string { return "/enter?code=" + s.codes.make() }

// enter exchanges the one-time code of a link for a cookie.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if !s.codes.use(r.URL.Query().Get("code")) {
		problem(w, r, http.StatusForbidden, "the link was used already, or is too old; plc serve prints another one when it starts")
		return
	}
	s.begin(w, r, Token{Name: "local", Roles: roles})
}

// login exchanges a token that a person has typed for a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	k, ok, err := s.opts.Tokens.find(strings.TrimSpace(r.PostFormValue("token")))
	switch {
	case err != nil:
		fail(w, r, err)
	case !ok || k.Session:
		problem(w, r, http.StatusForbidden, "there is no such token, or it was revoked")
	case k.Agent != "":
		problem(w, r, http.StatusForbidden, "the token is an agent's; the pages are for people")
	default:
		s.begin(w, r, Token{Name: k.Name, Roles: k.Roles, Parent: k.Hash})
	}
}

// begin starts the session of a person.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, k Token) {
	if s.setSession(w, r, k) {
		http.Redirect(w, r, ownPage(r.PostFormValue("to")), http.StatusSeeOther)
	}
}

// ownPage returns address if it is a page of this server, else the address of the first page.
func ownPage(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(address, `\`) {
		return "/"
	}
	return u.RequestURI()
}

// setSession gives the browser the cookie of a new session. If that fails, it responds with the
// error and returns false.
func (s *Server) setSession(w http.ResponseWriter, r *http.Request, k Token) bool {
	k.Session, k.Expires = true, time.Now().Add(sessionTime).UTC()
	secret, err := s.opts.Tokens.Make(k)
	if err != nil {
		fail(w, r, err)
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil, MaxAge: int(sessionTime.Seconds()),
	})
	return true
}

// logout ends the session of a person. It does not revoke a token.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	c := callerOf(r)
	if c.channel != "page" {
		problem(w, r, http.StatusForbidden, "only a session of a browser can be logged out; plc token revoke ends a token")
		return
	}
	if err := s.opts.Tokens.end(c.hash); err != nil {
		fail(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", MaxAge: -1})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
