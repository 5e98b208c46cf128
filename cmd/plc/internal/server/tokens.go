package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Role is something that a caller may do.
type Role string

// The roles. They are independent: a caller who may approve may not run plans unless the token has
// that role too.
const (
	Read    Role = "read"
	Run     Role = "run"
	Approve Role = "approve"
)

// roles are all roles.
var roles = []Role{Read, Run, Approve}

// ParseRoles reads a list of roles, separated by commas. Every other role includes Read.
func ParseRoles(text string) ([]Role, error) {
	all := []Role{Read}
	for word := range strings.SplitSeq(text, ",") {
		r := Role(strings.TrimSpace(word))
		if !slices.Contains(roles, r) {
			return nil, fmt.Errorf("there is no role %q; the roles are read, run and approve", r)
		}
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all, nil
}

// A Token is the stored data about a token, but not the token itself.
type Token struct {
	Name    string    `json:"name"` // who has it
	Roles   []Role    `json:"roles"`
	Agent   string    `json:"agent,omitempty"` // the role of agents that have it; "" is none
	Hash    string    `json:"hash"`            // SHA-256 in hexadecimal
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero is never
	// Parent is, for a session, the hash of the token with which the person logged in; the session
	// ends with that token. "" if there is none.
	Parent  string `json:"parent,omitempty"`
	Session bool   `json:"session,omitempty"`
}

// Tokens is a file of tokens. Its methods may be called by several goroutines, and the file may be
// changed by other processes: it is read whenever a token is looked up.
type Tokens struct {
	Path string
	mu   sync.Mutex
}

// List returns the tokens that have not expired.
func (t *Tokens) List() ([]Token, error) {
	text, err := os.ReadFile(t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Token
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("can't read the tokens in %s: %w", t.Path, err)
	}
	return slices.DeleteFunc(all, func(k Token) bool { return !k.Expires.IsZero() && !time.Now().Before(k.Expires) }), nil
}

// Make adds a token and returns its secret, which is not stored and can't be recovered.
func (t *Tokens) Make(k Token) (secret string, err error) {
	secret = "plc_" + random()
	k.Hash, k.Created = hashOf(secret), time.Now().UTC().Truncate(time.Second)
	err = t.change(func(all []Token) ([]Token, error) {
		if !k.Session && slices.ContainsFunc(all, func(o Token) bool { return o.Name == k.Name && !o.Session }) {
			return nil, fmt.Errorf("there is a token %q already; revoke it first, or give another name", k.Name)
		}
		return append(all, k), nil
	})
	return secret, err
}

// Revoke removes the tokens of this name and the sessions that were begun with them.
func (t *Tokens) Revoke(name string) error {
	return t.change(func(all []Token) ([]Token, error) {
		kept := slices.DeleteFunc(slices.Clone(all), func(k Token) bool { return k.Name == name })
		if len(kept) == len(all) {
			return nil, fmt.Errorf("there is no token %q; plc token list shows them", name)
		}
		return kept, nil
	})
}

// end removes the token or session with a hash.
func (t *Tokens) end(hash string) error {
	return t.change(func(all []Token) ([]Token, error) {
		return slices.DeleteFunc(all, func(k Token) bool { return k.Hash == hash }), nil
	})
}

// change rewrites the file. A lock file beside it prevents other processes from doing so at the
// same time.
func (t *Tokens) change(edit func([]Token) ([]Token, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return err
	}
	unlock, err := lockFile(t.Path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := t.List()
	if err != nil {
		return err
	}
	if all, err = edit(all); err != nil {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	temporary := t.Path + ".new"
	if err := os.WriteFile(temporary, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, t.Path)
}

// lockFile creates a lock file, which only one process can do. It removes an old lock file, which a
// process that died has left.
func lockFile(name string) (unlock func(), err error) {
	for tries := 0; ; tries++ {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			f.Close()
			return func() { os.Remove(name) }, nil
		}
		if !errors.Is(err, fs.ErrExist) || tries == 500 {
			return nil, fmt.Errorf("can't change the tokens: %w", err)
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > 10*time.Second {
			os.Remove(name)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// find returns the token with a secret. A session is valid only as long as its token.
func (t *Tokens) find(secret string) (Token, bool, error) {
	all, err := t.List()
	if err != nil {
		return Token{}, false, err
	}
	hash := hashOf(secret)
	i := slices.IndexFunc(all, func(k Token) bool { return k.Hash == hash })
	if i < 0 || all[i].Parent != "" && !slices.ContainsFunc(all, func(k Token) bool { return k.Hash == all[i].Parent }) {
		return Token{}, false, nil
	}
	return all[i], true, nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// random returns 256 bits that nobody can guess.
func random() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}
