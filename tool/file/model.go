package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"strconv"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
)

// DefaultModel is the model that makes the latent calls of tools that name none.
const DefaultModel = "default"

// Model is the configuration of a model in a tool file. The caller makes the client for it.
type Model struct {
	Name        string
	Provider    string // "openai" or "anthropic"
	Model       string
	BaseURL     string // "" is the provider's address
	Temperature *float64
	MaxTokens   int // 0 is the provider's default
	Batch       int // the maximum number of calls in one request; 0 is one

	// InputPrice and OutputPrice are the prices of a million tokens.
	InputPrice, OutputPrice float64

	Record, Replay string // files of recorded answers; "" are none
	Loc            diag.Loc

	key     *texttree.Node // nil: it has none
	secrets *Secrets
}

// APIKey returns the key; "" if the model has none. Its error never contains the key.
func (m *Model) APIKey() (string, error) {
	if m.key == nil {
		return "", nil
	}
	key, err := m.secrets.secret(m.key.Entries[0])
	if err == nil && key == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("apiKey: %w", err)
	}
	return key, nil
}

// Models returns the models of tool files by name. If two have the same name, the one of the later
// file counts.
func Models(files ...*File) map[string]*Model {
	all := map[string]*Model{}
	for _, f := range files {
		for _, m := range f.models {
			m.secrets = f.Secrets
			all[m.Name] = &m
		}
	}
	return all
}

// models reads the models by name.
func (r *reader) models(v value, f *File) {
	r.each(v, func(v value) {
		if !r.is(v, texttree.Object) {
			return
		}
		f.Models[v.name()] = json.RawMessage(v.JSON())
		f.models = append(f.models, r.model(v))
	})
}

func (r *reader) model(v value) Model {
	v.named("model", "A model that makes latent calls.")
	m := Model{Name: v.name(), Loc: r.loc(v.key)}
	r.members(v, map[string]set{
		"provider": doc("Whose API it is.", r.oneOf(&m.Provider, "openai", "anthropic")),
		"model":    doc("The provider's name for the model.", r.text(&m.Model)),
		"baseURL":  doc("Where the API is, when not at the provider's.", func(v value) { r.baseURL(v, &m.BaseURL) }),
		"apiKey":   doc("The key: {env: NAME} or {file: PATH}.", func(v value) { r.secretOnly(v, &m.key) }),
		"temperature": doc("The temperature, from 0 to 2.", func(v value) {
			var t float64
			r.within(v, &t, 2)
			m.Temperature = &t
		}),
		"maxTokens": doc("Tokens of an answer at most.", r.count(&m.MaxTokens, 1)),
		"batch":     doc("How many calls go in one request at most.", r.count(&m.Batch, 1)),
		"prices": doc("What a million tokens cost.", func(v value) {
			most := math.MaxFloat32
			r.members(v, map[string]set{
				"input":  doc("Of the input.", func(v value) { r.within(v, &m.InputPrice, most) }),
				"output": doc("Of the output.", func(v value) { r.within(v, &m.OutputPrice, most) }),
			})
		}),
		"record": doc("A file in which answers are recorded.", r.text(&m.Record)),
		"replay": doc("A file from which answers are taken.", r.text(&m.Replay)),
	})
	v.needs("provider", "model")
	for _, name := range []string{"provider", "model"} {
		if e, ok := v.Get(name); !ok || e.Value.Kind == texttree.String && e.Value.Str == "" {
			r.errorf(v, "the model %q needs a %s, as in {provider: openai, model: NAME}", m.Name, name)
		}
	}
	if m.Record != "" && m.Replay != "" {
		r.errorf(v, "the model %q has record and replay; record answers what it has from the file as well, so keep one", m.Name)
	}
	return m
}

// baseURL reads the address of a service.
func (r *reader) baseURL(v value, dst *string) {
	if !r.is(v, texttree.String) {
		return
	}
	u, err := url.Parse(v.Str)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.errorf(v, "%s is an address like https://models.example/v1, without a query or a password", v.what())
		return
	}
	*dst = v.Str
}

// secretOnly reads {"env": NAME} or {"file": PATH}. A text is refused: it would be recorded.
func (r *reader) secretOnly(v value, dst **texttree.Node) {
	if v.shape == nil && (v.Kind != texttree.Object || len(v.Entries) != 1) {
		r.errorf(v, "%s is {env: NAME} or {file: PATH}, so that no key stands in a tool file", v.what())
		return
	}
	before := len(r.findings)
	if r.secret(v); len(r.findings) == before {
		*dst = v.Node
	}
}

// within reads a number from 0 to most.
func (r *reader) within(v value, dst *float64, most float64) {
	if !r.is(v, texttree.Number) || v.describe("minimum", 0, "maximum", most) {
		return
	}
	n, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil || n < 0 || n > most {
		r.errorf(v, "%s is a number from 0 to %g, not %s", v.what(), most, v.Raw)
		return
	}
	*dst = n
}

// checkModel reports a latent activity that names a model that does not exist. The model "default"
// may come from elsewhere.
func (b *builder) checkModel(a Activity, models map[string]*Model) {
	if a.model == "" || a.model == DefaultModel || models[a.model] != nil {
		return
	}
	cure := "; declare it in models"
	if best, ok := spell.Nearest(a.model, maps.Keys(models)); ok {
		cure = fmt.Sprintf("; did you mean %q?", best)
	}
	at := value{Node: a.driver.Node.At("/model"), pointer: a.driver.pointer + "/model"}
	b.findings = append(b.findings, diag.Finding{
		Code: diag.UnknownActivity, Loc: diag.Loc{File: a.Loc.File, Span: at.Span}, Pointer: at.pointer,
		Message: fmt.Sprintf("%q: there is no model %q%s", a.Name, a.model, cure),
	})
}
