// Package plantest runs programs in tests: no tool is called, time is made up, and faults come when
// they are told to.
//
//	out, err := plantest.Run(prog, &plantest.Options{World: plantest.World{
//		"charge_card": {Config: standin.Config{Return: json.RawMessage(`{"id": "c1"}`)}},
//		"send_email":  {Config: standin.Config{Fail: &tool.Error{Code: "busy"}}},
//	}})
//	fmt.Println(out.Status, out.Effects)
//
// Run runs a program once. What stands in for its tools is the World; the clock goes on when
// nothing else can, so that an hour's backoff takes no time. It is deterministic: the same program
// and options give the same Outcome. Explore runs a program many times, with a fault at each of its
// attempts and with several faults together, and says which conditions over effects did not hold.
// A Coverage says which parts of programs no run has reached.
//
// All of it is exec.Stepper under a scheduler that this package has: what a program does here is
// what it does in exec.Run. Functions may be called by several goroutines at once. Test files
// (*.test.yaml) are read by package plc, which knows plans and tool files by name: see
// Engine.PlanTests.
package plantest
