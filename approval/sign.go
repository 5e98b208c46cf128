package approval

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// signedText returns the signed text: what was approved, by whom and when.
func (f *File) signedText() []byte {
	parts := []any{"plc approval", f.Version, f.ID, f.Digest, f.Plan, f.Created, f.Expires, f.ApprovedBy, f.ApprovedAt}
	if f.Covers != nil {
		parts = append(parts, f.Covers)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // all of it can be encoded
	}
	return jsonscan.Canonical(nil, text)
}

// Sign signs an approval with the approver's key.
func (f *File) Sign(key ed25519.PrivateKey) {
	f.Key = base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	f.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, f.signedText()))
}

// SignedBy returns nil if the approval is signed with one of these base64 public keys, and
// otherwise a *Refusal.
func (f *File) SignedBy(keys []string) error {
	if f.Signature == "" {
		return refuse("the approval is not signed, and the policy lists the keys that may sign; plc approve --key FILE signs")
	}
	signature, err := base64.StdEncoding.DecodeString(f.Signature)
	if err != nil {
		return refuse("the signature of the approval is not base64")
	}
	for _, k := range keys {
		public, err := ParsePublicKey(k)
		if err == nil && k == f.Key && ed25519.Verify(public, f.signedText(), signature) {
			return nil
		}
	}
	return refuse("the approval is not signed with a key that the policy lists")
}

// ParsePublicKey parses a public key: the 32 bytes of an ed25519 key in base64.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("not a public key: %d bytes in base64 are wanted", ed25519.PublicKeySize)
	}
	return key, nil
}

// ParsePrivateKey parses an ed25519 key in PEM, as written by openssl genpkey -algorithm ed25519.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("not a key: no PEM; openssl genpkey -algorithm ed25519 -out FILE makes one")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("not a key: %w", err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a key of ed25519 is wanted, not %T; openssl genpkey -algorithm ed25519 -out FILE makes one", key)
	}
	return private, nil
}
