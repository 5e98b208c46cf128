package schemas_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/schemas"
)

// suiteCase is a schema of the official JSON-Schema-Test-Suite with its values.
type suiteCase struct {
	file        string
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

var suiteDrafts = map[string]string{
	"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#",
	"draft7": "http://json-schema.org/draft-07/schema#", "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
	"draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

// suite reads the cases of a draft; a schema without $schema gets it.
func suite(t testing.TB, draft string) []suiteCase {
	files, err := filepath.Glob(filepath.Join("testdata", "suite", draft, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no suite", err)
	}
	var all []suiteCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []suiteCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(file, err)
		}
		for _, c := range cases {
			c.file = filepath.Base(file)
			if s := string(c.Schema); strings.HasPrefix(s, "{") && !strings.Contains(s, `"$schema"`) {
				sep := ","
				if strings.TrimSpace(s[1:]) == "}" {
					sep = ""
				}
				c.Schema = json.RawMessage(`{"$schema":"` + suiteDrafts[draft] + `"` + sep + s[1:])
			}
			all = append(all, c)
		}
	}
	return all
}

// someOf returns each eighth case of a suite, or all of them if the tests are to try many: what is
// asked of pairs of cases is asked many times.
func someOf(all []suiteCase) (some []suiteCase) {
	for i := 0; i < len(all); i += effort.Of(8, 1) {
		some = append(some, all[i])
	}
	return some
}

// gaps are the cases that plc or the library decide otherwise than the suite.
var gaps = map[string]string{
	"draft4/zeroTerminatedFloats.json/some languages do not distinguish between different types of numeric value": "1.0 is an integer in every draft here",
	"draft2020-12/dynamicRef.json/$dynamicRef skips over intermediate resources - direct reference":               "the library takes an anchor that is not in the dynamic scope",
}

func TestSuite(t *testing.T) {
	values := 0
	for draft := range suiteDrafts {
		for _, c := range suite(t, draft) {
			name := draft + "/" + c.file + "/" + c.Description
			s, err := schemas.Compile(c.Schema, nil)
			if err != nil {
				if !strings.Contains(err.Error(), "leads out of the document") && !strings.Contains(err.Error(), "no draft that is known") {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			for _, test := range c.Tests {
				values++
				if err := s.Validate(test.Data); (err == nil) != test.Valid && gaps[name] == "" {
					t.Errorf("%s: %s: valid: %v, err: %v", name, test.Description, test.Valid, err)
				}
			}
		}
	}
	if values < 4000 {
		t.Errorf("only %d values of the suite were tried", values)
	}
}
