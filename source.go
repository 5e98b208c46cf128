package plc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

// A Source is a text that a run is given: the content of a file, or a text itself. The zero Source
// is none.
type Source struct {
	Name     string `json:"name,omitempty"`     // of the file or, for a text, the name that findings have for it
	Shown    string `json:"shown,omitempty"`    // the name that findings have for the file; "" is Name
	Text     string `json:"text,omitempty"`     // "" stands for the content of the file
	Notation string `json:"notation,omitempty"` // of a plan or a tool file: one of Notations; "" is plc's own
	// Key is set for an input that was written as key=value with a value that is JSON: it is the
	// key. The value becomes a string if one is needed: see ParseInput.
	Key string `json:"key,omitempty"`
}

// File returns a Source for a file, which is read when it is needed.
func File(name string) Source { return Source{Name: name} }

// Text returns a Source for a text. Findings call it <text>.
func Text(text string) Source { return Source{Name: textName, Text: text} }

// beside returns the name of a file that the source names. It is relative to the folder of the
// source or, if the source is a text or standard input, to the current folder.
func (s Source) beside(name string) string {
	if s.inline() || s.Name == stdin || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(s.Name), name)
}

// textName is the name of a text that is in no file.
const textName = "<text>"

// Named returns a text with a name that people know it by. Findings and the record call it <name>,
// which is not the name of a file.
func (s Source) Named(name string) Source {
	s.Name = "<" + name + ">"
	return s
}

// isText reports whether a name is that of a text that is in no file.
func isText(name string) bool { return strings.HasPrefix(name, "<") && strings.HasSuffix(name, ">") }

// JSON returns a Source with the JSON of a value, as encoding/json writes it. It panics if the
// value can't be encoded.
func JSON(v any) Source { return Source{Name: "<value>", Text: string(encoded(v))} }

// From returns the source in another notation: one of Notations.
func (s Source) From(notation string) Source {
	s.Notation = notation
	return s
}

// isZero reports whether there is no source.
func (s Source) isZero() bool { return s.Name == "" && s.Text == "" }

// inline reports whether the source is a text, which may be empty, and not a file.
func (s Source) inline() bool { return s.Text != "" || isText(s.Name) }

// shown returns the name of the source in findings.
func (s Source) shown() string {
	switch {
	case s.Shown != "":
		return s.Shown
	case s.Name == stdin:
		return "<stdin>"
	case s.Name == "":
		return textName
	}
	return s.Name
}

// stdin stands for standard input in place of the name of a file.
const stdin = "-"

