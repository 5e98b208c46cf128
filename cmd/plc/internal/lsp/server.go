package lsp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// Config says what a server may reach.
type Config struct {
	// Environ is the environment, as returned by os.Environ. The server looks up secrets in it to
	// warn about those that are not set, like plc check. It shows names of variables, never values.
	Environ []string
	// Version is the version that the client is given.
	Version string
}

// ErrNoShutdown means that the client ended the connection without requesting a shutdown.
var ErrNoShutdown = errors.New("the client ended without a shutdown")

// Serve serves the Language Server Protocol over a stream until the client ends it. It returns nil
// after shutdown and exit, and otherwise ErrNoShutdown. It closes the stream.
func Serve(ctx context.Context, stream io.ReadWriteCloser, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(c)
	s.context = ctx
	var busy sync.WaitGroup
	defer busy.Wait()
	defer cancel()
	s.work = &busy
	codec := jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{})
	ready := make(chan struct{})
	conn := jsonrpc2.NewConn(ctx, codec, after{ready, s}, jsonrpc2.SetLogger(silent{}))
	s.conn = conn
	close(ready)
	busy.Go(func() { s.diagnoseAll(ctx) })
	busy.Go(func() { s.watch(ctx) })
	select {
	case <-conn.DisconnectNotify():
	case <-s.exited:
		_ = conn.Close() // the client may have closed it
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != shutDown {
		return ErrNoShutdown
	}
	return nil
}

// after is a handler that waits until the server has its connection.
type after struct {
	ready  <-chan struct{}
	server *server
}

// Handle implements jsonrpc2.Handler.
func (a after) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-a.ready
	a.server.handle(ctx, req)
}

// silent is a logger that discards messages: Serve returns the error that ends a connection.
type silent struct{}

// Printf implements jsonrpc2.Logger.
func (silent) Printf(string, ...any) {}

// A phase is a phase in the life of a server.
//
//	created ──initialize──▶ running ──shutdown──▶ shutDown ──exit──▶
type phase uint8

// The phases.
const (
	created phase = iota
	running
	shutDown
)

// A server is one connection with a client.
type server struct {
	config  Config
	context context.Context // for reading files of plans; done when the connection has ended
	conn    *jsonrpc2.Conn
	work    *sync.WaitGroup
	exited  chan struct{} // closed by exit
	exit    sync.Once
	wake    chan struct{} // has one element if diagnostics have to be made

	mu        sync.Mutex // guards all below
	phase     phase
	client    protocol.ClientCapabilities
	encoding  encoding
	settings  settings
	folders   []string
	documents map[protocol.URI]*document
	projects  map[string]*project // by folder
	running   map[jsonrpc2.ID]context.CancelFunc
	published published
}

func newServer(c Config) *server {
	return &server{
		config: c, context: context.Background(), exited: make(chan struct{}), wake: make(chan struct{}, 1), encoding: utf16Units,
		documents: map[protocol.URI]*document{}, projects: map[string]*project{},
		running: map[jsonrpc2.ID]context.CancelFunc{}, published: published{},
	}
}

// awake wakes the goroutine that makes diagnostics.
func (s *server) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
