package plc_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool"
)

type text struct {
	Text string `json:"text"`
}

func words(_ context.Context, in text) ([]string, error) { return strings.Fields(in.Text), nil }

func Example() {
	eng := plc.New(plc.Config{Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words)}})
	defer eng.Close()
	res, err := eng.Run(context.Background(), plc.Spec{
		Plan:   plc.Text(`{"calls": [{"_tool": "words", "text": "†input.text", "_outputPath": "†state.words"}], "output": "†state.words"}`),
		Values: plc.Values{Input: []plc.Source{plc.JSON(map[string]string{"text": "the cat and the dog"})}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status, string(res.Output))
	// Output: completed ["the","cat","and","the","dog"]
}

func ExampleEngine_Check() {
	eng := plc.New(plc.Config{Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words)}})
	defer eng.Close()
	p, err := eng.Check(context.Background(), plc.Spec{Plan: plc.Text(`[{"_tool": "word", "text": "the cat", "_outputPath": "†state.words"}]`)})
	if err != nil {
		fmt.Println(err) // the world: a file that can't be read
		return
	}
	var faulty *plc.PlanError
	if errors.As(p.Err(), &faulty) {
		for _, f := range faulty.Findings {
			fmt.Println(f.Code, f.Message)
		}
	}
	// Output: PLC201 unknown tool "word"; did you mean "words"?
}

// An error of Run is about the plan, about a setting, or about the world: here, a file.
func ExamplePlanError() {
	eng := plc.New(plc.Config{})
	defer eng.Close()
	for _, spec := range []plc.Spec{
		{Plan: plc.Text(`[{"_tool": "greet"}]`)},
		{Plan: plc.Text(`[]`), OnFailure: "retry"},
		{Plan: plc.File("no-such-plan.json")},
	} {
		_, err := eng.Run(context.Background(), spec)
		var faulty *plc.PlanError
		var setting *plc.SpecError
		var file *plc.FileError
		switch {
		case errors.As(err, &faulty):
			f := faulty.Findings[0]
			fmt.Println("finding:", f.Code, f.Message)
		case errors.As(err, &setting):
			fmt.Println("setting:", setting.Setting)
		case errors.As(err, &file):
			fmt.Println("file:", file.Name, errors.Is(err, fs.ErrNotExist))
		default:
			fmt.Println(err)
		}
	}
	// Output:
	// finding: PLC201 unknown tool "greet"
	// setting: on-failure
	// file: no-such-plan.json true
}

// A run that has to wait for a person is resumed once somebody has answered, in this
// process or another.
func ExampleEngine_Resume() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "runs.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words)}})
	defer eng.Close()

	res, err := eng.Run(ctx, plc.Spec{
		Plan:      plc.Text(`{"calls": [{"_tool": "words", "text": "the cat", "_outputPath": "†state.words"}], "output": "†state.words"}`),
		Approvals: plc.Approvals{Calls: plc.ApproveAll},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status)
	questions, err := eng.Questions(ctx, res.Run)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range questions {
		fmt.Println(q.Path, q.Tool, string(q.Params))
		if err := eng.Answer(ctx, res.Run, journal.Answer{Instance: q.Instance, Path: q.Path, Answer: exec.Answer{Approved: true, Digest: q.Digest}}); err != nil {
			fmt.Println(err)
			return
		}
	}
	res, err = eng.Resume(ctx, res.Run, plc.Change{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status, string(res.Output))
	// Output:
	// paused
	// words words {"text":"the cat"}
	// completed ["the","cat"]
}
