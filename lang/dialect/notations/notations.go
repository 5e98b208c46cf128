// Package notations lists the notations that plans are read from (docs/dialects.md).
package notations

import (
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/agentframework"
	"github.com/plc-lang/plc/lang/dialect/arazzo"
	"github.com/plc-lang/plc/lang/dialect/flux"
	"github.com/plc-lang/plc/lang/dialect/llmcompiler"
	"github.com/plc-lang/plc/lang/dialect/mathqa"
	"github.com/plc-lang/plc/lang/dialect/mnms"
	"github.com/plc-lang/plc/lang/dialect/nestful"
	"github.com/plc-lang/plc/lang/dialect/planstep"
	"github.com/plc-lang/plc/lang/dialect/qdmr"
	"github.com/plc-lang/plc/lang/dialect/rewoo"
	"github.com/plc-lang/plc/lang/dialect/sealtools"
	"github.com/plc-lang/plc/lang/dialect/taskbench"
	"github.com/plc-lang/plc/lang/dialect/tea"
	"github.com/plc-lang/plc/lang/dialect/toolcalls"
)

// All returns the notations, by name.
func All() []*dialect.Notation {
	return []*dialect.Notation{
		agentframework.Notation(),
		arazzo.Notation(),
		flux.Notation(),
		llmcompiler.Notation(),
		mathqa.Notation(),
		mnms.Notation(),
		nestful.Notation(),
		planstep.Notation(),
		qdmr.Notation(),
		rewoo.Notation(),
		sealtools.Notation(),
		taskbench.Notation(),
		tea.Notation(),
		toolcalls.Notation(),
	}
}

// Lookup returns the notation of this name.
func Lookup(name string) (*dialect.Notation, bool) {
	for _, n := range All() {
		if n.Name == name {
			return n, true
		}
	}
	return nil, false
}

// Names returns the names of the notations.
func Names() []string {
	var names []string
	for _, n := range All() {
		names = append(names, n.Name)
	}
	return names
}
