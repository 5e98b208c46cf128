package temporal

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
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
	if err != nil || len(files) < 13 {
		t.Fatalf("%d histories: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var opts client.Options
			if _, err := (&Options{}).apply(&opts); err != nil {
				t.Fatal(err)
			}
			replay, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: opts.DataConverter})
			if err != nil {
				t.Fatal(err)
			}
			w := &workflows{&programs{config: plc.Config{}}}
			replay.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: workflowType})
			replay.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: partType})
			text, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer text.Close()
			h, err := client.HistoryFromJSON(text, client.HistoryJSONOptions{})
			if err != nil {
				t.Fatal(err)
			}
			run := h.Events[0].GetWorkflowExecutionStartedEventAttributes().WorkflowId // of which parts have their ids
			err = replay.ReplayWorkflowHistoryWithOptions(quiet, h, worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: run}})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
