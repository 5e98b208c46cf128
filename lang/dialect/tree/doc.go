// Package tree has code that the readers of notations in JSON and YAML share (docs/dialects.md):
// values of the original with their places, JSON values in strings, labels and the references to
// them, and definitions of tools.
//
//	root, ok := tree.Read(b)
//	for _, step := range root.Elements() {
//		tree.Params(b, step.Get("arguments"), parts)
//	}
package tree
