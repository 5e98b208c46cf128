package temporal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// Values are decrypted with any of the keys, and with no other; what was not encrypted stays.
func TestCodec(t *testing.T) {
	a, b := strings.Repeat("0a", 32), strings.Repeat("Cw", 21)+"s=" // hexadecimal and base64
	old, err := ParseKeys(a)
	if err != nil {
		t.Fatal(err)
	}
	both, err := ParseKeys(b + ", " + a)
	if err != nil {
		t.Fatal(err)
	}
	plain := []*commonpb.Payload{{Metadata: map[string][]byte{converter.MetadataEncoding: []byte("json/plain")}, Data: []byte(`"secret"`)}}
	sealed, err := old.Encode(plain)
	if err != nil || strings.Contains(sealed[0].String(), "secret") {
		t.Fatal(sealed, err)
	}
	if out, err := both.Decode(append(sealed, plain...)); err != nil || string(out[0].Data) != `"secret"` || string(out[1].Data) != `"secret"` {
		t.Error(out, err)
	}
	if sealed, err = both.Encode(plain); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Decode(sealed); err == nil || !strings.Contains(err.Error(), "which is not among those") {
		t.Error(err)
	}
	sealed[0].Data[20] ^= 1
	if _, err := both.Decode(sealed); err == nil {
		t.Error("read a value that was changed")
	}
	for _, keys := range []string{"", "0a", "secret", a + ","} {
		if _, err := ParseKeys(keys); err == nil {
			t.Errorf("took %q for keys", keys)
		}
	}
}

// A value of the storage is the one that was stored, or an error that says what is wrong.
func TestStorage(t *testing.T) {
	f := &files{t.TempDir()}
	p := &commonpb.Payload{Data: []byte("large")}
	ctx := converter.StorageDriverStoreContext{Context: t.Context()}
	claims, err := f.Store(ctx, []*commonpb.Payload{p, p})
	if err != nil || len(claims) != 2 {
		t.Fatal(claims, err)
	}
	read := converter.StorageDriverRetrieveContext{Context: t.Context()}
	if got, err := f.Retrieve(read, claims); err != nil || string(got[1].Data) != "large" {
		t.Error(got, err)
	}
	name := claims[0].ClaimData[claimDigest]
	if err := os.WriteFile(f.path(name), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Retrieve(read, claims); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Error(err)
	}
	if err := os.Remove(f.path(name)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Retrieve(read, claims); err == nil || !strings.Contains(err.Error(), "must share one") {
		t.Error(err)
	}
	claims[0].ClaimData[claimDigest] = "../" + filepath.Base(f.folder)
	if _, err := f.Retrieve(read, claims); err == nil || !strings.Contains(err.Error(), "names no value") {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(f.folder, "*", "part-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
