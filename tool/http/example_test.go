package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
)

func ExampleNew() {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%s %s", r.Method, r.URL.Path)
	}))
	defer server.Close()
	a, err := http.New(http.Config{URL: server.URL + "/users/{id}", AllowPrivate: true})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	res, err := a.Call(context.Background(), &tool.Request{Params: json.RawMessage(`{"id": "a b"}`)})
	fmt.Println(string(res.Value), err)
	_, err = a.Call(context.Background(), &tool.Request{Params: json.RawMessage(`{"id": ".."}`)})
	fmt.Println(err)
	// Output:
	// "GET /users/a b" <nil>
	// bad-params: the segment "{id}" of the path would lead elsewhere: ".."
}
