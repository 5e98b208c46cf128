package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// place stores texts by digest. A text never changes, so storing it twice does no harm.
type place interface {
	// put stores a text. If it exists, put updates the time of its last use.
	put(ctx context.Context, name string, text []byte) error
	// get returns a text; the error is fs.ErrNotExist if there is none.
	get(ctx context.Context, name string) ([]byte, error)
	// all yields the names of the texts, and when each was last stored.
	all(ctx context.Context) iter.Seq2[stored, error]
	remove(ctx context.Context, name string) error
	String() string
}

type stored struct {
	name string
	at   time.Time
	size int64
}

// values stores payloads in a place, each under its digest.
type values struct {
	place
	kind string
}

const claimDigest = "sha256"

// storageAt returns the storage for Options.Storage.
func storageAt(name string) (*values, error) {
	if !strings.HasPrefix(name, "s3:") {
		return &values{files(name), "plc-files"}, nil
	}
	b, err := bucketAt(name)
	if err != nil {
		return nil, fmt.Errorf("the storage %q: %w", name, err)
	}
	return &values{b, "plc-s3"}, nil
}

// externalStorage returns the storage in the form that the SDK needs.
func (v *values) externalStorage() converter.ExternalStorage {
	return converter.ExternalStorage{Drivers: []converter.StorageDriver{v}, PayloadSizeThreshold: mostInline}
}

// Name implements converter.StorageDriver. The name doesn't include the location, so that the
// storage can be moved.
func (v *values) Name() string { return v.kind }

// Type implements converter.StorageDriver.
func (v *values) Type() string { return v.kind }

// Store implements converter.StorageDriver.
func (v *values) Store(ctx converter.StorageDriverStoreContext, payloads []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(payloads))
	for i, p := range payloads {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
		if err != nil {
			return nil, err
		}
		name := digest(text)
		if err := ctx.GetLimiter().Permit(ctx.Context, p, func() error { return v.put(ctx.Context, name, text) }); err != nil {
			return nil, err
		}
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{claimDigest: name}}
	}
	return claims, nil
}

// Retrieve implements converter.StorageDriver.
func (v *values) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	payloads := make([]*commonpb.Payload, len(claims))
	for i, c := range claims {
		payloads[i] = &commonpb.Payload{}
		err := ctx.GetLimiter().Permit(ctx.Context, c, func() error { return v.read(ctx.Context, c.ClaimData[claimDigest], payloads[i]) })
		if err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

// isDigest reports whether a text is the name of a value.
func isDigest(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == sha256.Size
}

func (v *values) read(ctx context.Context, name string, into *commonpb.Payload) error {
	if !isDigest(name) {
		return fmt.Errorf("%q names no value of the storage", name)
	}
	text, err := v.get(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the storage %s does not have the value %s: all workers and clients must share one", v, name)
	case err != nil:
		return err
	case digest(text) != name:
		return fmt.Errorf("the value %s of the storage %s is damaged", name, v)
	}
	return proto.Unmarshal(text, into)
}

// files is a folder with one file per text.
type files string

func (f files) String() string { return string(f) }

func (f files) path(name string) string { return filepath.Join(string(f), name[:2], name) }

// put renames a file into its place only after it was completely written to disk.
func (f files) put(_ context.Context, name string, text []byte) error {
	path := f.path(name)
	if now := time.Now(); os.Chtimes(path, now, now) == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(path), "part-*")
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

func (f files) get(_ context.Context, name string) ([]byte, error) { return os.ReadFile(f.path(name)) }

func (f files) remove(_ context.Context, name string) error { return os.Remove(f.path(name)) }

func (f files) all(context.Context) iter.Seq2[stored, error] {
	return func(yield func(stored, error) bool) {
		err := filepath.WalkDir(string(f), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !isDigest(e.Name()) {
				return err
			}
			info, err := e.Info()
			if err == nil && !yield(stored{e.Name(), info.ModTime(), info.Size()}, nil) {
				err = fs.SkipAll
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(stored{}, err)
		}
	}
}
