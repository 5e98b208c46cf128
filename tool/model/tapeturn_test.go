package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
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
	for _, streamed := range []bool{true, false, true} {
		got, err := ask(t.Context(), tape.Converser(config, live), turn, streamed)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := tape.Client(config, &says{answer: model.Answer{Text: "a"}}).Complete(t.Context(), &model.Request{Schema: json.RawMessage(`{}`)}); err != nil {
		t.Error(err)
	}
	if live.asked != 3 || strings.Contains(file.String(), "secret") || strings.Contains(file.String(), "here") || strings.Count(file.String(), "\n") != 4 {
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
		got.Calls[0].Name = "changed" // which is the caller's to do
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
		if code(err) != "no-recording" || !err.(*tool.Error).Permanent || !strings.Contains(err.Error(), "in tape.jsonl") || !strings.Contains(err.Error(), "record it again") {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := again.Converser(moved, nil).Converse(t.Context(), &model.Turn{Messages: hello, Schema: json.RawMessage("{")}); code(err) != model.BadTurn {
		t.Errorf("a turn that can't be sent: %v", err)
	}
	if live.asked != 3 {
		t.Errorf("asked %d times", live.asked)
	}
	fresh, _ := model.ReadTape(nil, io.Discard)
	for c, want := range map[model.Converser]bool{again.Converser(moved, nil): true, fresh.Converser(moved, again.Converser(moved, nil)): true, fresh.Converser(moved, live): false, live: false} {
		if model.Recorded(c, &turn) != want {
			t.Errorf("on record: %v, want %v", !want, want)
		}
	}
}

// jokes is a model that says something else each time.
type jokes struct{ told int }

func (j *jokes) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	j.told++
	reply := &model.Reply{Text: fmt.Sprintf("joke %d", j.told)}
	if turn.OnText != nil {
		return reply, turn.OnText(reply.Text)
	}
	return reply, ctx.Err()
}

// Equal requests get an answer each: in the order of the places that ask, whatever the order in
// which they ask the second time. A place that asked nothing before does not get the answer of
// another.
func TestTapeOfEqualTurns(t *testing.T) {
	var file bytes.Buffer
	tape, _ := model.ReadTape(nil, &file)
	joke := func(c model.Converser, place string, streamed bool) string {
		reply, err := ask(t.Context(), c, model.Turn{Messages: hello, Place: place}, streamed)
		if err != nil {
			return err.Error()
		}
		return reply.Text
	}
	live := &jokes{}
	first := tape.Converser(model.Config{}, live)
	for i, place := range []string{"a", "b", "a", "c"} {
		if got, want := joke(first, place, i%2 == 0), fmt.Sprintf("joke %d", i+1); got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
	for _, test := range []struct{ places, want []string }{
		{[]string{"c", "b", "a", "a"}, []string{"joke 4", "joke 2", "joke 1", "joke 3"}},
		{[]string{"b", "new", "b", "a"}, []string{"joke 2", "joke 5", "joke 6", "joke 1"}},
	} {
		again, err := model.ReadTape(bytes.NewReader(file.Bytes()), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		live.told = 4
		for i, place := range test.places {
			if got := joke(again.Converser(model.Config{}, live), place, i%2 == 0); got != test.want[i] {
				t.Errorf("%v: %s got %s, want %s", test.places, place, got, test.want[i])
			}
		}
	}
	// With nobody to ask they come in order, and then the last one again.
	replayed, _ := model.ReadTape(bytes.NewReader(file.Bytes()), nil)
	for i, want := range []string{"joke 1", "joke 2", "joke 3", "joke 4", "joke 4", "joke 4"} {
		if got := joke(replayed.Converser(model.Config{}, nil), "elsewhere", i%2 == 0); got != want {
			t.Errorf("replayed: %s, want %s", got, want)
		}
	}
}

// What a person or a callback said is on the tape as well, apart from what a model of the name
// said.
func TestTapeOfPeople(t *testing.T) {
	var file bytes.Buffer
	tape, _ := model.ReadTape(nil, &file)
	approver, request := model.Asked{Name: "approver", Person: true}, json.RawMessage(`{"plan": 1}`)
	if _, ok := tape.Answer(approver, "", request); ok {
		t.Error("an empty tape answers")
	}
	if err := tape.Record(approver, "", request, json.RawMessage(`[true]`)); err != nil {
		t.Fatal(err)
	}
	again, err := model.ReadTape(bytes.NewReader(file.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := again.Answer(model.Asked{Name: "approver"}, "", request); ok {
		t.Error("a model answers for a person")
	}
	answer, ok := again.Answer(approver, "", json.RawMessage(`{"plan":1}`))
	if string(answer) != "[true]" || !ok {
		t.Errorf("%s, %t", answer, ok)
	}
	if _, ok := again.Answer(approver, "", request); ok {
		t.Error("one answer is given twice")
	}
	if err := again.Record(approver, "", request, answer); code(err) != "no-recording" {
		t.Errorf("a tape that is only read takes an answer: %v", err)
	}
}
