package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// errBadConnection is the error if a connection broke, or did not answer in time.
var errBadConnection = errors.New("the connection broke")

// The types of columns and parameters, as Postgres numbers them.
const (
	typeBool  = 16
	typeBytes = 17
	typeInt8  = 20
	typeInt2  = 21
	typeInt4  = 23
	typeText  = 25
	typeVoid  = 2278
)

// conn is a connection with its prepared statements.
type conn struct {
	pg    *pgconn.PgConn
	known map[string]*pgconn.StatementDescription // by their SQL
}

// broke returns err wrapped in errBadConnection if it has ended the connection and does not come
// from the server.
func (c *conn) broke(err error) error {
	if err != nil && codeOf(err) == "" && c.pg.IsClosed() {
		return fmt.Errorf("%w: %w", errBadConnection, err)
	}
	return err
}

// prepare returns a statement, which it prepares once.
func (c *conn) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if s := c.known[sql]; s != nil {
		return s, nil
	}
	s, err := c.pg.Prepare(ctx, "s"+strconv.Itoa(len(c.known)), sql, nil)
	if err != nil {
		return nil, c.broke(err)
	}
	c.known[sql] = s
	return s, nil
}

// parameters returns values in the form that a statement takes.
func parameters(s *pgconn.StatementDescription, args []any) (values [][]byte, formats []int16, err error) {
	if len(args) != len(s.ParamOIDs) {
		return nil, nil, fmt.Errorf("%d parameters, want %d: %s", len(args), len(s.ParamOIDs), s.SQL)
	}
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, arg := range args {
		if s.ParamOIDs[i] == typeBytes {
			formats[i] = 1 // binary
		}
		switch arg := arg.(type) {
		case nil:
		case int64:
			values[i] = strconv.AppendInt(nil, arg, 10)
		case int:
			values[i] = strconv.AppendInt(nil, int64(arg), 10)
		case string:
			values[i] = []byte(arg) // never nil
		case []byte:
			values[i] = append([]byte{}, arg...)
		default:
			return nil, nil, fmt.Errorf("a parameter is a %T: %s", arg, s.SQL)
		}
	}
	return values, formats, nil
}

// binaryResults requests all columns in binary form.
var binaryResults = []int16{1}

// value returns the value of a column: nil, an int64 (0 or 1 for a boolean) or a string.
func value(kind uint32, v []byte) (any, error) {
	switch {
	case v == nil, kind == typeVoid:
		return nil, nil
	case kind == typeInt8 && len(v) == 8:
		return int64(binary.BigEndian.Uint64(v)), nil
	case kind == typeInt4 && len(v) == 4:
		return int64(int32(binary.BigEndian.Uint32(v))), nil
	case kind == typeInt2 && len(v) == 2:
		return int64(int16(binary.BigEndian.Uint16(v))), nil
	case kind == typeBool && len(v) == 1:
		return int64(v[0]), nil
	case kind == typeBytes, kind == typeText:
		return string(v), nil
	}
	return nil, fmt.Errorf("a column has the type %d", kind)
}

// read calls each with the rows of a result, and returns how many rows were changed or read.
func read(r *pgconn.ResultReader, each func(row []any) error) (int64, error) {
	var failed error
	for r.NextRow() {
		if failed != nil || each == nil {
			continue
		}
		row := make([]any, len(r.Values()))
		for i, v := range r.Values() {
			if row[i], failed = value(r.FieldDescriptions()[i].DataTypeOID, v); failed != nil {
				break
			}
		}
		if failed == nil {
			failed = each(row)
		}
	}
	tag, err := r.Close()
	if err == nil {
		err = failed
	}
	return tag.RowsAffected(), err
}

// run executes a statement and calls each, which may be nil, with its rows. It returns how many
// rows were changed or read.
func (c *conn) run(ctx context.Context, each func(row []any) error, sql string, args ...any) (int64, error) {
	s, err := c.prepare(ctx, sql)
	if err != nil {
		return 0, err
	}
	values, formats, err := parameters(s, args)
	if err != nil {
		return 0, err
	}
	n, err := read(c.pg.ExecStatement(ctx, s, values, formats, binaryResults), each)
	return n, c.broke(err)
}

// A querier reads rows: a connection, or a transaction.
type querier interface {
	run(ctx context.Context, each func(row []any) error, sql string, args ...any) (int64, error)
}

// one returns the row that a query returns; nil if there is none.
func one(ctx context.Context, q querier, sql string, args ...any) (row []any, err error) {
	_, err = q.run(ctx, func(r []any) error { row = r; return nil }, sql, args...)
	return row, err
}

// rows returns all rows that a query returns.
func rows(ctx context.Context, q querier, sql string, args ...any) (all [][]any, err error) {
	_, err = q.run(ctx, func(r []any) error { all = append(all, r); return nil }, sql, args...)
	return all, err
}

// maxConns limits the connections of a store, besides the one that listens.
const maxConns = 8

// pool holds the connections of a store.
type pool struct {
	at    *address
	slots chan struct{}

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newPool(at *address) *pool {
	return &pool{at: at, slots: make(chan struct{}, maxConns)}
}

// connectTime limits the time to connect.
const connectTime = 10 * time.Second

// connect makes a connection. Its settings end a transaction whose process is stopped, and make
// commits durable.
func (p *pool) connect(ctx context.Context, onNotice pgconn.NotificationHandler) (*conn, error) {
	config := p.at.config.Copy()
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}
	config.DialFunc = dialer.DialContext
	config.OnNotification = onNotice
	config.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
		_, err := pg.Exec(ctx, `SET search_path = "`+p.at.schema+`"; SET idle_in_transaction_session_timeout = '10s'; SET statement_timeout = 0;
			SET lock_timeout = '20s'; SET standard_conforming_strings = on; SET client_min_messages = error;
			SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`).ReadAll()
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &conn{pg: pg, known: map[string]*pgconn.StatementDescription{}}, nil
}

// get returns a connection, which the caller must return with put.
func (p *pool) get(ctx context.Context) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	for n := len(p.idle); n > 0; n = len(p.idle) {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		if !c.pg.IsClosed() {
			p.mu.Unlock()
			return c, nil
		}
	}
	p.mu.Unlock()
	c, err := p.connect(ctx, nil)
	if err != nil {
		<-p.slots
	}
	return c, err
}

// put returns a connection to the pool. It closes a connection that is in a transaction.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	keep := !p.closed && !c.pg.IsClosed() && !c.pg.IsBusy() && c.pg.TxStatus() == 'I'
	if keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		c.close()
	}
	<-p.slots
}

// close closes a connection.
func (c *conn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.pg.Close(ctx) // the server notices it anyway
}

// forget closes the unused connections: after one connection broke, others may be broken too.
func (p *pool) forget() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

// close closes the pool. Connections that are in use are closed when they are returned.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.forget()
}
