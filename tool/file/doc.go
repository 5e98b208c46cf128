// Package file reads tool files: what tools there are, what runs them, and what they
// may do (cli, "The tool file").
//
//	f, findings := file.Read(diag.NewFile("tools.yaml", text))
//	catalogue, policy, more := file.Catalogue(f)
//
// A tool file is JSON, with comments and trailing commas, or YAML. A name that ends in
// .json, .jsonc, .yaml or .yml says which; any other is taken for JSON when its text starts
// with a brace or a comment of JSON.
//
// Only the part of YAML that JSON has too is accepted, so that every value is what it looks like:
// dates are strings; numbers are written as in JSON (010 and 0x1F are errors); keys are strings;
// there are no aliases, merge keys and custom tags.
//
// All faults of a file are reported in their place, with diag.BadMember for a value of the
// wrong type and diag.UnknownMember for a member that does not exist. Definitions
// report what tool.ParseDefinition reports.
//
// Programs run in the current directory unless "dir" says otherwise. Relative paths are relative to
// it too, and not to the folder of the tool file.
package file
