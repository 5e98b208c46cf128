package temporal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// files keeps payloads in a folder, each in a file that is named by its digest. Files are never
// changed, so writing one again does no harm.
type files struct{ folder string }

const claimDigest = "sha256"

// externalStorage returns a storage of large values in a folder.
func externalStorage(folder string) converter.ExternalStorage {
	return converter.ExternalStorage{Drivers: []converter.StorageDriver{&files{folder}}, PayloadSizeThreshold: mostInline}
}

// Name implements converter.StorageDriver. The folder is not part of it, so that it may move.
func (f *files) Name() string { return "plc-files" }

// Type implements converter.StorageDriver.
func (f *files) Type() string { return "plc-files" }

// Store implements converter.StorageDriver.
func (f *files) Store(ctx converter.StorageDriverStoreContext, payloads []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(payloads))
	for i, p := range payloads {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
		if err != nil {
			return nil, err
		}
		name := digest(text)
		if err := ctx.GetLimiter().Permit(ctx.Context, p, func() error { return f.write(name, text) }); err != nil {
			return nil, err
		}
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{claimDigest: name}}
	}
	return claims, nil
}

// Retrieve implements converter.StorageDriver.
func (f *files) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	payloads := make([]*commonpb.Payload, len(claims))
	for i, c := range claims {
		payloads[i] = &commonpb.Payload{}
		err := ctx.GetLimiter().Permit(ctx.Context, c, func() error { return f.read(c.ClaimData[claimDigest], payloads[i]) })
		if err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

func (f *files) path(name string) string { return filepath.Join(f.folder, name[:2], name) }

// write puts a file into its place only when it is whole and on disk.
func (f *files) write(name string, text []byte) error {
	path := f.path(name)
	if _, err := os.Stat(path); err == nil {
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

func (f *files) read(name string, into *commonpb.Payload) error {
	if len(name) != 64 || !filepath.IsLocal(name) || filepath.Base(name) != name {
		return fmt.Errorf("%q names no value of the storage", name)
	}
	text, err := os.ReadFile(f.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the storage %s does not have the value %s: all workers and clients must share one", f.folder, name)
	case err != nil:
		return err
	case digest(text) != name:
		return fmt.Errorf("the value %s of the storage %s is damaged", name, f.folder)
	}
	return proto.Unmarshal(text, into)
}
