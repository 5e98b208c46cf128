package plc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// maxInstance is the maximum size of a line of --instances in bytes: many of them are in memory at
// once.
const maxInstance = 16 << 20

// instanceFile is a file of instances, with one JSON object in each line (plan-language §8). It is
// read while the run goes on: a line is read when there is room for its instance.
type instanceFile struct {
	name  string
	in    io.ReadCloser
	names map[string]int // names so far, with their line numbers; 0 is the plan
}

// instances opens the instances of the plan.
func (p *Plan) instances() (*instanceFile, error) {
	src := p.checker.spec.Instances
	f := &instanceFile{name: src.shown(), names: map[string]int{}}
	for i := range p.Program.Instances {
		f.names[p.Program.Instances[i].Name] = 0
	}
	switch {
	case p.lines != nil:
		f.in = io.NopCloser(bytes.NewReader(p.lines))
		return f, nil
	case src.inline():
		f.in = io.NopCloser(strings.NewReader(src.Text))
		return f, nil
	}
	var err error
	f.in, err = p.checker.session.engine.open(src.Name)
	return f, err
}

// readLines reads the instances of a lazy plan, which are approved with it.
func (p *Plan) readLines() error {
	src := p.checker.spec.Instances
	if src.isZero() || p.lines != nil || p.Program.Mode != lang.Lazy {
		return nil
	}
	text, err := p.checker.session.read(journal.Instances, src)
	p.lines = append([]byte{}, text...) // not nil
	return err
}

// withLines returns the plan with its instances as they are now. They are not kept for the run of
// an eager plan, which reads them itself as it needs them.
func (p *Plan) withLines() (*Plan, error) {
	src := p.checker.spec.Instances
	if src.isZero() || p.lines != nil {
		return p, nil
	}
	if src.Name == stdin && !src.inline() {
		return nil, &SpecError{"instances", "come from standard input, which can be read only once: give a file, so that they can be shown before they run"}
	}
	in, err := p.instances()
	if err != nil {
		return nil, err
	}
	defer in.in.Close()
	with := *p
	with.lines, with.moreLines, err = firstLines(in.in, jsonscan.DefaultMaxBytes)
	return &with, err
}

// firstLines reads lines of at most this many bytes in all, and counts the lines after them that
// are not blank.
func firstLines(in io.Reader, most int64) (lines []byte, more int, err error) {
	lines, err = io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, 0, err
	}
	rest := bufio.NewReader(in)
	if _, err = rest.Peek(1); errors.Is(err, io.EOF) {
		return lines, 0, nil
	}
	end := bytes.LastIndexByte(lines, '\n') + 1
	lines, part := lines[:end], lines[end:] // part is the beginning of the next line
	for blank := true; err == nil; {
		blank = blank && len(bytes.TrimSpace(part)) == 0
		part, err = rest.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
			continue
		}
		if !blank || len(bytes.TrimSpace(part)) > 0 {
			more++
		}
		blank, part = true, nil
	}
	if !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	return lines, more, nil
}

// CheckLines makes the Checker check the lines of Instances against each plan without errors.
func (c *Checker) CheckLines() error {
	src := c.spec.Instances
	text := []byte(src.Text)
	if !src.inline() {
		var err error
		if text, err = c.session.engine.readFile(src.Name, maxLines+1); err != nil {
			return err
		}
		if len(text) > maxLines {
			return fmt.Errorf("%s has more than 1 GiB, which is the most that is read: split it", src.shown())
		}
	}
	c.lines = diag.NewFile(src.shown(), text)
	return nil
}

const (
	// maxLines is the maximum size in bytes of a file of instances that is checked.
	maxLines = 1 << 30

	// mostInstances is the maximum number of instances that a dry run covers.
	mostInstances = 20
)

