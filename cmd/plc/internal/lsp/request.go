package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
)

// handle processes a message. Messages come one after the other: changes of documents are applied
// at once, and each request is answered by a goroutine of its own.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) {
	if req.Notif {
		s.notified(req)
		return
	}
	s.mu.Lock()
	p := s.phase
	s.mu.Unlock()
	switch {
	case req.Method == "initialize" && p == created:
		s.reply(ctx, req.ID, s.initialize(req))
	case p == created:
		s.fail(ctx, req.ID, protocol.ServerNotInitialized, "initialize comes first")
	case p == shutDown || req.Method == "initialize":
		s.fail(ctx, req.ID, protocol.InvalidRequest, fmt.Sprintf("%s can't come now", req.Method))
	case req.Method == "shutdown":
		s.mu.Lock()
		s.phase = shutDown
		s.mu.Unlock()
		s.reply(ctx, req.ID, nil)
	default:
		s.answer(ctx, req)
	}
}

// params decodes the params of a message into v.
func params(req *jsonrpc2.Request, v any) error {
	if req.Params == nil {
		return errors.New("there are no params")
	}
	return json.Unmarshal(*req.Params, v)
}

// A query is a request about a document.
type query struct {
	*snapshot
	params json.RawMessage
}

// A handler answers queries. A nil answer is sent as null.
type handler func(ctx context.Context, q *query) (any, error)

// decoded makes a handler from a function that takes params of a certain type.
func decoded[P any](f func(ctx context.Context, snap *snapshot, p *P) (any, error)) handler {
	return func(ctx context.Context, q *query) (any, error) {
		var p P
		if err := json.Unmarshal(q.params, &p); err != nil {
			return nil, &failure{protocol.InvalidParams, err.Error()}
		}
		return f(ctx, q.snapshot, &p)
	}
}

// failure is an error with a code.
type failure struct {
	code    int64
	message string
}

func (f *failure) Error() string { return f.message }

// handlers returns the handlers of requests about a document, by method.
func handlers() map[string]handler {
	return map[string]handler{
		"textDocument/completion":        decoded(complete),
		"textDocument/hover":             decoded(hover),
		"textDocument/definition":        decoded(definition),
		"textDocument/references":        decoded(findReferences),
		"textDocument/documentHighlight": decoded(highlights),
		"textDocument/documentLink":      decoded(links),
		"textDocument/prepareRename":     decoded(prepareRename),
		"textDocument/rename":            decoded(rename),
		"textDocument/inlayHint":         decoded(hints),
		"textDocument/codeLens":          decoded(lenses),
		"textDocument/codeAction":        decoded(codeActions),
		"textDocument/formatting":        decoded(format),
		"textDocument/documentSymbol":    decoded(symbols),
		"textDocument/foldingRange":      decoded(foldings),
	}
}

// answer answers a request about a document, or a command.
func (s *server) answer(ctx context.Context, req *jsonrpc2.Request) {
	h, ok := handlers()[req.Method]
	var about protocol.TextDocumentParams
	switch {
	case req.Method == "workspace/executeCommand":
		s.execute(ctx, req)
		return
	case !ok:
		s.fail(ctx, req.ID, protocol.MethodNotFound, fmt.Sprintf("there is no method %q", req.Method))
		return
	case params(req, &about) != nil:
		s.fail(ctx, req.ID, protocol.InvalidParams, fmt.Sprintf("the params of %s name no document", req.Method))
		return
	}
	s.answerAbout(ctx, req, about.TextDocument.URI, h)
}

// answerAbout answers a request about a document with a handler, in a goroutine of its own.
func (s *server) answerAbout(ctx context.Context, req *jsonrpc2.Request, uri protocol.URI, h handler) {
	snap := s.snapshot(uri)
	if snap == nil {
		s.fail(ctx, req.ID, protocol.InvalidParams, fmt.Sprintf("%s is not open", uri))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running[req.ID] = cancel
	s.mu.Unlock()
	s.work.Go(func() {
		defer cancel()
		var result any
		err := snap.analysed(ctx)
		if err == nil {
			result, err = guarded(ctx, h, &query{snap, *req.Params})
		}
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		s.finish(ctx, req.ID, result, err)
	})
}

// guarded calls a handler. A panic fails only the request.
func guarded(ctx context.Context, h handler, q *query) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			f := diag.Panic(diag.NewFile(q.name(), nil), p)
			result, err = nil, &failure{protocol.InternalError, f.Message}
		}
	}()
	return h(ctx, q)
}

// finish sends the result or the error of a request.
func (s *server) finish(ctx context.Context, id jsonrpc2.ID, result any, err error) {
	var f *failure
	switch {
	case ctx.Err() != nil:
		s.fail(ctx, id, protocol.RequestCancelled, "cancelled")
	case errors.As(err, &f):
		s.fail(ctx, id, f.code, f.message)
	case err != nil:
		s.fail(ctx, id, protocol.RequestFailed, err.Error())
	default:
		s.reply(ctx, id, result)
	}
}

// reply sends an answer. It ignores errors: if the client is gone, the connection ends.
func (s *server) reply(ctx context.Context, id jsonrpc2.ID, result any) {
	if result == nil {
		result = json.RawMessage("null")
	}
	_ = s.conn.Reply(ctx, id, result)
}

// fail sends an error as an answer.
func (s *server) fail(ctx context.Context, id jsonrpc2.ID, code int64, message string) {
	_ = s.conn.ReplyWithError(ctx, id, &jsonrpc2.Error{Code: code, Message: message})
}

// cancel cancels a request that has no answer yet.
func (s *server) cancel(p *protocol.CancelParams) {
	var id jsonrpc2.ID
	if id.UnmarshalJSON(p.ID) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[id]; cancel != nil {
		cancel()
	}
}