// ParseInput reads an input as people write it: a JSON object, the name of a file, or key=value.
// The value is JSON, or otherwise a string. A value that is JSON, such as 1, counts as a string if
// the plan has fewer errors with that.
func ParseInput(in string) (Source, error) {
	key, value, ok := strings.Cut(in, "=")
	switch {
	case !utf8.ValidString(in):
		return Source{}, fmt.Errorf("%q is not UTF-8", in)
	case strings.HasPrefix(strings.TrimSpace(in), "{"):
		return Source{Name: "<argument>", Text: in}, nil
	case !ok || strings.ContainsAny(key, `/\`):
		return File(in), nil
	case key == "":
		return Source{}, fmt.Errorf("%s: there is no name before the =", in)
	}
	src := Source{Name: "<argument>", Key: key}
	text := []byte(value)
	if jsonscan.Check(text, jsonscan.Limits{}) != nil {
		text, src.Key = jsonscan.Encode(value), ""
	}
	src.Text = memberHead(key) + string(text) + "}"
	return src, nil
}

// memberHead returns the beginning of the text of an object with one member.
func memberHead(key string) string { return "{" + string(jsonscan.Encode(key)) + ":" }

// Value returns the value of a source with a Key as it was written.
func (s Source) Value() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.Text, memberHead(s.Key)), "}")
}

// maxKeys is the number of inputs that are tried as strings, since the plan is compiled again for
// each.
const maxKeys = 20

// asStrings compiles a plan that has errors again, with inputs that have a Key as strings. It keeps
// a string if there are fewer errors with it.
func (c *Checker) asStrings(doc *lang.Document, o *compile.Options, prog *compile.Program, found diag.List) (*compile.Program, diag.List) {
	for i, in := range c.spec.Values.Input {
		given := o.Values["input"]
		if in.Key == "" || i >= maxKeys || !found.HasErrors() || string(memberOf(given.JSON, in.Key)) != string(jsonscan.Compact(nil, []byte(in.Value()))) {
			continue
		}
		value, err := state.Apply(given.JSON, state.Path{{Kind: state.Name, Name: in.Key}}, state.Set, jsonscan.Encode(in.Value()))
		if err != nil {
			continue
		}
		given.JSON = value
		before := o.Values
		o.Values = maps.Clone(before)
		o.Values["input"] = given
		if p, more := compile.Compile(doc, o); more.Count(diag.Error) < found.Count(diag.Error) {
			prog, found = p, more
		} else {
			o.Values = before
		}
	}
	return prog, found
}

// memberOf returns a member of a JSON object; nil if it has none.
func memberOf(object json.RawMessage, name string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members[name]
}

// readPlan reads a plan. If the plan is too large, it is cut one byte after the largest size, and
// the reader of plans reports that.
func (s *session) readPlan(src Source) (*diag.File, error) {
	if src.isZero() {
		return nil, &SpecError{"plan", "is missing: give a file or a text"}
	}
	text, ok, err := s.texts.recorded(journal.Plan, src.Name)
	switch {
	case ok:
	case src.inline():
		text = []byte(src.Text)
	default:
		text, err = s.engine.readFile(src.Name, jsonscan.DefaultMaxBytes+1)
	}
	if err != nil {
		return nil, err
	}
	s.texts.keep(journal.Plan, src.Name, src.Notation, text)
	return diag.NewFile(src.shown(), text), nil
}

// read reads something that a run is given besides its plan, and keeps it for the record. In a run
// that is resumed it comes from the record.
func (s *session) read(role journal.Role, src Source) ([]byte, error) {
	if src.inline() {
		return []byte(src.Text), nil
	}
	text, ok, err := s.texts.recorded(role, src.Name)
	if !ok {
		text, err = s.engine.readSource(src)
	}
	if err != nil {
		return nil, err
	}
	s.texts.keep(role, src.Name, "", text)
	return text, nil
}

// readSource reads a source that is not kept for a record.
func (e *Engine) readSource(src Source) ([]byte, error) {
	if src.inline() {
		return []byte(src.Text), nil
	}
	text, err := e.readFile(src.Name, jsonscan.DefaultMaxBytes+1)
	if err == nil && len(text) > jsonscan.DefaultMaxBytes {
		err = fmt.Errorf("%s has more than %d MiB, which is the most that is read", src.shown(), jsonscan.DefaultMaxBytes>>20)
	}
	return text, err
}

// readJSON reads a JSON value that is not kept for a record.
func (e *Engine) readJSON(src Source) (json.RawMessage, error) {
	text, err := e.readSource(src)
	if err != nil {
		return nil, err
	}
	g, err := jsonOf(src, text)
	return g.JSON, err
}

// jsonOf returns the JSON value that the text of a source holds.
func jsonOf(src Source, text []byte) (compile.Given, error) {
	return ReadJSON(diag.NewFile(src.shown(), bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
}

// readFile reads at most this many bytes of a file.
func (e *Engine) readFile(name string, most int64) ([]byte, error) {
	f, err := e.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, ReadError(err)
	}
	return text, nil
}

// open opens a file that a Spec names.
func (e *Engine) open(name string) (io.ReadCloser, error) {
	if e.config.Open != nil {
		return e.config.Open(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, ReadError(err)
	}
	return f, nil
}

// A FileError says which file can't be read, and why. errors.Is finds the cause, such as
// fs.ErrNotExist.
type FileError struct {
	Name string
	Err  error // the cause
}

func (e *FileError) Error() string {
	if errors.Is(e.Err, syscall.EISDIR) {
		return fmt.Sprintf("can't read %s: it is a directory; name the files in it, as in %s", e.Name, filepath.Join(e.Name, "*.json"))
	}
	return fmt.Sprintf("can't read %s: %v", e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ReadError returns an error of the operating system about a file as a *FileError. It returns other
// errors unchanged.
func ReadError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return &FileError{pe.Path, pe.Err}
	}
	return err
}

// given reads the values and schemas that a plan is given, and those that a fork sets.
func (s *session) given(v *Values, opts *compile.Options) error {
	for _, in := range v.Input {
		value, err := s.json(journal.Input, in)
		if err != nil {
			return err
		}
		if old, ok := opts.Values["input"]; ok {
			if value, err = mergeInput(old, value); err != nil {
				return err
			}
		}
		opts.Values["input"] = value
	}
	for _, g := range []struct {
		src  Source
		role journal.Role
		kind string
		into map[string]compile.Given
	}{
		{v.State, journal.State, "state", opts.Values},
		{v.InputSchema, journal.Schema, "input", opts.Schemas},
		{v.StateSchema, journal.Schema, "state", opts.Schemas},
	} {
		if g.src.isZero() {
			continue
		}
		value, err := s.json(g.role, g.src)
		if err != nil {
			return err
		}
		g.into[g.kind] = value
	}
	return setInto(opts.Values, s.sets)
}

// json reads a JSON value.
func (s *session) json(role journal.Role, src Source) (compile.Given, error) {
	text, err := s.read(role, src)
	if err != nil {
		return compile.Given{}, err
	}
	return jsonOf(src, text)
}

// A ValueError says that a value for a plan is not JSON, or not JSON of the right type.
type ValueError struct{ Message string }

func (e *ValueError) Error() string { return e.Message }

// ReadJSON reads the JSON value that a file holds.
func ReadJSON(f *diag.File) (compile.Given, error) {
	err := jsonscan.Check(f.Text, jsonscan.Limits{})
	var se *jsonscan.Error
	if errors.As(err, &se) {
		p := f.Position(se.Offset)
		err = &ValueError{fmt.Sprintf("%s:%d:%d: %s", f.Name, p.Line, p.Column, se.Message)}
	}
	if err != nil {
		return compile.Given{}, err
	}
	return compile.Given{JSON: jsonscan.Compact(nil, f.Text), Loc: diag.Loc{File: f}}, nil
}

// mergeInput merges input b over input a, deeply.
func mergeInput(a, b compile.Given) (compile.Given, error) {
	for _, g := range []compile.Given{a, b} {
		if g.JSON[0] != '{' {
			return compile.Given{}, &ValueError{g.Loc.File.Name + ": an input is a JSON object, and so are all that are merged"}
		}
	}
	merged, err := state.Apply(a.JSON, nil, state.Merge, b.JSON)
	if err != nil {
		return compile.Given{}, err
	}
	loc := a.Loc
	if !b.Loc.IsZero() {
		loc = b.Loc
	}
	return compile.Given{JSON: merged, Loc: loc}, nil
}

// setInto puts the values that a fork sets into the given values.
func setInto(given map[string]compile.Given, sets map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		path := SetPath(name)
		kind := given[path[0].Name]
		if kind.JSON == nil {
			kind.JSON = json.RawMessage("{}")
		}
		v, err := state.Apply(kind.JSON, path[1:], state.Set, sets[name])
		if err != nil {
			return &SpecError{"set", name + ": " + err.Error()}
		}
		kind.JSON = v
		given[path[0].Name] = kind
	}
	return nil
}
