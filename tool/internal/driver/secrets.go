package driver

import (
	"bytes"
	"context"
	"encoding/json"
)

// Redactor removes secrets from the output of programs and servers.
type Redactor interface {
	Text(s string) string                        // for any text
	Folded(s string) string                      // for a text in which letters may have changed their case
	Value(value json.RawMessage) json.RawMessage // for a JSON value, or a text that should be one
}

type redactorKey struct{}

// WithRedactor returns a context for a call. Drivers use r to remove the secrets from an answer
// before they quote or cut it, since a part of a secret can't be found afterwards.
func WithRedactor(ctx context.Context, r Redactor) context.Context {
	return context.WithValue(ctx, redactorKey{}, r)
}

// Clean returns an output as text, without the secrets that the redactor of the context knows.
func Clean(ctx context.Context, output []byte) []byte {
	if r, ok := ctx.Value(redactorKey{}).(Redactor); ok {
		if clean := r.Text(string(output)); clean != string(output) {
			return []byte(clean)
		}
	}
	return output
}

// CleanFolded does what Clean does for the name of a header, in which the case of letters may have
// changed.
func CleanFolded(ctx context.Context, name string) string {
	if r, ok := ctx.Value(redactorKey{}).(Redactor); ok {
		return r.Folded(name)
	}
	return name
}

// CleanJSON returns an output that should be JSON, without the secrets that the redactor of the
// context knows. Valid JSON stays valid, and invalid JSON stays invalid.
func CleanJSON(ctx context.Context, output []byte) []byte {
	if r, ok := ctx.Value(redactorKey{}).(Redactor); ok && len(bytes.TrimSpace(output)) > 0 {
		return r.Value(output)
	}
	return output
}
