package openapi_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/openapi"
)

// sized returns a document of about so many bytes, like those of real services: each
// operation takes and gives a schema that leads to a few others. Operation 0 has a schema that is
// none.
func sized(bytes int) []byte {
	const each = 1200 // of an operation with its schema
	n := max(bytes/each, 8)
	var paths, components strings.Builder
	for i := range n {
		minimum := "0"
		if i == 0 {
			minimum = `"many"`
		}
		fmt.Fprintf(&paths, `"/things%d/{id}":{"put":{"operationId":"put%d","summary":"Replaces a thing of kind %d.","parameters":[`+
			`{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"page","in":"query","schema":{"type":"integer","minimum":%s}}],`+
			`"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/T%d"}}}},`+
			`"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/T%d"}}}}}}},`, i, i, i, minimum, i, i)
		fmt.Fprintf(&components, `"T%d":{"type":"object","description":"%s","required":["name"],"properties":{"name":{"type":"string","minLength":1},"count":{"type":"integer","minimum":0},`+
			`"state":{"enum":["open","closed","other"]},"a":{"$ref":"#/components/schemas/T%d"},"b":{"type":"array","items":{"$ref":"#/components/schemas/T%d"}}}},`,
			i, strings.Repeat("about it ", 40), (i*7+1)%n, (i*3+2)%n)
	}
	return []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{` +
		strings.TrimSuffix(paths.String(), ",") + `},"components":{"schemas":{` + strings.TrimSuffix(components.String(), ",") + `}}}`)
}

// The definition of an operation is made when somebody uses it, once, and what is wrong with the
// others disturbs nobody.
func TestDefinitionsAreMadeWhenUsed(t *testing.T) {
	doc, err := openapi.Read(sized(20_000))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := doc.Tools(openapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := tool.NewCatalogue(tools...).WithBuiltIns()
	made := func() (n int) {
		for o := range c.Listed() {
			if o.Later != nil && o.Later.Done() {
				n++
			}
		}
		return n
	}
	if n := made(); n != 0 || len(tools) < 8 {
		t.Errorf("%d definitions of %d are made before any is used", n, len(tools))
	}
	used, ok := c.Lookup("put3")
	again, _ := c.Lookup("put3")
	if !ok || used != again || used.Later != nil || len(used.Findings) > 0 || made() != 1 {
		t.Errorf("put3: %v, %d made, %v", ok, made(), used.Findings)
	}
	if used.Definition.Param["page"] == nil || used.Definition.Output == nil {
		t.Error("the definition of put3 isn't whole")
	}
	if bad, _ := c.Lookup("put0"); !bad.Findings.HasErrors() || bad.Definition.Params == nil || made() != 2 {
		t.Errorf("put0: %v, %d made", bad.Findings, made())
	}
}

// A reference that leads nowhere is an error of the operation that needs what it leads to, and of no
// other.
func TestReferencesToNothing(t *testing.T) {
	const none, response = `{"$ref":"#/components/schemas/None"}`, `"responses":{"200":{"description":"ok"}}`
	parameter := func(schema string) string {
		return `{"parameters":[{"name":"q","in":"query","schema":` + schema + `}],` + response + `}`
	}
	for _, c := range []struct {
		operation string
		bad       bool
	}{
		{parameter(none), true},
		{parameter(`{"type":"array","items":` + none + `}`), true},
		{parameter(`{"$ref":"#/components/schemas/Leads"}`), true},
		{parameter(`{"$ref":"other.json#/Some"}`), true},
		{`{"parameters":[{"$ref":"#/components/parameters/None"}],` + response + `}`, true},
		{`{"parameters":[{"$ref":"#/components/parameters/Leads"}],` + response + `}`, true},
		{`{"requestBody":{"$ref":"#/components/requestBodies/None"},` + response + `}`, true},
		{`{"responses":{"200":{"$ref":"#/components/responses/None"}}}`, true},
		{`{"responses":{"200":{"description":"","content":{"application/json":{"schema":` + none + `}}}}}`, true},
		{`{"responses":{"400":{"$ref":"#/components/responses/None"},"200":{"description":"ok"}}}`, false},
		{parameter(`{"$ref":"#/components/schemas/Good"}`), false},
	} {
		doc, err := openapi.Read([]byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{` +
			`"/a":{"get":` + c.operation + `},"/b":{"get":{"operationId":"other",` + response + `}}},` +
			`"components":{"schemas":{"Leads":{"properties":{"x":` + none + `}},"Good":{"type":"integer"}},"parameters":{"Leads":{"$ref":"#/components/parameters/None"}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		tools, err := doc.Tools(openapi.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if found := tools[0].Whole().Findings; found.HasErrors() != c.bad || c.bad && !strings.Contains(found[0].Message, " leads ") {
			t.Errorf("%s: %v", c.operation, found)
		}
		if found := tools[1].Whole().Findings; len(found) > 0 {
			t.Errorf("%s: the other operation: %v", c.operation, found)
		}
	}
}

// BenchmarkRead reads a document, makes its tools and uses three of them. Its peak is what the
// heap holds at most, as seen every millisecond.
func BenchmarkRead(b *testing.B) {
	for _, bytes := range []int{300 << 10, 8 << 20} {
		text := sized(bytes)
		b.Run(fmt.Sprintf("%dKiB", len(text)>>10), func(b *testing.B) {
			b.ReportAllocs()
			peak, stop := peak()
			for b.Loop() {
				doc, err := openapi.Read(text)
				if err != nil {
					b.Fatal(err)
				}
				tools, err := doc.Tools(openapi.Config{})
				if err != nil {
					b.Fatal(err)
				}
				c := tool.NewCatalogue(tools...)
				for _, name := range []string{"put1", "put5", "put7"} {
					if o, ok := c.Lookup(name); !ok || o.Definition.Output == nil {
						b.Fatal(name)
					}
				}
			}
			stop()
			b.ReportMetric(float64(*peak)/(1<<20), "peakMB")
		})
	}
}

// peak notes the most that the heap holds until stop is called.
func peak() (most *uint64, stop func()) {
	most = new(uint64)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*most = max(*most, m.HeapAlloc)
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return most, func() { close(done); <-ended }
}
