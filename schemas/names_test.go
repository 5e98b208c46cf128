package schemas

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	s, err := Compile([]byte(`{
		"$ref": "#/$defs/base", "properties": {"a": {}, "b": {}},
		"allOf": [{"properties": {"c": {}}}],
		"$defs": {"base": {"properties": {"d": {}, "self": {"$ref": "#"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Collect(s.Names()), []string{"a", "b", "d", "self", "c"}; !slices.Equal(got, want) {
		t.Errorf("Names = %v, want %v", got, want)
	}
}
