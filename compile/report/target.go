package report

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// TargetDigest returns the SHA-256 of all that a target is, in hexadecimal. It costs time linear in
// what was declared.
func TargetDigest(t *compile.Target) string { return jsonscan.Digest(appendIdentity(nil, t, nil)) }

// appendIdentity appends all that the target is as a JSON object: what it runs, where, and what the
// definitions of its tools say. The name of a tool file makes no difference. named is the name of
// the program of a delegate, when that is told elsewhere; nil tells it by its digest.
func appendIdentity(dst []byte, t *compile.Target, named func(*compile.Delegate) string) []byte {
	dst = append(dst, '{')
	dst = appendMember(dst, "tool", string(toolIdentity(t.Tool)))
	defs := make([]string, len(t.Definitions))
	for i, d := range t.Definitions {
		defs[i] = "[" + jsonscan.Quote(d.Name) + "," + string(jsonscan.OrNull(d.Raw)) + "]"
	}
	dst = appendMember(dst, "definitions", "["+strings.Join(defs, ",")+"]")
	owners := make([]string, len(t.Owners))
	for i, o := range t.Owners {
		owners[i] = string(toolIdentity(o))
	}
	if len(owners) > 0 {
		dst = appendMember(dst, "owners", "["+strings.Join(owners, ",")+"]")
	}
	dst = appendMember(dst, "driver", jsonscan.Quote(t.Driver))
	if t.Name != "" {
		dst = appendMember(dst, "activity", jsonscan.Quote(t.Name))
	}
	if t.Picked {
		dst = appendMember(dst, "picked", "true")
	}
	place, err := json.Marshal(t.Place)
	if err != nil {
		panic(err) // it has texts only
	}
	dst = appendMember(dst, "place", string(place))
	if jsonscan.LosesBytes(place) {
		dst = appendMember(dst, "bytes", jsonscan.Quote(fmt.Sprintf("%x", sha256.Sum256(jsonscan.Exact(t.Place)))))
	}
	dst = appendMember(dst, "origin", "["+jsonscan.Quote(t.Origin.Kind)+","+jsonscan.Quote(t.Origin.Digest)+"]")
	if t.Raw != nil {
		dst = appendMember(dst, "declared", string(t.Raw))
	}
	if t.Remote != nil {
		dst = appendMember(dst, "remote", string(t.Remote))
	}
	if t.Limits != (tool.Limits{}) {
		dst = appendMember(dst, "limits", jsonscan.Quote(limitsText(t.Limits)+" of "+t.Limiter))
	}
	if t.Timeout > 0 {
		dst = appendMember(dst, "timeout", jsonscan.Quote(t.Timeout.String()))
	}
	dst = appendMember(dst, "effects", jsonscan.Quote(effectsText(t.Effects)))
	if t.Undo != nil {
		undo, err := json.Marshal(t.Undo)
		if err != nil {
			panic(err) // its params have been read as JSON
		}
		dst = appendMember(dst, "undo", string(undo))
	}
	if t.Approve.Needed {
		dst = appendMember(dst, "approve", jsonscan.Quote(t.Approve.Reason))
	}
	switch {
	case t.Delegate == nil || t.Delegate.Program == nil:
	case named != nil:
		dst = appendMember(dst, "document", jsonscan.Quote(named(t.Delegate)))
	default:
		dst = appendMember(dst, "document", jsonscan.Quote(Digest(t.Delegate.Program, nil)))
	}
	return append(dst, '}')
}

// toolIdentity returns a tool as the identity of a target has it.
func toolIdentity(of *tool.Tool) []byte {
	dst := appendMember([]byte{'{'}, "name", jsonscan.Quote(of.Definition.Name))
	if text := effectsText(of.Definition.Effects); text != "" {
		dst = appendMember(dst, "effects", jsonscan.Quote(text))
	}
	if of.Limits != (tool.Limits{}) {
		dst = appendMember(dst, "limits", jsonscan.Quote(limitsText(of.Limits)))
	}
	return append(dst, '}')
}
