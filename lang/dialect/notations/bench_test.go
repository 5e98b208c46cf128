package notations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// chains returns plans of n steps, each of which needs the one before.
func chains(n int) map[string]string {
	all := map[string]*strings.Builder{"llmcompiler": {}, "rewoo": {}, "mathqa": {}, "qdmr": {}}
	all["llmcompiler"].WriteString("1. search(\"a\")\n")
	all["rewoo"].WriteString("Plan: a #E1 = Search[a]\n")
	all["mathqa"].WriteString("add(n0,1)|")
	all["qdmr"].WriteString("return a ;")
	for i := 2; i <= n; i++ {
		fmt.Fprintf(all["llmcompiler"], "%d. search(\"b of $%d\")\n", i, i-1)
		fmt.Fprintf(all["rewoo"], "Plan: b #E%d = Search[b of #E%d]\n", i, i-1)
		fmt.Fprintf(all["mathqa"], "add(#%d,1)|", i-2)
		fmt.Fprintf(all["qdmr"], "return b of #%d ;", i-1)
	}
	fmt.Fprintf(all["llmcompiler"], "%d. join()\n", n+1)
	texts := map[string]string{}
	for name, b := range all {
		texts[name] = b.String()
	}
	return texts
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []int{10, 1000, 20_000} {
		for name, text := range chains(size) {
			n, _ := notations.Lookup(name)
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, found := n.Parse(diag.NewFile("plan", []byte(text)), options()); len(found) > 0 {
						b.Fatal(found[0])
					}
				}
			})
		}
	}
}
