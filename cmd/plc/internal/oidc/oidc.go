// Package oidc identifies the callers of a server by the tokens of an OpenID Connect issuer: signed
// JWTs with the name and the groups of a caller. It finds the keys of the issuer by discovery
// (OpenID Connect Discovery 1.0), and updates them (keys.go). People log in by the authorization
// code flow with PKCE (login.go).
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/plc-lang/plc/lang/yaml"
)

// Config says which issuer is trusted, and how its tokens are read.
type Config struct {
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"` // that the tokens of programs have to name
	// Name is the claim with the name of a caller, "sub" by default. The issuer must not give the
	// same value to anybody else.
	Name string `json:"name"`
	// Claim is the path of the claim with the groups or roles of a caller: groups,
	// realm_access.roles. Roles says what each of its values allows.
	Claim string              `json:"claim"`
	Roles map[string][]string `json:"roles"`

	// ClientID is the client id of this server for logging people in; "" disables that. SecretFrom
	// is the environment variable with its secret, if it has one.
	ClientID   string   `json:"clientId"`
	SecretFrom string   `json:"clientSecretFrom"`
	Scopes     []string `json:"scopes"` // besides openid
	Secret     string   `json:"-"`      // of the client
	Redirect   string   `json:"-"`      // where people come back to
}

// maxDepth is the maximum depth of a file.
const maxDepth = 10

// Read reads the file of an issuer, in JSON or YAML. The caller checks the roles. lookup finds
// environment variables.
func Read(file string, text []byte, lookup func(string) (string, bool)) (*Config, error) {
	var c Config
	if err := yaml.Decode(file, text, maxDepth, &c); err != nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = "sub"
	}
	if c.SecretFrom != "" {
		var ok bool
		if c.Secret, ok = lookup(c.SecretFrom); !ok {
			return nil, fmt.Errorf("%s: the environment variable %s is not set", file, c.SecretFrom)
		}
	}
	switch {
	case !safe(c.Issuer):
		return nil, fmt.Errorf("%s: the issuer %q is no address with https:", file, c.Issuer)
	case c.Audience == "" && c.ClientID == "":
		return nil, fmt.Errorf("%s has neither an audience, for the tokens of programs, nor a clientId, for logging in", file)
	case c.Claim == "" || len(c.Roles) == 0:
		return nil, fmt.Errorf("%s: claim and roles are missing: they say what the groups of callers allow", file)
	}
	return &c, nil
}

// safe reports whether nobody can read or change the traffic to an address: it uses TLS, or is on
// this machine.
func safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && ip != nil && ip.IsLoopback()
}

// A Caller is the holder of a token.
type Caller struct {
	Name    string
	Roles   []string // as Config.Roles says
	Expires time.Time
}

// A Provider verifies the tokens of an issuer. Its methods may be called by several goroutines at
// once.
type Provider struct {
	config Config
	client *http.Client
	now    func() time.Time

	mu   sync.Mutex
	meta *metadata // nil until it is known
	keys keys
}

// New returns a provider, which contacts the issuer only when it first needs to.
func New(c Config) *Provider {
	return &Provider{config: c, now: time.Now, client: &http.Client{
		Timeout:       fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

const (
	fetchTime = 10 * time.Second
	maxAnswer = 1 << 20 // size of an answer of the issuer, in bytes
	skew      = time.Minute
)

// ErrToken is wrapped by errors about an invalid token. Other errors mean that the issuer could not
// be reached.
var ErrToken = errors.New("the token does not count")

// methods are the accepted signing methods, all of which use public keys.
var methods = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Verify returns the holder of a token that a program has sent.
func (p *Provider) Verify(ctx context.Context, token string) (*Caller, error) {
	if p.config.Audience == "" {
		return nil, fmt.Errorf("%w: tokens of programs are not taken here", ErrToken)
	}
	claims, err := p.verify(ctx, token, p.config.Audience)
	if err != nil {
		return nil, err
	}
	return p.caller(claims)
}

// verify returns the claims of a token for an audience.
func (p *Provider) verify(ctx context.Context, token, audience string) (jwt.MapClaims, error) {
	var asking error // the issuer
	parser := jwt.NewParser(
		jwt.WithValidMethods(methods), jwt.WithIssuer(p.config.Issuer), jwt.WithAudience(audience), jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(), jwt.WithLeeway(skew), jwt.WithTimeFunc(p.now), jwt.WithStrictDecoding(),
	)
	claims := jwt.MapClaims{}
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		key, err := p.key(ctx, id, t.Method.Alg())
		if !errors.Is(err, ErrToken) {
			asking = err
		}
		return key, err
	})
	switch {
	case asking != nil:
		return nil, asking
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return claims, nil
}

// caller returns the caller that claims describe.
func (p *Provider) caller(claims jwt.MapClaims) (*Caller, error) {
	c := &Caller{}
	c.Name, _ = claims[p.config.Name].(string)
	if c.Name == "" {
		return nil, fmt.Errorf("%w: it has no claim %q", ErrToken, p.config.Name)
	}
	if p.config.Name == "email" && claims["email_verified"] != true {
		return nil, fmt.Errorf("%w: the issuer has not verified its email", ErrToken)
	}
	end, err := claims.GetExpirationTime()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	c.Expires = end.Time
	for _, value := range valuesAt(claims, p.config.Claim) {
		for _, role := range p.config.Roles[value] {
			if !slices.Contains(c.Roles, role) {
				c.Roles = append(c.Roles, role)
			}
		}
	}
	return c, nil
}

// valuesAt returns the values of a claim, which is a list of strings, or one string with spaces
// between the values, like scope.
func valuesAt(claims map[string]any, path string) (all []string) {
	if v, ok := claims[path]; ok { // a name may contain dots, as in https://example/groups
		return texts(v)
	}
	name, rest, more := strings.Cut(path, ".")
	if inner, ok := claims[name].(map[string]any); ok && more {
		return valuesAt(inner, rest)
	}
	return nil
}

func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// metadata describes an issuer.
type metadata struct {
	Issuer string `json:"issuer"`
	Keys   string `json:"jwks_uri"`
	Login  string `json:"authorization_endpoint"`
	Token  string `json:"token_endpoint"`
}

// discover returns the metadata of the issuer.
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	p.mu.Lock()
	known := p.meta
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var m metadata
	if err := p.get(ctx, strings.TrimSuffix(p.config.Issuer, "/")+"/.well-known/openid-configuration", &m); err != nil {
		return nil, err
	}
	switch {
	case m.Issuer != p.config.Issuer:
		return nil, fmt.Errorf("the issuer %q says that it is %q", p.config.Issuer, m.Issuer)
	case !safe(m.Keys):
		return nil, fmt.Errorf("the issuer %q has its keys at no address with https:", p.config.Issuer)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meta = &m
	return p.meta, nil
}

func (p *Provider) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	return p.do(req, into)
}

// do sends a request to the issuer and reads the JSON of its answer.
func (p *Provider) do(req *http.Request, into any) error {
	res, err := p.client.Do(req)
	if err != nil {
		return fmt.Errorf("the issuer can't be asked: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", res.StatusCode)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("the answer of %s can't be used: %w", req.URL.Redacted(), err)
	}
	return nil
}
