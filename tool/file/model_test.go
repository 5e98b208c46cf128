package file_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

func TestModels(t *testing.T) {
	const sound = `model: m, provider: openai`
	for text, want := range map[string]string{
		`models: {a: {` + sound + `}}`: "",
		`models: {a: {` + sound + `, apiKey: {env: K}, temperature: 0, maxTokens: 9}}`:    "",
		`models: {a: {` + sound + `, prices: {input: 0.5, output: 2}, record: r.jsonl}}`:  "",
		`models: {a: {` + sound + `}}` + "\nactivities: {t: {latent: {model: a}}}":        "",
		`activities: {t: {latent: {model: default}}}`:                                     "",
		`models: {smart: {` + sound + `}}` + "\nactivities: {t: {latent: {model: smrt}}}": `there is no model "smrt"; did you mean "smart"?`,
		`activities: {t: {latent: {model: x}}}`:                                           `there is no model "x"; declare it in models`,
		`models: {a: {model: m}}`:                                                         "needs a provider",
		`models: {a: {provider: openai}}`:                                                 "needs a model",
		`models: {a: {provider: none, model: m}}`:                                         "openai and anthropic",
		`models: {a: {` + sound + `, apiKey: sk-123456}}`:                                 "no key stands in a tool file",
		`models: {a: {` + sound + `, apiKey: {env: K, file: F}}}`:                         "{env: NAME} or {file: PATH}",
		`models: {a: {` + sound + `, baseURL: models.example}}`:                           "an address like",
		`models: {a: {` + sound + `, baseURL: "https://u:p@models.example"}}`:             "an address like",
		`models: {a: {` + sound + `, temperature: 3}}`:                                    "from 0 to 2",
		`models: {a: {` + sound + `, maxTokens: 0}}`:                                      "whole number from 1",
		`models: {a: {` + sound + `, prices: {input: -1}}}`:                               "a number from 0",
		`models: {a: {` + sound + `, record: a, replay: b}}`:                              "keep one",
		`models: {a: {` + sound + `, modle: x}}`:                                          `did you mean "model"?`,
	} {
		f, findings := file.Read(diag.NewFile("tools.yaml", []byte(text)))
		_, _, more := file.Catalogue(f)
		findings = append(findings, more...)
		got := ""
		for _, finding := range findings {
			got += finding.Message + "\n"
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// The key is read when it is asked for, and an error does not hold it.
func TestModelKeys(t *testing.T) {
	f, _ := file.Read(diag.NewFile("tools.yaml", []byte(`models: {a: {model: m, provider: openai, apiKey: {env: K}}, b: {model: m, provider: openai}}`)))
	f.Secrets = &file.Secrets{LookupEnv: func(name string) (string, bool) { return "key of " + name, name == "K" }}
	models := file.Models(f)
	if key, err := models["a"].APIKey(); key != "key of K" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	if key, err := models["b"].APIKey(); key != "" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	f.Secrets = nil
	if _, err := file.Models(f)["a"].APIKey(); err == nil {
		t.Error("a key without leave to read the environment")
	}
}
