// Package http is the activity that makes an HTTP request: params go into the URL,
// the query, the headers and the body; the answer is the result.
//
//	weather, err := http.New(http.Config{URL: "https://api.example/weather/{city}"})
//	defer weather.Close()
//	result, err := weather.Call(ctx, &tool.Request{Params: json.RawMessage(`{"city": "Paris", "units": "si"}`)})
//	// GET https://api.example/weather/Paris?units=si
//
// What a param holds may come from a model, so it never gets further than its place:
// it is one segment of the path, one value of the query, one line of a header, one
// value of a JSON body. The request goes to allowed hosts only, also after a
// redirect, and to no private, loopback or link-local address unless that host is
// allowed by its address; this is checked when the connection is made, on the address
// it is made to, so that no name server can change it in between.
//
// Nothing is retried here, and net/http is kept from doing so, where a request may
// have been read by the server and is not safe to repeat: see Activity.Call for how
// failures are told. The package is named as its folder; import net/http beside it as
// nethttp.
package http
