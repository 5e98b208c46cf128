// Package tree compiles schema documents: it makes a graph of nodes in which references are
// resolved and the drafts' spellings are the same.
//
// Compile reads a document: document.go finds what it names, build.go reads the keywords of each
// schema into a Node, and Complete derives what they come to. Everything else in schemas works on
// nodes, which are never changed once they are built. Behind a document stands the library that has
// the last word about its values (library.go). It gets the document without what it can't read or
// should not assert, and compiles it when it is first asked. meta.go validates documents against
// the meta-schema of their draft.
//
// New, Const, Both and Either make schemas that are in no document.
package tree
