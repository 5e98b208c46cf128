package trace_test

import (
	"context"
	"fmt"
	"os"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/trace"
)

// A run that is traced when the environment says so.
func Example() {
	run := func(ctx context.Context, prog *compile.Program) (*exec.Result, error) {
		var t *trace.Tracer // traces nothing
		config, err := trace.FromEnvironment(os.Getenv)
		if err != nil {
			return nil, err
		}
		if config != nil {
			t = trace.New(config)
		}
		result, err := exec.Run(ctx, prog, &exec.Options{OnEvent: t.Event, Middleware: []tool.Middleware{t.Middleware}})
		if lost := t.Close(); lost != nil {
			fmt.Fprintln(os.Stderr, lost)
		}
		return result, err
	}
	_ = run
	fmt.Println("traced")
	// Output: traced
}
