package compile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"weak"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Anonymous is the name of a delegate that is an empty request (plan-language §9).
const Anonymous = "anonymous"

// delegates holds what a compilation, or a stream, knows about the documents that calls delegate
// to. All units share it.
type delegates struct {
	opts     *Options
	sub      Options               // the options for compiling documents
	root     string                // the name of the plan, as calls that delegate would name it
	shown    string                // the folder of the plan, as findings show it
	base     *tool.Catalogue       // the tools of the options and of the language
	docs     map[string]*document  // by name
	folders  map[*diag.File]string // folders of documents, to which the names in their definitions are relative
	added    map[addition]*tool.Catalogue
	surveys  map[surveyKey]*survey
	programs map[string]*subProgram
	meter    *schemas.Meter
	types    map[weak.Pointer[schemas.Schema]]string // see typeKey; it keeps no schema alive
	undoing  map[string]*Call                        // by tool: see undoCall
}

// addition is a document whose tools are added to a catalogue.
type addition struct {
	cat *tool.Catalogue
	doc *lang.Document
}

// document is a document that calls delegate to. It is read and parsed once.
type document struct {
	name     string // path below the root, or a URL
	folder   string // folder below the root, or the URL
	doc      *lang.Document
	findings diag.List       // about reading it
	inputs   []*tool.Tool    // a definition for each schema that it declares for its input
	own      map[string]bool // the members of its own input; nil if it has none
	contexts []string        // keys of the types of the callers that it was compiled for

	// If it can't be used: the code, the reason, and the place that shows it.
	code  diag.Code
	why   string
	cause diag.Loc
}

func newDelegates(doc *lang.Document, opts *Options) *delegates {
	s := &delegates{
		opts: opts, sub: *opts,
		shown:    filepath.Dir(doc.File.Name),
		root:     path.Join(opts.Folder, filepath.Base(doc.File.Name)),
		base:     opts.Catalogue.WithBuiltIns(),
		docs:     map[string]*document{},
		folders:  map[*diag.File]string{doc.File: opts.Folder},
		added:    map[addition]*tool.Catalogue{},
		surveys:  map[surveyKey]*survey{},
		programs: map[string]*subProgram{},
		meter:    newMeter(doc, opts),
		types:    map[weak.Pointer[schemas.Schema]]string{},
		undoing:  map[string]*Call{},
	}
	s.sub.Values, s.sub.Schemas, s.sub.Instances, s.sub.Budget = nil, nil, false, Budget{}
	return s
}

// with returns a catalogue to which the tools of a document were added.
func (s *delegates) with(cat *tool.Catalogue, doc *lang.Document, defs []*tool.Definition) *tool.Catalogue {
	if len(defs) == 0 {
		return cat
	}
	key := addition{cat, doc}
	grown, ok := s.added[key]
	if !ok {
		grown = cat.AddDocument(defs...)
		s.added[key] = grown
	}
	return grown
}

// find reads a document that a document of this folder names.
func (s *delegates) find(folder, spelled string) *document {
	name, code, why := s.resolve(folder, spelled)
	if code != 0 {
		return &document{name: spelled, code: code, why: why}
	}
	if d, ok := s.docs[name]; ok {
		return d
	}
	d := &document{name: name, folder: path.Dir(name)}
	if isURL(name) {
		d.folder = name
	}
	s.docs[name] = d
	s.read(d)
	return d
}

func isURL(name string) bool { return strings.Contains(name, "://") }

// resolve returns the name below the root of a document that a document of this folder names. It
// returns a code if the document may not be read, or if there is nothing with this name.
func (s *delegates) resolve(folder, spelled string) (name string, code diag.Code, why string) {
	switch {
	case strings.TrimSpace(spelled) == "":
		return "", diag.BadDelegate, "it names no document"
	case isURL(spelled):
		return spelled, 0, ""
	case strings.ContainsAny(spelled, "\\\x00"), len(spelled) > 1 && spelled[1] == ':', path.IsAbs(spelled):
		return "", diag.NotAllowed, "a delegate is named by its path below the folder of the plan, with slashes"
	case isURL(folder):
		base, err := url.Parse(folder)
		if err == nil {
			base, err = base.Parse(spelled)
		}
		if err != nil {
			return "", diag.BadDelegate, err.Error()
		}
		if !isURL(base.String()) { // a scheme without a host, which is not a file either
			return "", diag.NotAllowed, "only http and https URLs can be read"
		}
		return base.String(), 0, ""
	}
	name = path.Join(folder, spelled)
	switch {
	case name == ".." || strings.HasPrefix(name, "../"):
		return "", diag.NotAllowed, "it is outside of the folder of the plan"
	case !fs.ValidPath(name):
		return "", diag.BadDelegate, "it is no path of a file"
	}
	return name, 0, ""
}

