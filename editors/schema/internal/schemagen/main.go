// Command schemagen writes the JSON Schemas in editors/schema. It is run by go generate there.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

// run writes the schemas to a folder.
func run(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text of each file by its name.
func generate() (map[string][]byte, error) {
	plan, err := lang.Schema()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"plan.json": plan}
	for _, name := range []string{file.ToolFile, file.PolicyOnly, file.ProjectFile, file.TestFile, file.PolicyTest} {
		text, err := file.Schema(name)
		if err != nil {
			return nil, err
		}
		files[name+".json"] = text
	}
	return files, missing(files)
}

// missing returns an error if a member has no description.
func missing(files map[string][]byte) error {
	for name, text := range files {
		var schema any
		if err := json.Unmarshal(text, &schema); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if at := undescribed(schema, ""); at != "" {
			return fmt.Errorf("%s: nothing is said of what %s is", name, at)
		}
	}
	return nil
}

// undescribed returns the place of a member that has no description; "" is none. Conditions
// describe nothing.
func undescribed(schema any, at string) string {
	switch s := schema.(type) {
	case []any:
		for i, one := range s {
			if found := undescribed(one, fmt.Sprintf("%s/%d", at, i)); found != "" {
				return found
			}
		}
	case map[string]any:
		for keyword, one := range s {
			below := at + "/" + keyword
			switch keyword {
			case "if", "then", "else":
				continue
			case "properties", "definitions":
				for name, member := range one.(map[string]any) {
					m := member.(map[string]any)
					if m["description"] == nil && m["$ref"] == nil && keyword == "properties" {
						return below + "/" + name
					}
					if found := undescribed(member, below+"/"+name); found != "" {
						return found
					}
				}
			default:
				if found := undescribed(one, below); found != "" {
					return found
				}
			}
		}
	}
	return ""
}
