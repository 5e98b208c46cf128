package tree

import (
	"fmt"
	"strings"
	"testing"
)

// TestTagsAreFew compiles definitions that each refer twice to the next one.
func TestTagsAreFew(t *testing.T) {
	tags := partsOf(200, func(i int) string { return fmt.Sprintf(`"t%d":{"const":%[1]d}`, i) })
	n, fault := Compile([]byte(`{"$ref":"#/$defs/d0","$defs":{`+partsOf(10, func(i int) string {
		return fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%[2]d"}]}`, i, i+1)
	})+`,"d10":{"properties":{`+tags+`},"required":[`+partsOf(200, func(i int) string { return fmt.Sprintf(`"t%d"`, i) })+`]}}}`), "")
	if fault != nil {
		t.Fatal(fault)
	}
	if n := len(n.tags); n != maxTags {
		t.Errorf("%d tags", n)
	}
}

// partsOf is n texts with commas between.
func partsOf(n int, text func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = text(i)
	}
	return strings.Join(list, ",")
}
