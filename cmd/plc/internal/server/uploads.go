package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
)

const (
	// uploadPath is the path to which files of instances are sent.
	uploadPath = "/v1/uploads"

	// uploadLabel is the label of a run that has the id of the file of its instances.
	uploadLabel = "upload"
)

const (
	// DefaultMaxUpload is the default of Options.MaxUpload.
	DefaultMaxUpload = 256 << 20

	mostUploads = 16             // times Options.MaxUpload, of all files
	unusedTime  = 24 * time.Hour // after which a file that no run has is deleted
	pauseTime   = time.Minute    // longest pause while a file is received
)

// uploads manages the files of instances that callers have sent. Each is named by its digest, so
// sending it again changes nothing.
type uploads struct {
	dir  string
	most int64 // bytes of one
	mu   sync.Mutex
}

// An Upload describes a file of instances.
type Upload struct {
	ID    string `json:"id"` // its SHA-256 in hexadecimal
	Bytes int64  `json:"bytes"`
	Lines int    `json:"lines"` // that are not blank
}

// path returns the name of the file with an id.
func (u *uploads) path(id string) (string, error) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != sha256.Size || id != strings.ToLower(id) || u.dir == "" {
		return "", badf(http.StatusUnprocessableEntity, "the upload %q is not the id of one", id)
	}
	name := filepath.Join(u.dir, id+".jsonl")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", badf(http.StatusUnprocessableEntity, "there is no upload %s on this server; send it again", id)
	} else if err != nil {
		return "", err
	}
	return name, nil
}

// upload stores a file of instances without reading it into memory.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	up, err := s.keepUpload(r.Context(), &pausing{r.Body, http.NewResponseController(w)})
	if err == nil { // the token may have been revoked meanwhile
		var c *caller
		if c, err = s.who(r); err == nil && c == nil {
			err = badf(http.StatusUnauthorized, "the token was revoked")
		}
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusCreated, up)
}

// pausing reads a body that may take any time, as long as it does not pause for pauseTime.
type pausing struct {
	io.Reader
	response *http.ResponseController
}

func (p *pausing) Read(b []byte) (int, error) {
	_ = p.response.SetReadDeadline(time.Now().Add(pauseTime)) // fails only if the server has no deadlines
	return p.Reader.Read(b)
}

func (s *Server) keepUpload(ctx context.Context, body io.Reader) (*Upload, error) {
	u := &s.uploads
	if u.dir == "" {
		return nil, badf(http.StatusNotFound, "this server keeps no uploads")
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return nil, err
	}
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(u.dir, "upload-*.part")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // if it was not renamed
	defer f.Close()
	up, hash := &Upload{}, sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(body, io.MultiWriter(f, hash)), 64<<10)
	for blank := true; ; {
		part, err := in.ReadSlice('\n')
		up.Bytes += int64(len(part))
		blank = blank && len(bytes.TrimSpace(part)) == 0
		if err == bufio.ErrBufferFull {
			continue
		}
		if !blank {
			up.Lines++
		}
		if blank = true; err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	up.ID = hex.EncodeToString(hash.Sum(nil))
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	return up, os.Rename(f.Name(), filepath.Join(u.dir, up.ID+".jsonl"))
}

// sweep deletes files that no run uses, and returns an error if there are too many others.
func (s *Server) sweep(ctx context.Context) error {
	u := &s.uploads
	u.mu.Lock()
	defer u.mu.Unlock()
	all, err := os.ReadDir(u.dir)
	if err != nil {
		return err
	}
	var size int64
	for _, e := range all {
		info, err := e.Info()
		if err != nil { // it was renamed meanwhile
			continue
		}
		if time.Since(info.ModTime()) > unusedTime {
			runs, err := s.opts.Engine.Runs(ctx, journal.Filter{Labels: map[string]string{uploadLabel: strings.TrimSuffix(e.Name(), ".jsonl")}, Limit: 1})
			if err != nil {
				return err
			}
			if len(runs) == 0 {
				if err := os.Remove(filepath.Join(u.dir, e.Name())); err != nil {
					return err
				}
				continue
			}
		}
		size += info.Size()
	}
	if size >= mostUploads*u.most {
		return badf(http.StatusInsufficientStorage, "there are uploads of %d bytes, which is as many as may be; those that no run has are deleted after a day, and plc gc deletes old runs", size)
	}
	return nil
}
