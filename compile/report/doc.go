// Package report reads finished programs: their manifests and digests, which say exactly what would
// run (plan-language §10), and how two programs or two manifests differ.
//
//	m := report.Of(prog, nil)
//	fmt.Println(m.Digest())
//	for _, d := range approved.Differences(m) {
//		fmt.Println(d) // call "pay": amount was 5, is 6
//	}
package report
