// Package tree is what the readers of notations in JSON and YAML have in common
// (docs/dialects.md): a value of the original with its place, values in strings of
// JSON, labels and the references to them, and definitions of tools.
//
//	root, ok := tree.Read(b)
//	for _, step := range root.Elements() {
//		tree.Params(b, step.Get("arguments"), parts)
//	}
package tree