// firstInstances yields the first valid instances.
func (p *Plan) firstInstances(yield func(*compile.Instance, error) bool) {
	f := &instanceFile{name: p.checker.spec.Instances.shown(), names: map[string]int{}}
	n := 0
	lines := bytes.TrimPrefix(p.lines, []byte("\xef\xbb\xbf")) // as the run reads them
	for i, text := range bytes.Split(lines, []byte{'\n'}) {
		if text = bytes.TrimSpace(text); len(text) == 0 || n == mostInstances {
			continue
		}
		in, err := f.instance(line{number: i + 1, text: text})
		if err != nil {
			continue // the run reports the fault
		}
		if n++; !yield(in, nil) {
			return
		}
	}
}

// countLines returns the number of lines that are not blank, or 1 if there are none, since a dry
// run takes 0 as unknown.
func (p *Plan) countLines() int {
	n := 0
	for text := range bytes.Lines(p.lines) {
		if len(bytes.TrimSpace(text)) > 0 {
			n++
		}
	}
	return max(n+p.moreLines, 1)
}

// boundLines returns the instances by the numbers of their lines, which may be their names.
func boundLines(lines []byte) json.RawMessage {
	all := map[string]any{}
	for i, text := range bytes.Split(lines, []byte{'\n'}) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if jsonscan.Check(text, jsonscan.Limits{}) == nil {
			all[strconv.Itoa(i+1)] = report.Spelled(text)
		} else {
			all[strconv.Itoa(i+1)] = string(text)
		}
	}
	return encoded(all)
}

// sameInstances returns an error if the instances are not those that the run was given.
func sameInstances(g *journal.Given, src Source) error {
	for _, t := range g.Texts {
		if t.Role != journal.Instances {
			continue
		}
		if src.Name == stdin && t.Name == stdin {
			return errors.New("the instances came from standard input, and the record does not keep them: give the same lines again, with --instances FILE")
		}
		if t.Digest == "" || src.inline() {
			return nil
		}
		digest, _, err := fileDigest(src.Name)
		if err != nil {
			return fmt.Errorf("the record does not keep the lines of instances: %w; name a copy with --instances", err)
		}
		if digest != t.Digest {
			return fmt.Errorf("%s is not what the run was given: its instances have changed; restore it, or name a copy with --instances", src.shown())
		}
		return nil
	}
	return nil
}

// line is a line of a file of instances that is not blank.
type line struct {
	number int
	text   []byte
	err    error
}

