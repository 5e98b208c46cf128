package approval_test

import (
	"fmt"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile/report"
)

func Example() {
	shown := report.Manifest(`{"calls":{"pay":{"amount":5}}}`)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	f := approval.Request("plan.json", shown, now)
	if err := f.Approve("ada", now); err != nil {
		panic(err)
	}
	f, err := approval.Read(f.JSON(nil), nil) // the file, when the plan is run
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Allows(shown, now))
	fmt.Println(f.Allows(report.Manifest(`{"calls":{"pay":{"amount":500}}}`), now))
	// Output:
	// <nil>
	// what would run is not what was approved
}
