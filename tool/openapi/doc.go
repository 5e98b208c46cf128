// Package openapi makes tools of the operations of a service that an OpenAPI document (3.0, 3.1)
// describes: their params and results are typed as the document says, and calls are requests of
// package tool/http, with its checks of hosts, addresses, redirects and sizes.
//
//	doc, err := openapi.Read(text)
//	tools, err := doc.Tools(openapi.Config{Server: "https://pets.example/v1"})
//
// A tool is named by the operation's id, else as "GET /pets/{id}". Its params are the parameters,
// those of the path among them, and body. Documents are read as they stand: references lead within
// them, and nothing is fetched. A Document is immutable; its tools may be called at once.
package openapi
