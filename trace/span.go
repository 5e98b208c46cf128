package trace

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
)

type (
	traceID [16]byte
	spanID  [8]byte
)

func (id traceID) String() string { return hex.EncodeToString(id[:]) }
func (id spanID) String() string  { return hex.EncodeToString(id[:]) }

func newSpanID() (id spanID) {
	for id == (spanID{}) {
		_, _ = rand.Read(id[:]) // never fails
	}
	return id
}

// parent is a remote span to which a trace is attached.
type parent struct {
	trace   traceID
	span    spanID
	state   string // tracestate
	sampled bool
}

// parseParent parses a traceparent (W3C Trace Context §3.2). Of versions later than 00, it reads
// the fields of version 00.
func parseParent(text string) (p parent, err error) {
	bad := fmt.Errorf("%q is no traceparent, which is as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", text)
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts) > 4 && parts[0] == "00" || text != strings.ToLower(text) {
		return p, bad
	}
	var version, flags [1]byte
	for i, into := range [][]byte{version[:], p.trace[:], p.span[:], flags[:]} {
		if len(parts[i]) != 2*len(into) {
			return p, bad
		}
		if _, err := hex.Decode(into, []byte(parts[i])); err != nil {
			return p, bad
		}
	}
	if version[0] == 0xff || p.trace == (traceID{}) || p.span == (spanID{}) {
		return p, bad
	}
	p.sampled = flags[0]&1 == 1
	return p, nil
}

// traceparent returns the header that passes a span to others.
func traceparent(trace traceID, span spanID, sampled bool) string {
	flags := "00"
	if sampled {
		flags = "01"
	}
	return "00-" + trace.String() + "-" + span.String() + "-" + flags
}

// The kinds of spans.
const (
	internal = 1
	client   = 3
)

// span is a span, in the making until it is sent.
type span struct {
	trace        traceID
	id, parent   spanID
	remote       bool // the parent is remote
	state, name  string
	kind         int
	begun, ended time.Time
	attributes   attributes
	events       []event
	failed       bool
}

// event is something that happened during a span.
type event struct {
	name       string
	time       time.Time
	attributes attributes
}

// attribute is a named property. The value is a string, an int64, a float64 or a bool.
type attribute struct {
	name  string
	value any
}

type attributes []attribute

// set adds or replaces an attribute.
func (a *attributes) set(name string, value any) {
	switch v := value.(type) {
	case string:
		value = shortened(v)
	case int64, bool:
	case int:
		value = int64(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) { // not allowed in JSON
			return
		}
	default:
		value = shortened(fmt.Sprint(v))
	}
	for i := range *a {
		if (*a)[i].name == name {
			(*a)[i].value = value
			return
		}
	}
	*a = append(*a, attribute{name, value})
}

// maxValue is the most bytes of a value, as names and codes may come from users.
const maxValue = 1024

func shortened(text string) string {
	if len(text) > maxValue {
		text = text[:maxValue]
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// text returns the value of a string attribute, or "".
func (a attributes) text(name string) string {
	for _, at := range a {
		if s, ok := at.value.(string); ok && at.name == name {
			return s
		}
	}
	return ""
}
