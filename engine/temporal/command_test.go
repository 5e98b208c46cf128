package temporal

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/effort"
)

// commands are plc and plc-temporal, as users have them.
type commands struct {
	t   *testing.T
	dir string
	env []string
}

// built builds the commands.
func built(t *testing.T) *commands {
	s := needServer(t)
	dir := t.TempDir()
	for module, program := range map[string]string{"../..": "plc", ".": "plc-temporal"} {
		build := osexec.Command("go", "build", "-C", module, "-o", dir, "./cmd/"+program)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
	}
	return &commands{t, dir, append(os.Environ(),
		"PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"), "TEMPORAL_ADDRESS="+s.address, "TEMPORAL_CONFIG_FILE="+filepath.Join(dir, "none"),
		"PLC_TEMPORAL_QUEUE="+t.Name(), "PLC_TEMPORAL_STORAGE="+filepath.Join(dir, "storage"), "PLC_TEMPORAL_KEYS="+strings.Repeat("01", 32),
		"HOME="+dir, "XDG_CACHE_HOME="+dir)}
}

func (c *commands) command(line string) *osexec.Cmd {
	words := strings.Fields(line)
	cmd := osexec.Command(filepath.Join(c.dir, words[0]), words[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	return cmd
}

// run runs a line and returns what it wrote to standard output. It has to end with this exit code.
func (c *commands) run(code int, line string) string {
	c.t.Helper()
	cmd := c.command(line)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is compared
	if got := cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("%s: exit %d, want %d\n%s\n%s", line, got, code, out.String(), errs.String())
	}
	c.t.Logf("%s\n%s%s", line, errs.String(), out.String())
	return strings.TrimSpace(out.String())
}

// shows waits until the output of a line has a text.
func (c *commands) shows(line, want string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		out, err := c.command(line).CombinedOutput()
		if strings.Contains(string(out), want) {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s does not show %q: %v\n%s", line, want, err, out)
		}
	}
}

// The commands do what docs/temporal.md says.
func TestCommands(t *testing.T) {
	if !effort.Long() {
		t.Skip("PLC_TESTS=long builds the commands and runs them")
	}
	t.Parallel()
	c := built(t)
	for name, text := range map[string]string{
		"tools.yaml": `
tools:
  greet: {properties: {name: {type: string}}, effects: {readOnly: true}}
  wipe: {properties: {disk: {type: string}}, effects: {destructive: true}}
  slow: {effects: {readOnly: true}}
activities:
  greet: {echo: true, queue: other}
  wipe: {return: wiped}
  slow: {return: 1, after: 50s}
`,
		"greet.json":  `{"calls": [{"_tool": "greet", "name": "†input.name", "_outputPath": "†state.a"}], "output": "†state.a.name"}`,
		"lines.jsonl": strings.Repeat(`{"name": "Ada"}`+"\n", 120),
		"wipe.json":   `[{"_tool": "wipe", "disk": "a", "_outputPath": "†state.a"}]`,
		"slow.json":   `[{"_tool": "slow", "_outputPath": "†state.a"}]`,
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	worker := c.command("plc worker --queues TestCommands,other")
	worker.Stderr = os.Stderr
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer worker.Wait()
	defer worker.Process.Signal(os.Interrupt)

	if got := c.run(0, "plc run greet.json --tools tools.yaml --input name=Ada --engine temporal"); got != `"Ada"` {
		t.Error(got)
	}
	if got := c.run(0, "plc run wipe.json --tools tools.yaml --engine temporal --yes --format json"); !strings.Contains(got, `"status": "completed"`) {
		t.Error(got)
	}
	lines := c.run(0, "plc run greet.json --tools tools.yaml --instances lines.jsonl --engine temporal --format json")
	if got := strings.Split(lines, "\n"); len(got) != 121 || !strings.Contains(got[119], `"instance":"120","status":"completed"`) || !strings.Contains(got[120], `"instances":{"completed":120,"failed":0}`) {
		t.Error(lines)
	}
	if got := c.run(0, "plc temporal results last"); strings.Count(got, "\n") != 119 {
		t.Error(got)
	}
	run := c.run(0, "plc run wipe.json --tools tools.yaml --engine temporal --detach")
	c.shows("plc temporal show "+run, "the tool \"wipe\" is destructive")
	c.run(4, "plc temporal approve "+run)
	c.run(2, "plc temporal approve "+run+" --digest 0123")
	c.run(0, "plc temporal approve "+run+" wipe --yes")
	c.shows("plc temporal show "+run, "completed: 1 of 1 call completed")
	c.shows("plc temporal events "+run, `"type":"approvalAnswered"`)
	c.shows("plc temporal runs", run)

	run = c.run(0, "plc run wipe.json --tools tools.yaml --engine temporal --detach")
	c.shows("plc temporal show "+run, "destructive")
	c.run(0, "plc temporal reject "+run+" --reason no")
	c.shows("plc temporal show "+run, "rejected")
	c.shows("plc temporal runs", "failed")

	run = c.run(0, "plc run slow.json --tools tools.yaml --engine temporal --detach")
	c.shows("plc temporal show "+run, "1 running")
	c.run(0, "plc temporal cancel "+run)
	c.shows("plc temporal show "+run, "cancelled")
	c.run(0, "plc temporal resume "+run+" --detach")
	c.shows("plc temporal show "+run, "1 running")
	c.run(0, "plc temporal cancel "+run)
	c.run(2, "plc temporal resume none")
}
