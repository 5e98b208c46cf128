package memory_test

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
)

func Example() {
	ctx := context.Background()
	store := memory.New()
	defer store.Close()
	run, err := store.Create(ctx, "run1", &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte("[]")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	run.Append(&exec.Event{Type: exec.RunStarted})
	run.Close()
	sum, err := store.Summary(ctx, "run1")
	fmt.Println(sum.Plan, sum.Status, err)
	// Output: plan.json interrupted <nil>
}
