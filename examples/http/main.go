// Http is a small shop for the plan beside it to call. It listens on localhost:8484.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"sync/atomic"
)

func main() {
	log.Fatal(http.ListenAndServe("localhost:8484", shop()))
}

// shop answers like a shop that has one customer. Its stock room needs to be
// asked twice.
func shop() http.Handler {
	var asked atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("GET /customers/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != "ada" {
			http.Error(w, "no such customer", http.StatusNotFound)
			return
		}
		answer(w, `{"name": "Ada", "mail": "ada@example.org"}`)
	})
	mux.HandleFunc("GET /customers/{name}/orders", func(w http.ResponseWriter, r *http.Request) {
		answer(w, `[{"item": "lamp", "price": 12.50}, {"item": "desk", "price": 80}]`)
	})
	mux.HandleFunc("GET /stock", func(w http.ResponseWriter, r *http.Request) {
		if !asked.Swap(true) {
			http.Error(w, "one moment", http.StatusServiceUnavailable)
			return
		}
		answer(w, fmt.Sprintf(`{"item": %q, "count": 3}`, r.FormValue("item")))
	})
	mux.HandleFunc("POST /mails", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, `{"sent": `+string(body)+`}`)
	})
	return mux
}

func answer(w http.ResponseWriter, json string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, json)
}
