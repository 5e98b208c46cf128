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

// fetchTimeout limits the time that it takes to fetch the document of a delegate.
const fetchTimeout = 30 * time.Second

// fetcher reads the documents that plans delegate to at URLs of these hosts, with the
// guards of tool/http: redirects lead to these hosts only, private addresses are refused
// unless they are among them. Nil when there are no hosts.
func fetcher(ctx context.Context, hosts []string) func(url string) ([]byte, error) {
	if len(hosts) == 0 {
		return nil
	}
	return func(url string) ([]byte, error) {
		escaped := strings.NewReplacer("{", "{{", "}", "}}").Replace(url) // it is no template
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

// refusal returns the error of fetching. If the host is not allowed, it is an fs.ErrPermission
// whose message names the flag.
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

// forbidden says why a host is not asked.
type forbidden string

func (f forbidden) Error() string        { return string(f) }
func (f forbidden) Is(target error) bool { return target == fs.ErrPermission }
