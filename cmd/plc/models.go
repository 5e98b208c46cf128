package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/anthropic"
	"github.com/plc-lang/plc/tool/model/openai"
)

// modelFlags are the flags about models.
type modelFlags struct{ record, replay string }

func (f *modelFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.record, "model-record", "", "record the answers of models in this file; what it has already is not asked again")
	fl.StringVar(&f.replay, "model-replay", "", "take the answers of models from this file, and ask none")
	completeFiles(c, "jsonl", "model-record", "model-replay")
}

// models are those of the tool files. They are made when a call needs them, so that a plan
// which needs none wants no key.
type models struct {
	declared map[string]*file.Model
	flags    modelFlags

	mu    sync.Mutex
	made  map[string]tool.Activity
	tapes map[string]*model.Tape // by their files
}

func newModels(files []*file.File, f modelFlags) (*models, error) {
	if f.record != "" && f.replay != "" {
		return nil, fmt.Errorf("--model-record and --model-replay: keep one; a recording answers what it has as well")
	}
	return &models{
		declared: file.Models(files...), flags: f, made: map[string]tool.Activity{}, tapes: map[string]*model.Tape{},
	}, nil
}

// named is the model of this name; see compile.Options.Models.
func (m *models) named(name string) (tool.Activity, error) {
	if name == "" {
		name = file.DefaultModel
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.made[name]; ok {
		return a, nil
	}
	d, ok := m.declared[name]
	if !ok {
		return nil, nil
	}
	a, err := m.activity(d)
	if err != nil {
		return nil, fmt.Errorf("the model %q can't be used: %w", name, err)
	}
	m.made[name] = a
	return a, nil
}

func (m *models) activity(d *file.Model) (tool.Activity, error) {
	c := model.Config{Model: d.Model, BaseURL: d.BaseURL, Temperature: d.Temperature, MaxTokens: d.MaxTokens}
	client, err := m.client(d, c)
	if err != nil {
		return nil, err
	}
	return model.New(client, &model.Options{Prices: model.Prices{Input: d.InputPrice, Output: d.OutputPrice}}), nil
}

// client is what speaks to a model, or to its recorded answers. These need no key.
func (m *models) client(d *file.Model, c model.Config) (model.Client, error) {
	record, replay := d.Record, d.Replay
	if m.flags != (modelFlags{}) {
		record, replay = m.flags.record, m.flags.replay
	}
	if replay != "" {
		tape, err := m.tape(replay, false)
		if err != nil {
			return nil, err
		}
		return tape.Client(c, nil), nil
	}
	var err error
	if c.APIKey, err = d.APIKey(); err != nil {
		return nil, err
	}
	speak := openai.New
	if d.Provider == "anthropic" {
		speak = anthropic.New
	}
	next, err := speak(c)
	if err != nil || record == "" {
		return next, err
	}
	tape, err := m.tape(record, true)
	if err != nil {
		return nil, err
	}
	return tape.Client(c, next), nil
}

// tape reads recorded answers, once for a file; with more, new ones are added to the file.
func (m *models) tape(name string, more bool) (*model.Tape, error) {
	if t, ok := m.tapes[name]; ok {
		return t, nil
	}
	flags := os.O_RDONLY
	if more {
		flags = os.O_RDWR | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("its recorded answers: %w", err)
	}
	var out io.Writer
	if more {
		out = f // open until the process ends: it holds nothing back
	} else {
		defer f.Close()
	}
	t, err := model.ReadTape(f, out)
	if err != nil {
		return nil, fmt.Errorf("its recorded answers: %s: %w", shownName(name), err)
	}
	m.tapes[name] = t
	return t, nil
}
