// The site of examples/pages: some pages, one of which is often busy and one of which is
// gone.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"sync"
)

// page is a page of the site.
type page struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// site answers /pages with the names of the pages, and /pages/NAME with one.
func site() http.Handler {
	pages := map[string]page{
		"home":  {"Home", "Lamps and desks since 1931."},
		"lamps": {"Lamps", "We have three of them. One is blue."},
		"desks": {"Desks", "Sold out."},
	}
	var mu sync.Mutex
	asked := map[string]int{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pages", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, []map[string]string{{"page": "home"}, {"page": "lamps"}, {"page": "gone"}, {"page": "desks"}})
	})
	mux.HandleFunc("GET /pages/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		mu.Lock()
		asked[name]++
		busy := name == "lamps" && asked[name]%2 == 1
		mu.Unlock()
		p, ok := pages[name]
		switch {
		case busy:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case !ok:
			http.NotFound(w, r)
		default:
			answer(w, p)
		}
	})
	return mux
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone misses nothing
}

func main() {
	log.Fatal(http.ListenAndServe("localhost:8485", site()))
}
