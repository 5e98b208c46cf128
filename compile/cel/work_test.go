package cel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/schemas"
)

// TestWork: what goes through a whole value again and again ends at the bound, whatever
// the library thinks that it costs.
func TestWork(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("a", 100_000) + `"`)
	numbers := json.RawMessage("[0" + strings.Repeat(",0", 10_000) + "]")
	vars := map[string]json.RawMessage{"s": long, "l": numbers, "o": json.RawMessage(`{"deep": [[` + string(numbers) + `]]}`)}
	checker := cel.New()
	free := map[string]*schemas.Schema{"s": nil, "l": nil, "o": nil}
	for _, each := range []string{
		"size(s) > 0", "s.size() > 0", "s.charAt(5) == 'a'", "s.substring(9).startsWith('a')", "s.lastIndexOf('b') < 0", "s.indexOf('b') < 0",
		"s.trim() != ''", "strings.quote(s) != ''", "s.split('b').size() == 1", "string(s) != ''", "bytes(s) != b''", "s.reverse() != ''",
		"math.greatest(l) == 0", "[l] == [l]", "o == {'deep': [[l]]}", "{'a': o} == {'a': o}", "[l] in [[l], [l]]", "l.reverse() == l",
		"l.sort() == l", "l.slice(0, 9000) != l", "l.flatten() == l", "s + s != s", "l + l != l", "s <= s", "s.contains('a')", "s.matches('a+')", "!s.matches('(?:.?){100}z')", "l.sortBy(x, x) == l",
	} {
		p, err := checker.Check("lists.range(5000).all(i, "+each+")", free, nil)
		if err != nil {
			t.Errorf("%s: %v", each, err)
			continue
		}
		if ok, err := p.Holds(t.Context(), vars); err == nil || !strings.Contains(err.Error(), "takes more than 1000000 steps") {
			t.Errorf("%s: %v, %v", each, ok, err)
		}
		if once, err := checker.Check(each, free, nil); err != nil {
			t.Error(err)
		} else if ok, err := once.Holds(t.Context(), vars); !ok || err != nil {
			t.Errorf("%s, once: %v, %v", each, ok, err)
		}
	}
	large, err := checker.Check("s.matches('(?:.?){999}(?:.?){999}z')", free, nil) // short, and 4,000 instructions
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := large.Holds(t.Context(), vars); err == nil || !strings.Contains(err.Error(), "takes more than 1000000 steps") {
		t.Errorf("%v, %v", ok, err)
	}
}
