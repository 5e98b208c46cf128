// Package openapi makes tools from the operations of a service that an OpenAPI document (3.0, 3.1)
// describes. Their params and results have the types of the document, and calls are requests of
// package tool/http, with its checks of hosts, addresses, redirects and sizes.
//
//	doc, err := openapi.Read(text)
//	tools, err := doc.Tools(openapi.Config{Server: "https://pets.example/v1"})
//
// The name of a tool is the operation's id, or else a name such as "GET /pets/{id}". Its params are
// the parameters, including those of the path, and body. References lead within the document, and
// nothing is fetched. A Document is immutable; its tools may be called at once.
package openapi
