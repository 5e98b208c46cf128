package temporal

import (
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
