package agentframework

import (
	"github.com/plc-lang/plc/loop"
)

// Values are values by name, in the order in which they came.
type Values = loop.Object

// nullable returns a text, null where it is "".
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
