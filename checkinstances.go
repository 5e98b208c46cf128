package plc

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
)

// maxFaultyLines is the maximum number of invalid lines that are reported one by one.
const maxFaultyLines = 100

// checkInstances checks the lines of --instances: each must be an instance with a name of its own,
// whose values meet the schemas of the plan.
func checkInstances(ctx context.Context, src *diag.File, prog *compile.Program) diag.List {
	c := lineCheck{src: src, checker: exec.NewInstanceChecker(ctx, prog, len(src.Text)), file: &instanceFile{name: src.Name, names: map[string]int{}}}
	for i := range prog.Instances {
		c.file.names[prog.Instances[i].Name] = 0
	}
	number, at := 0, 0
	for text := range bytes.Lines(src.Text) {
		number++
		if err := c.line(number, at, text); err != nil {
			c.errorf(diag.Span{Start: int32(at), End: int32(at)}, "line %d and those after it were not checked: %s", number, err)
			break
		}
		at += len(text)
	}
	if more := c.faulty - maxFaultyLines; more > 0 {
		c.errorf(diag.Span{}, "%d more lines that can't run", more)
	}
	return c.found
}

// lineCheck finds what is wrong with lines.
type lineCheck struct {
	src     *diag.File
	checker *exec.InstanceChecker
	file    *instanceFile
	found   diag.List
	faulty  int
}

func (c *lineCheck) errorf(at diag.Span, format string, args ...any) {
	c.found = append(c.found, diag.Finding{
		Code: diag.BadInput, Severity: diag.Error, Loc: diag.Loc{File: c.src, Span: at}, Message: fmt.Sprintf(format, args...),
	})
}

// line checks a line, which begins at byte at of the file. It returns an error if checking takes
// too much work.
func (c *lineCheck) line(number, at int, raw []byte) error {
	text := bytes.TrimLeft(raw, "\xef\xbb\xbf \t")
	at += len(raw) - len(text)
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil
	}
	in, err := c.file.instance(line{number: number, text: text})
	var found diag.List
	if err == nil {
		var spent error
		if found, spent = c.checker.Check(in); spent != nil {
			return spent
		}
	}
	if err == nil && len(found) == 0 {
		return nil
	}
	if c.faulty++; c.faulty > maxFaultyLines {
		return nil
	}
	var broken *lineError
	if errors.As(err, &broken) {
		start := at + broken.offset
		c.errorf(diag.Span{Start: int32(start), End: int32(start)}, "%s", broken.message)
	}
	for _, f := range found {
		c.errorf(diag.Span{Start: int32(at), End: int32(at + len(text))}, "%s", f.Message)
	}
	return nil
}
