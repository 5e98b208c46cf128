package driver

import (
	"bytes"
	"context"
	"encoding/json"
)

// Redactor takes secrets out of what programs and servers say.
type Redactor interface {
	Text(s string) string                        // of a text
	Value(value json.RawMessage) json.RawMessage // of a JSON value, or of what was to be one
}

type redactorKey struct{}

// WithRedactor returns a context of a call of whose answers the driver shows nothing before r took
// the secrets out: once a text is cut, a part of a secret can no longer be found in it.
func WithRedactor(ctx context.Context, r Redactor) context.Context {
	return context.WithValue(ctx, redactorKey{}, r)
}

// Clean returns an output as a text without the secrets that WithRedactor named.
func Clean(ctx context.Context, output []byte) []byte {
	if r, ok := ctx.Value(redactorKey{}).(Redactor); ok {
		if clean := r.Text(string(output)); clean != string(output) {
			return []byte(clean)
		}
	}
	return output
}

// CleanJSON returns an output that is to be JSON without the secrets that WithRedactor named. JSON
// stays JSON, and what is none stays none.
func CleanJSON(ctx context.Context, output []byte) []byte {
	if r, ok := ctx.Value(redactorKey{}).(Redactor); ok && len(bytes.TrimSpace(output)) > 0 {
		return r.Value(output)
	}
	return output
}
