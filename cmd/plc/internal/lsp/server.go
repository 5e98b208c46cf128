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
	// Environ is the environment, as os.Environ returns it: secrets are looked up in it, for plc
	// check warns of those that are not set. Names of variables are shown, never values.
	Environ []string
	// Version is told to the client.
	Version string
}

// ErrNoShutdown is that a client ended the connection without asking for a shutdown.
var ErrNoShutdown = errors.New("the client ended without a shutdown")

// Serve speaks the Language Server Protocol over a stream until the client ends it. It returns nil
// after shutdown and exit, and else ErrNoShutdown. It closes the stream.
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

// after is a handler that waits for the server to know its connection.
type after struct {
	ready  <-chan struct{}
	server *server
}

// Handle implements jsonrpc2.Handler.
func (a after) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-a.ready
	a.server.handle(ctx, req)
}

// silent is a logger that says nothing: what ends a connection is what Serve returns.
type silent struct{}

// Printf implements jsonrpc2.Logger.
func (silent) Printf(string, ...any) {}

// A phase is where a server is in its life.
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
	context context.Context // of what is read for plans; done when the connection has ended
	conn    *jsonrpc2.Conn
	work    *sync.WaitGroup
	exited  chan struct{} // closed by exit
	exit    sync.Once
	wake    chan struct{} // holds one while diagnostics are to be made

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

// awake makes the diagnostics of what has changed.
func (s *server) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
