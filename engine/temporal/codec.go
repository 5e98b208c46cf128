package temporal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// mostPlain is the size, in bytes, above which values are compressed.
const mostPlain = 16 << 10

// compression compresses large values. What stands in plans, and in what is known of their calls,
// is much the same again and again.
type compression struct{}

var zlib = converter.NewZlibCodec(converter.ZlibCodecOptions{})

// Encode implements converter.PayloadCodec.
func (compression) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := slices.Clone(payloads)
	for i, p := range payloads {
		if len(p.Data) <= mostPlain {
			continue
		}
		small, err := zlib.Encode(payloads[i : i+1])
		if err != nil {
			return nil, err
		}
		out[i] = small[0]
	}
	return out, nil
}

// Decode implements converter.PayloadCodec.
func (compression) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return zlib.Decode(payloads)
}

// fits reports whether a value has at most most bytes after compression; 0 means no limit.
func fits(text []byte, most int) bool {
	if most == 0 || len(text) <= most {
		return true
	}
	small, err := zlib.Encode([]*commonpb.Payload{{Data: text}})
	return err == nil && len(small[0].Data) <= most
}

// Codec encrypts all values before they are sent to the server or a storage, with AES-GCM and
// 256-bit keys. It doesn't encrypt names: the IDs of runs and calls, and queues.
type Codec struct {
	keys []key // the first one encrypts
}

type key struct {
	id   string // a prefix of the key's digest
	aead cipher.AEAD
}

const (
	encrypted   = "binary/plc-aes-gcm"
	keyMetadata = "plc-key"
)

// ParseKeys parses one or more 32-byte keys in hexadecimal or base64, separated by commas. The
// first key encrypts; the others only decrypt older values.
func ParseKeys(text string) (*Codec, error) {
	c := &Codec{}
	for _, s := range strings.Split(text, ",") {
		raw, err := hex.DecodeString(strings.TrimSpace(s))
		if err != nil {
			raw, err = base64.StdEncoding.DecodeString(strings.TrimSpace(s))
		}
		if err != nil || len(raw) != 32 {
			return nil, errors.New("a key is 32 bytes in hexadecimal or base64, as openssl rand -hex 32 makes one")
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		c.keys = append(c.keys, key{digest(raw)[:16], aead})
	}
	return c, nil
}

var _ converter.PayloadCodec = (*Codec)(nil)

// Encode implements converter.PayloadCodec.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		k := c.keys[0]
		nonce := make([]byte, k.aead.NonceSize())
		rand.Read(nonce) // never fails
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encrypted), keyMetadata: []byte(k.id)},
			Data:     k.aead.Seal(nonce, nonce, plain, nil),
		}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec. Values that weren't encrypted stay unchanged.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.Metadata[converter.MetadataEncoding]) != encrypted {
			out[i] = p
			continue
		}
		var err error
		if out[i], err = c.decrypt(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Codec) decrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	id := string(p.Metadata[keyMetadata])
	for _, k := range c.keys {
		if k.id != id || len(p.Data) < k.aead.NonceSize() {
			continue
		}
		nonce, sealed := p.Data[:k.aead.NonceSize()], p.Data[k.aead.NonceSize():]
		plain, err := k.aead.Open(nil, nonce, sealed, nil)
		if err != nil {
			return nil, fmt.Errorf("a value can't be decrypted: %w", err)
		}
		out := &commonpb.Payload{}
		return out, proto.Unmarshal(plain, out)
	}
	return nil, fmt.Errorf("a value was encrypted with the key %q, which is not among those that were given", id)
}
