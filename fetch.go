package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
)

// fetchTimeout limits how long it may take to fetch a document that a plan delegates to.
const fetchTimeout = 30 * time.Second

// fetcher returns a function that fetches documents that plans delegate to, from URLs on these
// hosts; nil if there are no hosts. It applies the guards of tool/http: redirects may only lead to
// these hosts, and private addresses are refused unless they are among them.
func fetcher(ctx context.Context, hosts []string) func(url string) ([]byte, error) {
	if len(hosts) == 0 {
		return nil
	}
	return func(url string) ([]byte, error) {
		escaped := strings.NewReplacer("{", "{{", "}", "}}").Replace(url) // the URL is not a template
		a, err := http.New(http.Config{URL: escaped, AllowHosts: hosts, Result: "text", Timeout: fetchTimeout})
		if err != nil {
			return nil, refusal(err)
		}
		defer a.Close()
		res, err := a.Call(ctx, &tool.Request{Params: json.RawMessage("{}")})
		if err != nil {
			return nil, refusal(err)
		}
		var text string
		if err := json.Unmarshal(res.Value, &text); err != nil {
			return nil, fmt.Errorf("the answer is no text: %w", err)
		}
		return []byte(text), nil
	}
}

// refusal returns the error of a fetch. If the host is not allowed, it is an fs.ErrPermission whose
// message names the flag to set.
func refusal(err error) error {
	var e *tool.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case "host-not-allowed", "private-address", "insecure-redirect":
		words, _, _ := strings.Cut(e.Message, ", or set allowPrivate")
		return forbidden(strings.ReplaceAll(words, "allowHosts", "--delegate-hosts"))
	case "output-too-large":
		return fmt.Errorf("the document has more than %d MiB", http.DefaultMaxBytes>>20)
	}
	return err
}

// forbidden is the error of a host that may not be contacted.
type forbidden string

func (f forbidden) Error() string        { return string(f) }
func (f forbidden) Is(target error) bool { return target == fs.ErrPermission }
