package approval_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"testing"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile/report"
)

// An approval that was changed in any way after it was signed, or that somebody else signed, is
// refused.
func TestSignature(t *testing.T) {
	now := time.Now()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{base64.StdEncoding.EncodeToString(other), base64.StdEncoding.EncodeToString(public)}
	signed := func() *approval.File {
		f := approval.Request("plan.json", report.Manifest(`{"calls":{}}`), now)
		if err := f.Approve("ada", now); err != nil {
			t.Fatal(err)
		}
		f.Sign(private)
		return f
	}
	if err := signed().SignedBy(keys); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	read, err := approval.Read(signed().JSON(nil), nil)
	if err != nil || read.SignedBy(keys) != nil {
		t.Errorf("read again: %v", err)
	}
	later := now.Add(time.Hour)
	tampers := map[string]func(f *approval.File){
		"by":          func(f *approval.File) { f.ApprovedBy = "eve" },
		"at":          func(f *approval.File) { f.ApprovedAt = &later },
		"expires":     func(f *approval.File) { f.Expires = &later },
		"digest":      func(f *approval.File) { f.Digest = "00" },
		"id":          func(f *approval.File) { f.ID = "00" },
		"plan":        func(f *approval.File) { f.Plan = "other.json" },
		"unsigned":    func(f *approval.File) { f.Signature = "" },
		"not base64":  func(f *approval.File) { f.Signature = "?" },
		"another key": func(f *approval.File) { f.Key = keys[0] },
	}
	for what, tamper := range tampers {
		f := signed()
		tamper(f)
		var refusal *approval.Refusal
		if err := f.SignedBy(keys); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := signed().SignedBy(keys[:1]); err == nil {
		t.Error("a key that is not listed is taken")
	}
	t.Logf("%d tampers", len(tampers)+1)
}

// A seal that is made with a key is made by nobody else.
func TestKeyedSeal(t *testing.T) {
	now, key := time.Now(), []byte("secret")
	f := approval.Request("plan.json", report.Manifest(`{"calls":{}}`), now)
	if _, err := approval.Read(f.JSON(nil), key); err != nil {
		t.Errorf("a request without a key: %v", err)
	}
	if err := f.Approve("ada", now); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		made, read []byte
		fine       bool
	}{
		{"none", nil, nil, true}, {"the key", key, key, true},
		{"made without", nil, key, false}, {"read without", key, nil, false}, {"another", []byte("other"), key, false},
	} {
		_, err := approval.Read(f.JSON(c.made), c.read)
		var refusal *approval.Refusal
		if c.fine != (err == nil) || err != nil && !errors.As(err, &refusal) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestParsePrivateKey(t *testing.T) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if got, err := approval.ParsePrivateKey(text); err != nil || !got.Equal(private) {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := approval.ParsePrivateKey([]byte(text)); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
