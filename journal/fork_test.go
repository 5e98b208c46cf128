package journal

import (
	"maps"
	"testing"
)

func TestSplitStep(t *testing.T) {
	got := map[string]int{}
	for _, step := range []string{"a", "a[3]", "a#2", "b[12]#4", "x~1y~0~2~3[7]"} {
		id, n := splitStep(step)
		got[id+"|"+step] = n
	}
	want := map[string]int{"a|a": 0, "a|a[3]": 3, "a|a#2": 0, "b|b[12]#4": 12, "x/y~[#|x~1y~0~2~3[7]": 7}
	if !maps.Equal(got, want) {
		t.Error(got)
	}
}
