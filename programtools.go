package plc

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// programText is the name under which a record keeps the definitions of Config.Tools, so that
// programs without these functions can show and replay the run.
const programText = "(tools of the Go program)"

// programTool is a tool of Config.Tools in a record: everything except what runs it.
type programTool struct {
	Name       string          `json:"name"`
	Definition json.RawMessage `json:"definition"` // as tool.ParseDefinition reads it
	Effects    tool.Effects    `json:"effects"`
	Takes      time.Duration   `json:"takes,omitempty"`
	Undo       *tool.Undo      `json:"undo,omitempty"`
	Latent     bool            `json:"latent,omitempty"` // no activity runs it
	Source     string          `json:"source"`
	Driver     string          `json:"driver,omitempty"`
	Limits     tool.Limits     `json:"limits,omitzero"`
	Timeout    time.Duration   `json:"timeout,omitempty"`
	Raw        json.RawMessage `json:"raw,omitempty"`
	Place      tool.Place      `json:"place,omitzero"`
}

// programTools returns the text of tools for a record. It leaves out tools whose definition has no
// JSON.
func programTools(tools []*tool.Tool) (text []byte, err error) {
	var all []programTool
	for _, t := range tools {
		t = t.Whole()
		d := t.Definition
		if d.Raw == nil {
			continue
		}
		all = append(all, programTool{
			Name: d.Name, Definition: d.Raw, Effects: d.Effects, Takes: d.Takes, Undo: d.Undo, Latent: t.Activity == nil,
			Source: t.Source, Driver: t.Driver, Limits: t.Limits, Timeout: t.Timeout, Raw: t.Raw, Place: t.Place,
		})
	}
	if all == nil {
		return nil, nil
	}
	return json.Marshal(all)
}

// readProgramTools reads the tools of a Go program from a record. Calls of them fail.
func readProgramTools(text []byte) ([]*tool.Tool, error) {
	var all []programTool
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", programText, err)
	}
	var tools []*tool.Tool
	for i := range all {
		p := &all[i]
		def, findings := tool.ParseDefinition(p.Definition, p.Name, diag.Loc{})
		if err := findings.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", programText, err)
		}
		def.Effects, def.Takes, def.Undo = p.Effects, p.Takes, p.Undo
		t := &tool.Tool{
			Definition: def, Source: p.Source, Driver: p.Driver, Limits: p.Limits, Timeout: p.Timeout, Raw: p.Raw, Place: p.Place,
		}
		if !p.Latent {
			t.Activity = tool.ActivityFunc(unavailable)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// unavailable stands for the function of a tool that only another program has. It always fails.
func unavailable(context.Context, *tool.Request) (tool.Result, error) {
	return tool.Result{}, &tool.Error{Code: "unavailable", Message: "only the Go program that began the run has this function", Permanent: true}
}

// programTools returns the tools of the program that began a recorded run; none in a session that
// does not read a record.
func (s *session) programTools() ([]*tool.Tool, error) {
	t := s.texts.known[keyOf(journal.Tools, programText)]
	if t == nil || t.Bytes == nil {
		return nil, nil
	}
	return readProgramTools(t.Bytes)
}

// explainErr returns the error of a recorded plan that can't run here. If the reason is that the
// engine lacks functions of the Go program that began the run, the error says so.
func (p *Plan) explainErr(run string) error {
	err := p.Err()
	s := p.checker.session
	if err == nil || !slices.ContainsFunc(p.Findings, func(f diag.Finding) bool { return f.Code == diag.UnknownTool }) {
		return err
	}
	theirs, _ := s.programTools() // the record was read before
	var missing []string
	for _, t := range theirs {
		if _, ok := p.checker.Catalogue.Lookup(t.Definition.Name); !ok {
			missing = append(missing, t.Definition.Name)
		}
	}
	if len(missing) == 0 {
		return err
	}
	const most = 5
	if len(missing) > most {
		missing = append(missing[:most], "…")
	}
	return fmt.Errorf("the run %s was started by a Go program that has its own tools (%s); only that program can continue it",
		run, strings.Join(missing, ", "))
}
