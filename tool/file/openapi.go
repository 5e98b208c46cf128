package file

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/openapi"
)

// service is an OpenAPI document, and how a tool file uses it.
type service struct {
	at        value
	spec      value
	settings  json.RawMessage // for all its operations, with secrets by their names
	operation string          // the operation of an activity; "" selects all operations in the field only
	server    string
	only      []string
	prefix    string
	effects   map[string]json.RawMessage
	auth      value
	private   bool
	maxBytes  int
	timeout   time.Duration
	around    around
	onlyGiven bool
	authGiven bool
}

// services reads the documents whose operations are tools.
func (r *reader) services(v value, f *File) {
	r.elements(v, func(v value) { f.services = append(f.services, r.service(v, nil)) })
}

// service reads the settings for a document; more has the members that only this place allows.
func (r *reader) service(v value, more map[string]set) *service {
	s := &service{at: v, effects: map[string]json.RawMessage{}}
	known := map[string]set{
		"spec":         doc("The file of the OpenAPI document, relative to this file.", func(v value) { r.is(v, texttree.String); s.spec = v }),
		"server":       doc("The URL of the service, when not the document's.", r.text(&s.server)),
		"auth":         doc("Credentials, by the document's names for its security schemes.", func(v value) { s.auth, s.authGiven = v, true; r.each(v, r.credential) }),
		"allowPrivate": doc("Private addresses may be asked.", r.flag(&s.private)),
		"maxBytes":     doc("Bytes of an answer at most.", r.count(&s.maxBytes, 1)),
	}
	if len(more) == 0 {
		more = r.around(&s.around, map[string]set{
			"only":    doc("The only operations that are tools.", func(v value) { s.onlyGiven = true; r.texts(&s.only)(v) }),
			"prefix":  doc("What the names of the tools begin with.", r.text(&s.prefix)),
			"timeout": doc("The time for one attempt, unless the call sets its own.", r.duration(&s.timeout, 1)),
			"effects": doc("What operations do to the world, by their names.", func(v value) {
				r.each(v, func(v value) {
					before := len(r.findings)
					if r.is(v, texttree.Object) {
						r.effects(v.name(), v)
					}
					if len(r.findings) == before {
						s.effects[v.name()] = v.JSON()
					}
				})
			}),
		})
	}
	for name, read := range more {
		known[name] = read
	}
	before := len(r.findings)
	r.members(v, known)
	s.settings = r.settings(v)
	v.needs("spec")
	if s.spec.Node == nil && len(r.findings) == before {
		r.errorf(v, "%s has no \"spec\"; name the file of the OpenAPI document", v.what())
	}
	return s
}

// settings returns the members of an entry that apply to each of its operations, without those that
// are already part of the request, the definition or the document of an operation.
func (r *reader) settings(v value) json.RawMessage {
	elsewhere := []string{"spec", "server", "only", "prefix", "effects", "operation"}
	own := r.withoutLiterals(v.Node)
	own.Entries = slices.DeleteFunc(own.Entries, func(e texttree.Entry) bool { return slices.Contains(elsewhere, e.Name) })
	if len(own.Entries) == 0 {
		return nil
	}
	return own.JSON()
}

// operation reads the driver that is one operation of a document.
func (r *reader) operation(v value) *service {
	var operation string
	s := r.service(v, map[string]set{"operation": doc("The operation: its operationId, or METHOD /path.", r.text(&operation))})
	v.needs("spec", "operation")
	if s.operation = operation; operation == "" && v.Kind == texttree.Object {
		r.errorf(v, "%s has no \"operation\"; name one of the document", v.what())
	}
	return s
}

// openapi makes the tool for an activity that is an operation.
func (b *builder) openapi(a Activity) (*tool.Tool, error) {
	s := *a.service
	s.only, s.onlyGiven = []string{s.operation}, true
	before := len(b.findings)
	tools := b.service(a.file, &s)
	switch {
	case len(tools) == 1:
		return tools[0], nil
	case b.findings[before:].HasErrors():
		return nil, errReported
	}
	return nil, errors.New("the operation can't be used")
}

// errReported says that an activity could not be made and that there is already a finding about it.
var errReported = errors.New("reported")

// credential checks a credential of a service: a text or a secret, or a name and a password.
func (r *reader) credential(v value) {
	v.named("credential", "A text, {env: NAME}, {file: PATH}, or a username and a password.")
	known := map[string]set{
		"username": doc("The name.", r.textOrSecret),
		"password": doc("The password.", r.textOrSecret),
	}
	_, basic := v.Get("username")
	switch {
	case v.Kind == texttree.Object && v.shape != nil:
		maps.Copy(known, r.secretMembers())
		v.describe("dependencies", map[string][]string{"password": {"username"}})
		r.members(v, known)
	case v.Kind == texttree.Object && basic:
		r.members(v, known)
	default:
		r.textOrSecret(v)
	}
}

// operations makes the tools of a file's documents.
func (b *builder) operations(f *File) (tools []*tool.Tool) {
	for _, s := range f.services {
		made := b.service(f, s)
		if len(made) == 0 {
			continue
		}
		from := decided{[][]byte{[]byte(driverOpenAPI), s.at.JSON(), b.spec(f, s.spec.Str).sum}, b.secrets}
		for _, t := range made {
			if s.settings != nil {
				t.Raw = joined(t.Raw, s.settings)
			}
			b.ready[t.Definition.Name] = decided{slices.Clone(from.parts), from.secrets}
			tools = append(tools, b.split(t, f, diag.Loc{File: f.Source, Span: s.at.Span}))
		}
	}
	return tools
}

