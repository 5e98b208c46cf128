package agentframework

import (
	"github.com/plc-lang/plc/loop"
)

// Values are named values in their original order.
type Values = loop.Object

// nullable returns a pointer to s, or nil if s is "".
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
