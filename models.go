package plc

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"sync"

	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/anthropic"
	"github.com/plc-lang/plc/tool/model/openai"
)

// Models holds the models that tool files declare. A model is made when something needs it, so that
// a plan which needs none can do without its key. Its methods may be called by several goroutines
// at once.
type Models struct {
	declared map[string]*file.Model
	tapesOf  ModelTapes

	mu    sync.Mutex
	made  map[string]tool.Activity
	tapes map[string]*model.Tape // by their files
}

// Models returns the models that the tool files declare. They use recorded answers if tapes names
// some.
func (t *Tools) Models(tapes ModelTapes) (*Models, error) { return newModels(t.Files, tapes) }

func newModels(files []*file.File, f ModelTapes) (*Models, error) {
	if f.Record != "" && f.Replay != "" {
		return nil, &SpecError{"model-record", "and model-replay: keep one; a recording answers what it has as well"}
	}
	return &Models{
		declared: file.Models(files...), tapesOf: f, made: map[string]tool.Activity{}, tapes: map[string]*model.Tape{},
	}, nil
}

// Named returns the model with this name; "" is the default. It returns nil if there is none.
func (m *Models) Named(name string) (tool.Activity, error) {
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

func (m *Models) activity(d *file.Model) (tool.Activity, error) {
	client, err := m.client(d, config(d))
	if err != nil {
		return nil, err
	}
	return model.New(client, &model.Options{Prices: pricesOf(d), Provider: d.Provider, Model: d.Model}), nil
}

// provider is a client of a model, for requests and for conversations.
type provider interface {
	model.Client
	model.Converser
}

// client returns a client of a model, or of its recorded answers, for which no key is needed.
func (m *Models) client(d *file.Model, c model.Config) (model.Client, error) {
	next, tape, err := m.open(d, c)
	switch {
	case err != nil:
		return nil, err
	case next == nil:
		return tape.Client(c, nil), nil
	}
	several := model.Batch(next, d.Batch)
	if tape == nil {
		return several, nil
	}
	return tape.Client(c, several), nil
}

// Planner returns the model with this name as a planner, which repeats requests after failures that
// may be temporary; "" is the default. Recorded replies need no key.
func (m *Models) Planner(name string) (loop.Planner, error) {
	if name == "" {
		name = file.DefaultModel
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.declared[name]
	if !ok {
		return nil, fmt.Errorf("no tool file has the model %q; %s", name, nearOr(name, maps.Keys(m.declared), "declare it under \"models\", with its provider and its name there"))
	}
	c := config(d)
	next, tape, err := m.open(d, c)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the model %q can't be used: %w", name, err)
	case next == nil:
		return tape.Converser(c, nil), nil
	case tape == nil:
		return model.Retry(next, 0), nil
	}
	return tape.Converser(c, model.Retry(next, 0)), nil
}

// Prices returns the prices of the model with this name; "" is the default.
func (m *Models) Prices(name string) model.Prices {
	if name == "" {
		name = file.DefaultModel
	}
	if d, ok := m.declared[name]; ok {
		return pricesOf(d)
	}
	return model.Prices{}
}

// nameAt returns the provider's name for the model with this name; "" is the default.
func (m *Models) nameAt(name string) string {
	if d, ok := m.declared[cmp.Or(name, file.DefaultModel)]; ok {
		return d.Model
	}
	return ""
}

func pricesOf(d *file.Model) model.Prices {
	return model.Prices{Input: d.InputPrice, Output: d.OutputPrice}
}

// config returns the configuration of a model without its key.
func config(d *file.Model) model.Config {
	return model.Config{Model: d.Model, BaseURL: d.BaseURL, Temperature: d.Temperature, MaxTokens: d.MaxTokens}
}

// open returns a client of a model and its tape. The client is nil if only recorded answers are
// used, and the tape is nil if there are none.
func (m *Models) open(d *file.Model, c model.Config) (next provider, tape *model.Tape, err error) {
	record, replay := d.Record, d.Replay
	if m.tapesOf != (ModelTapes{}) {
		record, replay = m.tapesOf.Record, m.tapesOf.Replay
	}
	if replay != "" {
		tape, err = m.tape(replay, false)
		return nil, tape, err
	}
	if c.APIKey, err = d.APIKey(); err != nil {
		return nil, nil, err
	}
	if d.Provider == "anthropic" {
		next, err = anthropic.New(c)
	} else {
		next, err = openai.New(c)
	}
	if err == nil && record != "" {
		tape, err = m.tape(record, true)
	}
	return next, tape, err
}

// tape returns the recorded answers in a file, which it reads once. If more is true, new answers
// are added to the file.
func (m *Models) tape(name string, more bool) (*model.Tape, error) {
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
		out = f // it stays open until the process ends: writes are not buffered
	} else {
		defer f.Close()
	}
	t, err := model.ReadTape(f, out)
	if err != nil {
		return nil, fmt.Errorf("its recorded answers: %s: %w", File(name).shown(), err)
	}
	t.Name = File(name).shown()
	m.tapes[name] = t
	return t, nil
}

// nearOr returns a suggestion of the name that was probably meant, or otherwise if there is none.
func nearOr(word string, names iter.Seq[string], otherwise string) string {
	if near, ok := spell.Nearest(word, names); ok {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return otherwise
}
