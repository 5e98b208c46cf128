package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// A tape keeps replies as it keeps answers, in one file. What is told is no part of a turn.
func TestTapeOfTurns(t *testing.T) {
	var file bytes.Buffer
	tape, err := model.ReadTape(nil, &file)
	if err != nil {
		t.Fatal(err)
	}
	config := model.Config{Model: "m", APIKey: "secret", BaseURL: "http://here"}
	turn := model.Turn{System: "s", Messages: hello, Functions: []model.Function{weather}, Schema: json.RawMessage(`{"type": "object"}`), Attempt: 1}
	want := model.Reply{Text: "†<&>", Calls: []model.FunctionCall{{ID: "c", Name: "weather", Params: "{\"city\": 1.50"}}, Stop: model.Length, Reason: "r", Input: 3, Output: 2, Cached: 1}
	live := &converses{reply: want}
	live.reply.Calls = slices.Clone(want.Calls)
	for _, streamed := range []bool{true, false, true} {
		got, err := ask(t.Context(), tape.Converser(config, live), turn, streamed)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		got.Calls[0].Name = "changed" // which is the caller's to do
	}
	if _, err := tape.Client(config, &says{answer: model.Answer{Text: "a"}}).Complete(t.Context(), &model.Request{Schema: json.RawMessage(`{}`)}); err != nil {
		t.Error(err)
	}
	if live.asked != 1 || strings.Contains(file.String(), "secret") || strings.Contains(file.String(), "here") || strings.Count(file.String(), "\n") != 2 {
		t.Errorf("asked %d times, recorded %s", live.asked, file.String())
	}

	again, err := model.ReadTape(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Name = "tape.jsonl"
	moved := model.Config{Model: "m", BaseURL: "http://elsewhere"}
	for _, streamed := range []bool{true, false} {
		got, err := ask(t.Context(), again.Converser(moved, nil), turn, streamed)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("replayed: %+v, %v", got, err)
		}
	}
	for name, change := range map[string]func(*model.Turn){
		"system":    func(t *model.Turn) { t.System = "" },
		"messages":  func(t *model.Turn) { t.Messages = append(t.Messages, t.Messages...) },
		"functions": func(t *model.Turn) { t.Functions = nil },
		"schema":    func(t *model.Turn) { t.Schema = nil },
		"strict":    func(t *model.Turn) { t.Strict = true },
		"attempt":   func(t *model.Turn) { t.Attempt = 2 },
	} {
		other := turn
		change(&other)
		if model.Recorded(again.Converser(moved, live), &other) {
			t.Errorf("another %s is on record", name)
		}
		_, err := again.Converser(moved, live).Converse(t.Context(), &other)
		if code(err) != "no-recording" || !err.(*tool.Error).Permanent || !strings.Contains(err.Error(), "in tape.jsonl") || !strings.Contains(err.Error(), "record it anew") {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := again.Converser(moved, nil).Converse(t.Context(), &model.Turn{Messages: hello, Schema: json.RawMessage("{")}); code(err) != model.BadTurn {
		t.Errorf("a turn that can't be sent: %v", err)
	}
	if live.asked != 1 {
		t.Errorf("asked %d times", live.asked)
	}
	fresh, _ := model.ReadTape(nil, io.Discard)
	for c, want := range map[model.Converser]bool{again.Converser(moved, nil): true, fresh.Converser(moved, again.Converser(moved, nil)): true, fresh.Converser(moved, live): false, live: false} {
		if model.Recorded(c, &turn) != want {
			t.Errorf("on record: %v, want %v", !want, want)
		}
	}
}

// Replies that are told stay what was told, also when another was recorded meanwhile; those
// that are not are the recorded one.
func TestTapeOfEqualTurns(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		var file bytes.Buffer
		tape, _ := model.ReadTape(nil, &file)
		first := &converses{reply: model.Reply{Text: "first", Input: 1}}
		second := meanwhile{func() {
			if _, err := ask(t.Context(), tape.Converser(model.Config{}, first), model.Turn{Messages: hello}, streamed); err != nil {
				t.Error(err)
			}
		}, converses{reply: model.Reply{Text: "second", Input: 2}}}
		got, err := ask(t.Context(), tape.Converser(model.Config{}, &second), model.Turn{Messages: hello}, streamed)
		want := map[bool]string{true: "second", false: "first"}[streamed]
		if err != nil || got.Text != want || got.Input != 2 || strings.Count(file.String(), "\n") != 1 {
			t.Errorf("streamed=%t: %+v, %v", streamed, got, err)
		}
	}
}

// meanwhile does something before it says what it says.
type meanwhile struct {
	do func()
	converses
}

func (m *meanwhile) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	m.do()
	return m.converses.Converse(ctx, turn)
}
