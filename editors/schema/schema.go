// Package schema holds the JSON Schemas of the files that people write for plc, for editors.
// They are made from the readers of the files (lang.Schema, file.Schema), and are of draft 7, which
// the language servers of JSON and YAML know best. They say which members there are and what they
// may be; what a plan means only plc check and plc lsp say.
package schema

import (
	"embed"
	"slices"
	"strings"
)

//go:generate go run ./internal/schemagen

//go:embed plan.json tools.json policy.json policytest.json project.json test.json
var files embed.FS

// Names returns the names of the files that have a schema.
func Names() []string {
	entries, _ := files.ReadDir(".") // which is there
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Text returns the schema of a file, and false if no file has that name.
func Text(name string) ([]byte, bool) {
	if !slices.Contains(Names(), name) {
		return nil, false
	}
	text, err := files.ReadFile(name + ".json")
	return text, err == nil
}
