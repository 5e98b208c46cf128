package model_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/model"
)

// What a server sends back of the key stays out of errors, wherever in its answer it stands.
func TestErrorsQuoteNoPartOfTheKey(t *testing.T) {
	key := "S3CR3T-" + strings.Repeat("abcdefghij", 30)
	for name, answer := range map[string]string{
		"status":       "HTTP/1.1 403 No " + key + "\r\nContent-Length: 0\r\n\r\n",
		"body":         fmt.Sprintf("HTTP/1.1 403 No\r\nContent-Length: %d\r\n\r\n%s", len(key), key),
		"content type": "HTTP/1.1 200 OK\r\nContent-Type: text/" + key + "\r\nContent-Length: 0\r\n\r\n",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			if conn, err := listener.Accept(); err == nil {
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = conn.Write([]byte(answer))
				_ = conn.Close()
			}
		}()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		_, err = model.HTTPClient(key).Do(req)
		if said := strings.ToLower(fmt.Sprint(err)); err == nil || strings.Contains(said, "s3cr3t") || strings.Contains(said, "abcdefghij") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
