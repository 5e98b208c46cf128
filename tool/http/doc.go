// Package http has an activity that makes an HTTP request: params go into the URL, the query, the
// headers and the body; the answer is the result.
//
//	weather, err := http.New(http.Config{URL: "https://api.example/weather/{city}"})
//	defer weather.Close()
//	result, err := weather.Call(ctx, &tool.Request{Params: json.RawMessage(`{"city": "Paris", "units": "si"}`)})
//	// GET https://api.example/weather/Paris?units=si
//
// The value of a param may come from a model, so it can't affect other parts of the request: it is
// one segment of the path, one value of the query, one line of a header or one value of a JSON
// body. The request goes only to allowed hosts, also after a redirect, and to no private, loopback
// or link-local address unless that address is allowed. The address is checked when the connection
// is made, so that no name server can change it in between.
//
// The activity does not retry, and keeps net/http from retrying a request that the server may have
// read and that is not safe to repeat: see Activity.Call for the failures. Import net/http beside
// this package as nethttp.
package http