// operationNames notes the other names of tools that are operations of an HTTP API: method and
// path, which their definitions have in x-operation. A name that two tools have, for example of two
// services, is left out.
func (b *builder) operationNames(tools []*tool.Tool) {
	found := map[string]string{} // the tool; "" if there are several
	for _, t := range tools {
		var def struct {
			Operation string `json:"x-operation"`
		}
		if json.Unmarshal(t.Definition.Raw, &def) != nil || !openapi.IsOperation(def.Operation) {
			continue
		}
		if other, ok := found[def.Operation]; ok && other != t.Definition.Name {
			found[def.Operation] = ""
		} else {
			found[def.Operation] = t.Definition.Name
		}
	}
	for operation, name := range found {
		if name != "" && b.aliases[operation] == "" {
			b.aliases[operation] = name
		}
	}
}

// service makes the tools of a document, or findings.
func (b *builder) service(f *File, s *service) []*tool.Tool {
	if s.spec.Node == nil || s.spec.Kind != texttree.String {
		return nil
	}
	fail := func(at value, err error) []*tool.Tool {
		b.findings = append(b.findings, diag.Finding{
			Code: diag.BadMember, Loc: diag.Loc{File: f.Source, Span: at.Span}, Pointer: at.pointer, Message: fmt.Sprintf("%q: %v", s.spec.Str, err),
		})
		return nil
	}
	spec := b.spec(f, s.spec.Str)
	doc, err := spec.doc, spec.err
	if err != nil {
		return fail(s.spec, err)
	}
	b.secrets = nil
	cfg := openapi.Config{
		Server: s.server, Prefix: s.prefix, Effects: s.effects, Timeout: s.timeout,
		AllowHosts: b.policy.Hosts, AllowPrivate: s.private, MaxBytes: int64(s.maxBytes),
	}
	if s.onlyGiven {
		cfg.Only = s.only
	}
	if cfg.Auth, err = b.credentials(f, s); err != nil {
		return fail(s.auth, err)
	}
	tools, err := doc.Tools(cfg)
	if err != nil {
		return fail(s.at, err)
	}
	var findings diag.List
	if s.operation != "" {
		for _, t := range tools {
			findings = append(findings, t.Findings...)
		}
	}
	if doubt := doc.Doubt(); doubt != nil {
		findings = append(findings, diag.Finding{Code: diag.BadSchema, Severity: diag.Warning, Message: fmt.Sprintf("%q is not as OpenAPI wants it: %v", s.spec.Str, doubt)})
	}
	for _, finding := range findings {
		finding.Loc, finding.Pointer = diag.Loc{File: f.Source, Span: s.spec.Span}, s.spec.pointer
		b.findings = append(b.findings, finding)
	}
	kept := b.remembering(f, s.around, b.secrets, []byte(driverOpenAPI), s.at.JSON(), spec.sum)
	for _, t := range tools {
		t.Activity = s.around.wrap(withoutSecrets(t.Activity, b.secrets), kept)
	}
	return tools
}

// Documents returns the names of the OpenAPI documents, as they are written in the file, in order
// and without duplicates.
func (f *File) Documents() (names []string) {
	all := slices.Clone(f.services)
	for _, a := range f.Activities {
		if a.service != nil {
			all = append(all, a.service)
		}
	}
	for _, s := range all {
		if s.spec.Node != nil && s.spec.Kind == texttree.String && !slices.Contains(names, s.spec.Str) {
			names = append(names, s.spec.Str)
		}
	}
	return names
}

// spec is an OpenAPI document, which is read once for all that use it.
type spec struct {
	doc *openapi.Document
	sum []byte // a digest; nil when it can't be read
	err error
}

// spec reads an OpenAPI document.
func (b *builder) spec(f *File, name string) *spec {
	key := specKey{f, name}
	if b.specs[key] == nil {
		b.specs[key] = f.spec(name)
	}
	return b.specs[key]
}

// specKey identifies a document in a file.
type specKey struct {
	file *File
	name string
}

func (f *File) spec(name string) *spec {
	if f.ReadFile == nil {
		return &spec{err: errors.New("files may not be read here")}
	}
	content, err := f.ReadFile(name)
	if err != nil {
		return &spec{err: err}
	}
	sum := sha256.Sum256(content)
	doc, err := openapi.Read(content)
	return &spec{doc, sum[:], err}
}

// credentials returns the secrets of a service by the names of its schemes.
func (b *builder) credentials(f *File, s *service) (map[string]openapi.Credential, error) {
	all := map[string]openapi.Credential{}
	if !s.authGiven || s.auth.Kind != texttree.Object {
		return all, nil
	}
	for _, e := range s.auth.Entries {
		var c openapi.Credential
		var err error
		v := s.auth.below(e)
		name, basic := v.Get("username")
		if !basic {
			c.Token, err = b.secretText(f, v)
		} else {
			password, _ := v.Get("password")
			if c.Username, err = b.secretText(f, v.below(name)); err == nil && password.Value != nil {
				c.Password, err = b.secretText(f, v.below(password))
			}
			b.secrets = append(b.secrets, c.Encoded())
		}
		if err != nil {
			return nil, fmt.Errorf("auth %q: %w", e.Name, err)
		}
		all[e.Name] = c
	}
	return all, nil
}

// secretText returns a text, or the secret that the value names.
func (b *builder) secretText(f *File, v value) (string, error) {
	if v.Kind != texttree.Object || len(v.Entries) == 0 {
		return v.Str, nil
	}
	secret, doubt, err := f.Secrets.read(v.Entries[0])
	if err == nil {
		b.secrets = append(b.secrets, secret)
	}
	if doubt != nil {
		b.doubt(v, f.Source, fmt.Errorf("%s: %w", v.what(), doubt))
	}
	return secret, err
}
