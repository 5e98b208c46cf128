package temporal

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc"
)

var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// Workflows of earlier versions do the same in this one. If that can't be, the version of input
// must say so, and workers must be deployed in versions; -update records them anew.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d histories: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			replay := worker.NewWorkflowReplayer()
			w := &workflows{&programs{config: plc.Config{}}}
			replay.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: workflowType})
			if err := replay.ReplayWorkflowHistoryFromJSONFile(quiet, file); err != nil {
				t.Error(err)
			}
		})
	}
}
