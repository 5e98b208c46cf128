// Package plantest runs programs in tests: no tool is called, time is simulated, and faults occur
// where the test says.
//
//	out, err := plantest.Run(prog, &plantest.Options{World: plantest.World{
//		"charge_card": {Config: standin.Config{Return: json.RawMessage(`{"id": "c1"}`)}},
//		"send_email":  {Config: standin.Config{Fail: &tool.Error{Code: "busy"}}},
//	}})
//	fmt.Println(out.Status, out.Effects)
//
// Run runs a program once. The World stands in for its tools; the clock moves on when nothing else
// can happen, so that an hour's backoff takes no time. It is deterministic: the same program and
// options give the same Outcome. Explore runs a program many times, with a fault at each of its
// attempts and with several faults together, and says which conditions over effects did not hold. A
// Coverage says which parts of programs no run has reached.
//
// It drives an exec.Stepper, so a program does the same here as in exec.Run. Functions may be
// called by several goroutines at once. Package plc reads test files (*.test.yaml), which name
// plans and tool files: see Engine.PlanTests.
package plantest
