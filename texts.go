package plc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
)

// texts holds the texts of files that a run is given: those that were read, for its record, and, in
// a run that is continued, those in its record, which are used in place of the files (execution
// §5).
type texts struct {
	mu    sync.Mutex // documents are read by whichever goroutine needs them
	kept  []journal.Text
	known map[textKey]*journal.Text // texts in the record; nil if files are read
	fresh bool                      // documents are read from files even so, since the plan was replaced
}

type textKey struct {
	role journal.Role
	name string
}

// keyOf returns the key of a text: its name, as for a file, for whatever it is used. Documents have
// names of their own.
func keyOf(role journal.Role, name string) textKey {
	if role != journal.Document {
		role = ""
	}
	return textKey{role, name}
}

// all returns the texts that were kept.
func (t *texts) all() []journal.Text {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.kept)
}

// keep keeps a text that was read. Nil texts keep nothing.
func (t *texts) keep(role journal.Role, name, notation string, text []byte) {
	if t == nil || role == "" {
		return
	}
	if text == nil {
		text = []byte{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	same := func(k journal.Text) bool { return k.Role == role && k.Name == name }
	if !slices.ContainsFunc(t.kept, same) {
		t.kept = append(t.kept, journal.Text{Role: role, Name: name, Notation: notation, Bytes: text})
	}
}

// replace replaces a text that was kept by another one.
func (t *texts) replace(role journal.Role, name string, text []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.kept {
		if k := &t.kept[i]; k.Role == role && k.Name == name {
			k.Bytes = text
		}
	}
}

// recall makes the texts that a run was given stand in for files.
func (t *texts) recall(g *journal.Given) {
	t.known = map[textKey]*journal.Text{}
	for _, text := range slices.Concat([]journal.Text{g.Plan}, g.Texts) {
		t.known[keyOf(text.Role, text.Name)] = &text
	}
}

// add makes one more text stand in for a file.
func (t *texts) add(text journal.Text) { t.known[keyOf(text.Role, text.Name)] = &text }

// recorded returns the recorded text of a file. ok is false if files are read.
func (t *texts) recorded(role journal.Role, name string) (text []byte, ok bool, err error) {
	if t == nil || t.known == nil || t.fresh && role == journal.Document {
		return nil, false, nil
	}
	k := t.known[keyOf(role, name)]
	if k == nil || k.Bytes == nil && k.Digest != digestOf(nil) {
		return nil, true, fmt.Errorf("the record of the run does not have %s", File(name).shown())
	}
	return k.Bytes, true, nil
}

// digestOf returns the digest of a text that records use.
func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// documents is the folder of files that plans delegate to. They are read and kept, or come from a
// record.
type documents struct {
	given  map[string]string // these take precedence over those of the folder
	folder fs.FS             // nil if there is none
	texts  *texts
	read   []fs.FileInfo // of the folder
}

// errNoDocument is the error of a document that a plan without a folder does not have.
var errNoDocument = errors.New("no document of this name was given with the plan, which has no folder")

// Open implements fs.FS.
func (d *documents) Open(name string) (fs.File, error) {
	text, ok, err := d.texts.recorded(journal.Document, name)
	if given, here := d.given[name]; here && !ok {
		text, ok = []byte(given), true
		d.texts.keep(journal.Document, name, "", text)
	}
	switch {
	case ok && err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case ok:
		return &docFile{name: name, size: int64(len(text)), Reader: bytes.NewReader(text)}, nil
	case d.folder == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoDocument}
	}
	f, err := d.folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, jsonscan.DefaultMaxBytes+1))
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil {
		d.read = append(d.read, info)
	}
	d.texts.keep(journal.Document, name, "", text)
	return &docFile{name: name, size: int64(len(text)), Reader: bytes.NewReader(text)}, nil
}

// Stat implements fs.StatFS. It does not open the file, since opening a pipe would wait.
func (d *documents) Stat(name string) (fs.FileInfo, error) {
	_, given := d.given[name]
	if _, ok, _ := d.texts.recorded(journal.Document, name); ok || given || d.folder == nil {
		f, err := d.Open(name)
		if err != nil {
			return nil, err
		}
		return f.Stat()
	}
	return fs.Stat(d.folder, name)
}

// docFile is a document as a file.
type docFile struct {
	name string
	size int64
	*bytes.Reader
}

// The methods of fs.File and fs.FileInfo.
func (d *docFile) Stat() (fs.FileInfo, error) { return docInfo{d}, nil }
func (d *docFile) Close() error               { return nil }

type docInfo struct{ d *docFile }

func (i docInfo) Name() string       { return path.Base(i.d.name) }
func (i docInfo) Size() int64        { return i.d.size }
func (i docInfo) Mode() fs.FileMode  { return 0o444 }
func (i docInfo) ModTime() time.Time { return time.Time{} }
func (i docInfo) IsDir() bool        { return false }
func (i docInfo) Sys() any           { return nil }

// fetched returns a fetch function that keeps what it reads, or finds it in the record.
func (t *texts) fetched(fetch func(url string) ([]byte, error)) func(url string) ([]byte, error) {
	if t == nil || t.known == nil && fetch == nil {
		return fetch
	}
	return func(url string) ([]byte, error) {
		text, ok, err := t.recorded(journal.Document, url)
		if !ok {
			text, ok = t.fetchedBefore(url)
		}
		if ok {
			return text, err
		}
		if fetch == nil {
			return nil, fs.ErrPermission
		}
		if text, err = fetch(url); err == nil {
			t.keep(journal.Document, url, "", text)
		}
		return text, err
	}
}

// fetchedBefore returns the document at a URL if it was fetched for another plan.
func (t *texts) fetchedBefore(url string) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.kept {
		if k.Role == journal.Document && k.Name == url {
			return k.Bytes, true
		}
	}
	return nil, false
}

// fileDigest returns the digest of a file that may be larger than memory, or "" if it is not a
// regular file, so that it can't be read again.
func fileDigest(name string) (digest string, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, ReadError(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", 0, errors.Join(err)
	}
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, ReadError(err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}