// instances returns the instances of the file, in order, until the file or ctx ends. A line
// that is not an instance comes with an error, and the others follow.
func (f *instanceFile) instances(ctx context.Context) iter.Seq2[*compile.Instance, error] {
	return func(yield func(*compile.Instance, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		lines := make(chan line)
		// Reading may wait long for the program that writes, and can't be stopped. It is abandoned
		// then.
		go f.read(ctx, lines)
		for {
			select {
			case l, more := <-lines:
				if !more || !f.take(l, yield) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// read sends the lines of the file.
func (f *instanceFile) read(ctx context.Context, lines chan<- line) {
	defer close(lines)
	defer f.in.Close()
	r := bufio.NewReaderSize(f.in, 64<<10)
	for n, more := 1, true; more; n++ {
		text, err := nextLine(r)
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if more = err == nil; err == io.EOF {
			err = nil
		}
		if text = bytes.TrimSpace(text); len(text) == 0 && err == nil {
			continue
		}
		select {
		case lines <- line{n, text, err}:
		case <-ctx.Done():
			return
		}
	}
}

// nextLine reads a whole line, but keeps only a few bytes more than an instance may have. It
// returns io.EOF with the last line.
func nextLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part[:min(len(part), maxInstance+4-len(text))]...)
		if err != bufio.ErrBufferFull {
			return text, err
		}
	}
}

// take yields the instance of a line. It reports whether the caller wants more.
func (f *instanceFile) take(l line, yield func(*compile.Instance, error) bool) bool {
	if l.err != nil {
		yield(nil, fmt.Errorf("can't read %s: %w", f.name, l.err))
		return false
	}
	return yield(f.instance(l))
}

// instance returns the instance of a line. The instance is never nil, and has its name if that is
// known; the error has the place of the fault.
func (f *instanceFile) instance(l line) (*compile.Instance, error) {
	in := &compile.Instance{Name: strconv.Itoa(l.number)}
	fault := func(offset int, format string, args ...any) (*compile.Instance, error) {
		column := diag.NewFile(f.name, l.text).Position(offset).Column
		return in, &lineError{f.name, l.number, column, offset, fmt.Sprintf(format, args...)}
	}
	if len(l.text) > maxInstance {
		return fault(0, "the line has more than %d MiB, which is the most that is read", maxInstance>>20)
	}
	var se *jsonscan.Error
	if errors.As(jsonscan.Check(l.text, jsonscan.Limits{}), &se) {
		return fault(se.Offset, "%s", se.Message)
	}
	// The line is read as a context of one message, so that a line that is a message is recognized.
	doc, _ := lang.Parse(diag.NewFile(f.name, bytes.Join([][]byte{{'['}, l.text, {']'}}, nil)), nil)
	root, _ := doc.Root.At("/0")
	if root.Kind() != lang.Object {
		return fault(0, "an instance is a JSON object")
	}
	if m, ok := root.Member("_instance"); ok {
		name := m.Value.Str()
		if m.Value.Kind() != lang.String || name == "" {
			return fault(int(m.Value.Span().Start)-1, `"_instance" wants a string that is not empty`)
		}
		in.Name = name
	}
	if first, twice := f.names[in.Name]; twice {
		return fault(0, "an instance is named %q twice; the first is in %s", in.Name, f.where(first))
	}
	f.names[in.Name] = l.number
	own, at, err := ownValues(root, doc)
	if err != nil {
		return fault(at-1, "%s", err)
	}
	in.Own = own
	return in, nil
}

// lineError says what is wrong with a line, and where.
type lineError struct {
	file         string
	line, column int
	offset       int // in the line, without the space around it
	message      string
}

func (e *lineError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.file, e.line, e.column, e.message)
}

// where describes the first use of a name: in a line, or in the plan.
func (f *instanceFile) where(number int) string {
	if number == 0 {
		return "the plan"
	}
	return fmt.Sprintf("line %d", number)
}

// ownValues returns the values of an instance by kind: those of an envelope, the payload of a
// message, or the object itself as the input. at is the offset of an error.
func ownValues(root lang.Node, doc *lang.Document) (own map[string]json.RawMessage, at int, err error) {
	if len(doc.Messages) == 1 && doc.Messages[0].Instance != "" {
		switch m := &doc.Messages[0]; {
		case m.Type != "input" && m.Type != "state" && m.Type != "data":
		case !m.Schema.IsZero():
			return nil, int(m.Schema.Span().Start), errors.New("a schema holds for all instances: give it in the plan, or with --input-schema")
		case m.Payload.IsZero():
			return map[string]json.RawMessage{m.Kind: objectOf(m.Members)}, 0, nil
		case m.Payload.Kind() != lang.Object:
			return nil, int(m.Payload.Span().Start), fmt.Errorf("the %s must be an object", m.Kind)
		default:
			return map[string]json.RawMessage{m.Kind: m.Payload.AppendJSON(nil)}, 0, nil
		}
	}
	var members []lang.Member
	envelope := true
	for m := range root.Members() {
		if m.Name == "_instance" {
			continue
		}
		members = append(members, m)
		envelope = envelope && m.Value.Kind() == lang.Object && (m.Name == "input" || m.Name == "state" || m.Name == "data")
	}
	if !envelope || len(members) == 0 {
		return map[string]json.RawMessage{"input": objectOf(members)}, 0, nil
	}
	own = map[string]json.RawMessage{}
	for _, m := range members {
		own[m.Name] = m.Value.AppendJSON(nil)
	}
	return own, 0, nil
}

// objectOf returns an object with these members.
func objectOf(members []lang.Member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, jsonscan.Encode(m.Name)...), ':')
		out = m.Value.AppendJSON(out)
	}
	return append(out, '}')
}
