// Package oidctest has an OpenID Connect issuer for tests, with real signatures.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// An Issuer has one user, ada, who is in the groups approvers and unknown. The client for logging
// in is plc, with the secret s3cret.
type Issuer struct {
	*httptest.Server
	Keys  map[string]crypto.Signer // change it only while nobody requests keys
	Asked atomic.Int32             // the number of requests for its keys
	Down  atomic.Bool              // requests for its keys fail
	Now   time.Time                // at which tokens are made

	t     testing.TB
	mu    sync.Mutex
	codes map[string]url.Values // the query with which a login was begun
}

// New starts an issuer, which ends with the test. It has the RSA key "r".
func New(t testing.TB) *Issuer {
	i := &Issuer{t: t, Keys: map[string]crypto.Signer{}, codes: map[string]url.Values{}, Now: time.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q, "authorization_endpoint": %q, "token_endpoint": %q}`, i.URL, i.URL+"/keys", i.URL+"/login", i.URL+"/token")
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.Asked.Add(1)
		if i.Down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		set := []any{map[string]any{"kty": "oct", "k": "AAAA", "kid": "shared"}, map[string]any{"kty": "RSA", "use": "enc", "kid": "other", "n": "AQAB", "e": "AQAB"}}
		for id, k := range i.Keys {
			set = append(set, Public(id, k))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": set})
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) { // everybody is ada
		i.mu.Lock()
		i.codes["code"] = r.URL.Query()
		i.mu.Unlock()
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?code=code&state="+r.FormValue("state"), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		begun := i.codes[r.PostFormValue("code")]
		delete(i.codes, r.PostFormValue("code"))
		i.mu.Unlock()
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		user, password, _ := r.BasicAuth()
		if begun == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != begun.Get("code_challenge") || user != "plc" || password != "s3cret" || r.PostFormValue("redirect_uri") != begun.Get("redirect_uri") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"id_token": %q}`, i.Token("r", "RS256", map[string]any{"aud": "plc", "nonce": begun.Get("nonce")}))
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	i.Add("r", NewRSA(t))
	return i
}

// NewRSA returns an RSA key.
func NewRSA(t testing.TB) crypto.Signer {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Public returns the JSON Web Key of a key.
func Public(id string, k crypto.Signer) map[string]any {
	b64 := base64.RawURLEncoding.EncodeToString
	switch p := k.Public().(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "use": "sig", "kid": id, "n": b64(p.N.Bytes()), "e": b64(big.NewInt(int64(p.E)).Bytes())}
	case *ecdsa.PublicKey:
		point, _ := p.Bytes()
		half := (len(point) - 1) / 2
		return map[string]any{"kty": "EC", "crv": p.Curve.Params().Name, "kid": id, "x": b64(point[1 : 1+half]), "y": b64(point[1+half:])}
	case ed25519.PublicKey:
		return map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": id, "x": b64(p)}
	}
	return nil
}

// Add adds a key.
func (i *Issuer) Add(id string, k crypto.Signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.Keys[id] = k
}

// Token returns a token that is signed with a key. more adds claims to the usual ones; nil removes
// a claim.
func (i *Issuer) Token(id, alg string, more map[string]any) string {
	i.t.Helper()
	claims := jwt.MapClaims{
		"iss": i.URL, "aud": []string{"api", "else"}, "sub": "ada", "exp": i.Now.Add(time.Hour).Unix(), "iat": i.Now.Unix(),
		"groups": []string{"approvers", "unknown"}, "realm": map[string]any{"roles": []string{"runners"}}, "scope": "openid approvers",
	}
	maps.Copy(claims, more)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	t := jwt.NewWithClaims(jwt.GetSigningMethod(alg), claims)
	t.Header["kid"] = id
	i.mu.Lock()
	k := i.Keys[id]
	i.mu.Unlock()
	text, err := t.SignedString(k)
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}
