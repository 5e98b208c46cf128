package openapi

import (
	"fmt"
	"strings"
	"testing"
)

// What a document of many operations costs is bounded: where everything leads to everything there
// is room for less of each, where it does not all of it is told.
func TestRoomForManyOperations(t *testing.T) {
	for name, c := range map[string]struct {
		operations, leads int // to so many schemas each
		most, want        int
	}{
		"few":       {3, 5, 3_000, maxSchemas},
		"plain":     {30, 1, 3_000, maxSchemas},
		"entangled": {30, 300, 3_000, 500 * 3_000 / (30 * 2 * 300)},
		"hopeless":  {30, 300, 10, 1},
	} {
		var paths, schemas []string
		for i := range c.operations {
			paths = append(paths, fmt.Sprintf(`"/o%d":{"post":{"operationId":"o%d","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S%d"}}}},
				"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S%d"}}}}}}}`, i, i, i, i))
		}
		for i := range max(c.operations, c.leads) {
			next := "true"
			if c.leads > 1 {
				next = fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, (i+1)%c.leads)
			}
			schemas = append(schemas, fmt.Sprintf(`"S%d":{"properties":{"next":%s}}`, i, next))
		}
		doc, err := Read([]byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{` +
			strings.Join(paths, ",") + `},"components":{"schemas":{` + strings.Join(schemas, ",") + `}}}`))
		if err != nil {
			t.Fatal(name, err)
		}
		got := roomFor(doc.operations, c.most)
		if got != c.want && (got < c.want/2 || got > c.want) { // references count as well
			t.Errorf("%s: room for %d, want %d", name, got, c.want)
		}
		all := 0
		for _, op := range doc.operations {
			all += strings.Count(string(op.definition(op.name, []byte("{}"), got)), `"next"`)
		}
		if most := max(c.most, 2*c.operations); all > most {
			t.Errorf("%s: %d schemas are told, of at most %d", name, all, most)
		}
	}
}
