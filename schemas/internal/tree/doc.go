// Package tree compiles schema documents into a graph of nodes, in which references are resolved
// and the spellings of all drafts are unified.
//
// Compile reads a document: document.go finds its identifiers and anchors, build.go reads the
// keywords of each schema into a Node, and Complete derives further properties. Everything else in
// schemas works on nodes, which never change after they are built. Each document has a library that
// finally decides about its values (library.go). The library gets the document without the parts
// that it can't read or should not enforce, and compiles it on first use. meta.go validates
// documents against the meta-schema of their draft.
//
// New, Const, Both and Either make schemas that are in no document.
package tree