// read reads and parses a document.
func (s *delegates) read(d *document) {
	text, code, why := s.text(d.name)
	if code != 0 {
		d.code, d.why = code, why
		return
	}
	file := diag.NewFile(s.shownName(d.name), text)
	s.meter.Add(meterStepsPerByte * len(text))
	d.doc, d.findings = lang.Parse(file, &lang.Options{YAML: s.opts.YAML})
	file = d.doc.File
	s.folders[file] = d.folder
	if isURL(d.name) {
		s.folders[file] = d.name
	}
	if d.doc.Form == lang.NoForm {
		d.code, d.why = diag.BadDelegate, "it is no plan"
		for _, f := range d.findings {
			if f.Severity == diag.Error {
				d.why, d.cause = f.Message, f.Loc
				break
			}
		}
		return
	}
	for i := range d.doc.Messages {
		if m := &d.doc.Messages[i]; m.Kind == "input" && m.Instance == "" {
			d.input(m)
		}
	}
}

// input notes what a message says about the input.
func (d *document) input(m *lang.Message) {
	if !m.Payload.IsZero() || len(m.Members) > 0 {
		if d.own == nil {
			d.own = map[string]bool{}
		}
		for name := range membersOf(m) {
			d.own[name] = true
		}
	}
	if m.Schema.IsZero() {
		return
	}
	raw := ofObject(m.Schema.AppendJSON(nil))
	s, err := schemas.Compile(raw, nil)
	if err != nil {
		return // reported when the document is compiled
	}
	def := &tool.Definition{Name: d.name, Loc: m.Schema.Loc(), Params: s, Raw: raw, Param: map[string]*schemas.Schema{}}
	for name := range s.Names() {
		sub, has := s.At(schemas.Step{Name: name})
		if _, known := def.Param[name]; known || has == schemas.Never {
			continue
		}
		def.Param[name] = sub
		if has == schemas.Always {
			def.Required = append(def.Required, name)
		}
	}
	d.inputs = append(d.inputs, &tool.Tool{Definition: def, Source: fromDocument})
}

// fromDocument is the Source of the tool that stands for the declared input of a document.
const fromDocument = "document"

// membersOf returns the names of the members that a message gives.
func membersOf(m *lang.Message) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, one := range m.Members {
			if m.Payload.IsZero() && !yield(one.Name) {
				return
			}
		}
		for one := range m.Payload.Members() {
			if !yield(one.Name) {
				return
			}
		}
	}
}

// shownName returns the name of a document for findings, relative to the plan as that was named.
func (s *delegates) shownName(name string) string {
	if isURL(name) {
		return name
	}
	rel, err := filepath.Rel(filepath.FromSlash(path.Clean(s.opts.Folder)), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(filepath.Join(s.shown, rel))
}

// text returns the text of a document.
func (s *delegates) text(name string) (text []byte, code diag.Code, why string) {
	var err error
	switch {
	case isURL(name):
		return s.fetch(name)
	case s.opts.Delegates == nil:
		return nil, diag.BadDelegate, "there is no folder to read documents from"
	default:
		text, err = readRegular(s.opts.Delegates, name)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case err == nil:
		return text, 0, ""
	case strings.Contains(err.Error(), "escapes"): // an error of os.Root, which has no variable for it
		return nil, diag.NotAllowed, "a link leads outside of the folder of the plan"
	case errors.Is(err, fs.ErrNotExist):
		return nil, diag.BadDelegate, "there is no such file"
	}
	return nil, diag.BadDelegate, err.Error()
}

// readRegular reads a regular file. It checks the file before it opens it, since opening a pipe
// would wait for a writer.
func readRegular(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	} else if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return atMost(io.ReadAll(io.LimitReader(f, jsonscan.DefaultMaxBytes+1)))
}

func atMost(text []byte, err error) ([]byte, error) {
	if err == nil && len(text) > jsonscan.DefaultMaxBytes {
		err = fmt.Errorf("it has more than %d MiB, which is the most that is read", jsonscan.DefaultMaxBytes>>20)
	}
	return text, err
}

func hasScheme(url, scheme string) bool {
	s, _, ok := strings.Cut(url, "://")
	return ok && strings.EqualFold(s, scheme)
}

// fetch reads a document at a URL.
func (s *delegates) fetch(name string) (text []byte, code diag.Code, why string) {
	switch {
	case !hasScheme(name, "https") && !hasScheme(name, "http"):
		return nil, diag.NotAllowed, "only http and https URLs can be read"
	case s.opts.Fetch == nil:
		return nil, diag.NotAllowed, "no host is allowed to give documents; --delegate-hosts names those that are"
	}
	text, err := atMost(s.opts.Fetch(name))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, diag.NotAllowed, err.Error()
	case err != nil:
		return nil, diag.BadDelegate, err.Error()
	}
	return text, 0, ""
}
