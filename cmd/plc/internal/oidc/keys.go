package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"
)

const (
	freshTime = time.Hour        // after which keys are requested again, so that withdrawn keys stop to count
	staleTime = 24 * time.Hour   // after which they don't count if the issuer can't be reached
	askEvery  = 10 * time.Second // shortest interval of requests for an unknown key
	leastRSA  = 2048             // bits
)

// keys caches the keys of an issuer.
type keys struct {
	all   []key
	asked time.Time     // the time of the last request
	got   time.Time     // the time of the last answer
	err   error         // why the last request failed
	under chan struct{} // closed when the request under way has ended; nil if there is none
}

// A key verifies signatures.
type key struct {
	id, alg string // "" if not given
	public  crypto.PublicKey
}

// key returns the key with an id, for a signing method. The error wraps ErrToken if the issuer has
// no such key. If the key is known, key does not wait for the issuer.
func (p *Provider) key(ctx context.Context, id, alg string) (crypto.PublicKey, error) {
	p.mu.Lock()
	k, ok := p.keys.find(id, alg)
	age := p.now().Sub(p.keys.got)
	if (!ok || age > freshTime) && p.keys.under == nil && p.now().Sub(p.keys.asked) >= askEvery {
		p.keys.asked, p.keys.under = p.now(), make(chan struct{})
		go p.fetchKeys(context.WithoutCancel(ctx), p.keys.under) // other callers wait for it as well
	}
	under := p.keys.under
	p.mu.Unlock()
	if ok && age <= staleTime {
		return k, nil
	}
	if under != nil {
		select {
		case <-under:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok = p.keys.find(id, alg)
	switch stale := p.now().Sub(p.keys.got) > staleTime; {
	case stale && p.keys.err != nil:
		return nil, p.keys.err
	case !ok || stale:
		return nil, fmt.Errorf("%w: the issuer has no key %q for %s", ErrToken, id, alg)
	}
	return k, nil
}

// find returns the only key that fits.
func (k *keys) find(id, alg string) (crypto.PublicKey, bool) {
	var found []key
	for _, one := range k.all {
		if (id == "" || one.id == id) && one.fits(alg) {
			found = append(found, one)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return found[0].public, true
}

// fits reports whether a key is for a signing method.
func (k *key) fits(alg string) bool {
	if k.alg != "" && k.alg != alg {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return alg[:2] == "RS" || alg[:2] == "PS"
	case *ecdsa.PublicKey:
		return map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}[alg] == public.Curve
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// fetchKeys asks the issuer for its keys, and closes done.
func (p *Provider) fetchKeys(ctx context.Context, done chan struct{}) {
	all, err := p.theirKeys(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys.err = err; err == nil {
		p.keys.all, p.keys.got = all, p.now()
	}
	p.keys.under = nil
	close(done)
}

func (p *Provider) theirKeys(ctx context.Context) ([]key, error) {
	m, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	var set struct{ Keys []json.RawMessage }
	if err := p.get(ctx, m.Keys, &set); err != nil {
		return nil, err
	}
	var all []key
	for _, text := range set.Keys {
		if k, ok := readKey(text); ok { // other keys have other uses
			all = append(all, k)
		}
	}
	return all, nil
}

// readKey reads a JSON Web Key (RFC 7517) that verifies signatures.
func readKey(text []byte) (key, bool) {
	var j struct {
		Kty, Kid, Alg, Use, Crv, N, E, X, Y string
		Ops                                 []string `json:"key_ops"`
	}
	if json.Unmarshal(text, &j) != nil || j.Use != "" && j.Use != "sig" || j.Ops != nil && !slices.Contains(j.Ops, "verify") {
		return key{}, false
	}
	k := key{id: j.Kid, alg: j.Alg}
	number := func(s string) *big.Int {
		b, _ := base64.RawURLEncoding.DecodeString(s)
		return new(big.Int).SetBytes(b)
	}
	switch j.Kty {
	case "RSA":
		n, e := number(j.N), number(j.E)
		if n.BitLen() < leastRSA || n.BitLen() > 8*leastRSA || !e.IsInt64() || e.Int64() < 3 || e.BitLen() > 31 {
			return key{}, false
		}
		k.public = &rsa.PublicKey{N: n, E: int(e.Int64())}
	case "EC":
		curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.Crv]
		x, y := number(j.X), number(j.Y)
		if curve == nil || x.BitLen() > curve.Params().BitSize || y.BitLen() > curve.Params().BitSize {
			return key{}, false
		}
		size := (curve.Params().BitSize + 7) / 8
		point := make([]byte, 1+2*size)
		point[0] = 4
		x.FillBytes(point[1 : 1+size])
		y.FillBytes(point[1+size:])
		public, err := ecdsa.ParseUncompressedPublicKey(curve, point)
		if err != nil {
			return key{}, false
		}
		k.public = public
	case "OKP":
		x, err := base64.RawURLEncoding.DecodeString(j.X)
		if err != nil || j.Crv != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return key{}, false
		}
		k.public = ed25519.PublicKey(x)
	default:
		return key{}, false
	}
	return k, true
}
