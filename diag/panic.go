package diag

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Panic returns the finding about a panic; value is the result of recover in the deferred function
// that calls Panic. The finding is at the beginning of file and names the place in plc's source
// where the panic started.
func Panic(file *File, value any) Finding {
	return Finding{
		Code: InternalError, Severity: Error, Loc: Loc{File: file},
		Message: fmt.Sprintf("plc failed at %s: %s; this is a fault in plc, not in the plan: "+
			"report it at https://github.com/plc-lang/plc/issues with the plan",
			panicSource(), strings.ToValidUTF8(fmt.Sprint(value), "\uFFFD")),
	}
}

// panicSource returns the place in the source where the panic that was recovered last started:
// compile/lint.go:82.
func panicSource() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicking && !inRuntime && f.File != "" {
			return fmt.Sprintf("%s:%d", path.Join(path.Base(path.Dir(f.File)), path.Base(f.File)), f.Line)
		}
		panicking = panicking || f.Function == "runtime.gopanic" || f.Function == "runtime.sigpanic"
		if !more {
			return "an unknown place"
		}
	}
}
