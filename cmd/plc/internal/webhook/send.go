package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
	toolhttp "github.com/plc-lang/plc/tool/http"
)

// Options configure a Sender.
type Options struct {
	Store journal.Store
	Hooks []*Hook
	// Page returns the page of a run, for a person who decides or for one who looks at it; nil
	// sends no links.
	Page func(run string, decides bool) string
	// Log is told why a message was not sent; nil tells nobody. The text has no secrets.
	Log func(text string)

	transport http.RoundTripper // of tests, in place of the network
}

const (
	lookEvery  = time.Second      // at the store
	retryFirst = 5 * time.Second  // before the second attempt; it doubles
	retryMost  = time.Hour        // at most
	giveUp     = 72 * time.Hour   // after it happened, a message is not sent any more
	sendTime   = 15 * time.Second // for an attempt
	atOnce     = 8                // messages to a hook
	holdEvery  = 5 * time.Second  // pause before a hook that another server tells is asked for again
	noteEvery  = 10 * time.Minute // the record is written also when nothing was told
)

// A Sender tells hooks what happens in the runs of a store.
type Sender struct {
	opts Options
	stop context.CancelFunc
	done sync.WaitGroup
}

// Start begins to tell hooks.
func Start(ctx context.Context, o Options) *Sender {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Sender{opts: o, stop: stop}
	for _, h := range o.Hooks {
		s.done.Go(func() { s.keepTelling(ctx, h) })
	}
	return s
}

// Close ends telling. What was not sent is sent by the next server.
func (s *Sender) Close() {
	s.stop()
	s.done.Wait()
}

// keepTelling tells a hook while no other server does.
func (s *Sender) keepTelling(ctx context.Context, h *Hook) {
	for ctx.Err() == nil {
		err := s.tell(ctx, h)
		var held *journal.HeldError
		if err != nil && !errors.As(err, &held) && ctx.Err() == nil {
			s.opts.Log(fmt.Sprintf("the webhook %s: %v", h.Name, err))
		}
		pause(ctx, holdEvery)
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// A teller tells one hook, whose record it holds.
type teller struct {
	*Sender
	hook   *Hook
	client *http.Client
	record journal.Loop
	told   *told
	slots  chan struct{}
	ended  chan *item // the attempts that have

	waiting map[string]*item // by run
	fresh   map[string]int64 // what was told since the record was written
	gone    bool             // the service wants no messages any more
	began   time.Time        // the hook was told first; what happened before is not told
	behind  time.Time        // what happened before is told, but for what waits
}

// An item is what a hook is to be told about a run.
type item struct {
	run      string
	messages []*message
	upTo     int64 // the number of the last event that they are of
	tries    int
	next     time.Time
	under    bool // it is being sent
	err      error
	after    time.Duration // that the service wants, before the next attempt
}

// tell tells a hook until its record can't be written, or ctx is done.
func (s *Sender) tell(ctx context.Context, h *Hook) (err error) {
	held, t, err := hold(ctx, s.opts.Store, h.Name)
	if err != nil {
		return err
	}
	// What was sent is noted also when the server ends.
	lasting := context.WithoutCancel(ctx)
	l := &teller{
		Sender: s, hook: h, client: s.client(h), record: held, told: t, slots: make(chan struct{}, atOnce), ended: make(chan *item),
		waiting: map[string]*item{}, fresh: map[string]int64{}, behind: t.Until,
	}
	defer func() { err = errors.Join(err, l.settle(lasting), held.Close()) }()
	if l.began, err = began(held); err != nil {
		return err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !l.gone {
		if err := l.look(ctx); err != nil {
			return err
		}
		for looks := false; !looks && !l.gone; {
			if err := l.send(ctx); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case i := <-l.ended:
				l.end(i)
			case <-tick.C:
				looks = true
			}
		}
		if err := l.note(lasting, noteEvery); err != nil {
			return err
		}
	}
	<-ctx.Done() // until the next start, at which it is tried again
	return nil
}

// settle waits for what is being sent, and notes it.
func (l *teller) settle(ctx context.Context) error {
	for range cap(l.slots) {
		for taken := false; !taken; {
			select {
			case l.slots <- struct{}{}:
				taken = true
			case i := <-l.ended:
				l.end(i)
			}
		}
	}
	return l.note(ctx, 0)
}

// look finds what has happened in the runs since.
func (l *teller) look(ctx context.Context) error {
	now := time.Now()
	runs, err := l.opts.Store.Runs(ctx, journal.Filter{After: l.told.Until.Add(-overlap)})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, sum := range runs {
		seen[sum.Run] = true
	}
	maps.DeleteFunc(l.told.Runs, func(run string, _ int64) bool { return !seen[run] && l.waiting[run] == nil })
	for _, sum := range runs {
		if l.waiting[sum.Run] != nil || sum.Events <= l.told.Runs[sum.Run] {
			continue
		}
		i, err := l.lookAt(ctx, sum)
		if err != nil {
			return err
		}
		l.await(i)
	}
	l.behind = now
	for _, i := range l.waiting {
		for _, m := range i.messages {
			if m.Timestamp.Before(l.behind) {
				l.behind = m.Timestamp
			}
		}
	}
	return nil
}

// await has an item sent, if there is something to tell.
func (l *teller) await(i *item) {
	if len(i.messages) > 0 {
		l.waiting[i.run] = i
		return
	}
	delete(l.waiting, i.run)
	l.told.Runs[i.run] = i.upTo
}

// lookAt finds what has happened in a run.
func (l *teller) lookAt(ctx context.Context, sum *journal.Summary) (*item, error) {
	from, known := l.told.Runs[sum.Run]
	t := &telling{sum: sum}
	i := &item{run: sum.Run, upTo: from}
	for entry, err := range l.opts.Store.Events(ctx, sum.Run, from+1, false) {
		var e *exec.Event
		if err == nil {
			e, err = entry.Event()
		}
		if err != nil {
			return nil, err
		}
		i.upTo = entry.Seq
		if !known && e.Time.Before(l.told.Until.Add(-overlap)) {
			continue
		}
		t.take(entry.Seq, e)
	}
	for _, m := range t.messages {
		if !l.hook.wants(m.Type) || time.Since(m.Timestamp) > giveUp || m.Timestamp.Before(l.began) {
			continue
		}
		m.name(l.hook.Name)
		if l.opts.Page != nil {
			m.Data.Link = l.opts.Page(sum.Run, m.Type == Question)
		}
		i.messages = append(i.messages, m)
	}
	return i, nil
}

// again makes the messages of an item once more: meanwhile somebody may have answered.
func (l *teller) again(ctx context.Context, i *item) (*item, error) {
	sum, err := l.opts.Store.Summary(ctx, i.run)
	var missing *journal.MissingError
	if errors.As(err, &missing) { // it was deleted
		return &item{run: i.run, upTo: i.upTo}, nil
	} else if err != nil {
		return nil, err
	}
	made, err := l.lookAt(ctx, sum)
	if err == nil {
		made.tries = i.tries
	}
	return made, err
}

// send begins to send what is due.
func (l *teller) send(ctx context.Context) error {
	for _, i := range l.waiting {
		if i.under || time.Now().Before(i.next) {
			continue
		}
		select {
		case l.slots <- struct{}{}:
		default:
			return nil // all that may be is under way
		}
		if i.tries > 0 {
			made, err := l.again(ctx, i)
			if err == nil {
				l.await(made)
				i = made
			}
			if err != nil || len(made.messages) == 0 {
				<-l.slots
				return err
			}
		}
		i.under = true
		go func() {
			i.err, i.after = l.attempt(ctx, i.messages[0])
			l.ended <- i
			<-l.slots
		}()
	}
	return nil
}

// end takes in how an attempt has ended.
func (l *teller) end(i *item) {
	i.under = false
	m := i.messages[0]
	switch {
	case errors.Is(i.err, errGone):
		l.gone = true
		l.opts.Log(fmt.Sprintf("the webhook %s answers 410 Gone; it is told nothing more until the server is started again", l.hook.Name))
		return
	case i.err != nil && time.Since(m.Timestamp) < giveUp:
		wait := min(retryFirst<<min(i.tries, 20), retryMost)
		wait = max(wait/2+rand.N(wait/2), min(i.after, retryMost))
		i.tries++
		i.next = time.Now().Add(wait)
		l.opts.Log(fmt.Sprintf("the webhook %s was not told of the run %s, attempt %d: %v; next in %s", l.hook.Name, i.run, i.tries, i.err, wait.Round(time.Second)))
		return
	case i.err != nil:
		l.opts.Log(fmt.Sprintf("the webhook %s is not told of the run %s any more: %v", l.hook.Name, i.run, i.err))
	}
	// The events of the messages that were sent are told, so the others can be made again.
	i.tries, i.messages = 0, i.messages[1:]
	upTo := i.upTo
	if len(i.messages) > 0 {
		upTo = i.messages[0].first - 1
	}
	l.told.Runs[i.run], l.fresh[i.run] = upTo, upTo
	if len(i.messages) == 0 {
		delete(l.waiting, i.run)
	}
}

// note writes to the record what was told, if something was, or until when, after a while.
func (l *teller) note(ctx context.Context, every time.Duration) error {
	if len(l.fresh) == 0 && l.behind.Sub(l.told.Until) <= every {
		return nil
	}
	l.told.Until = l.behind
	text, err := json.Marshal(told{Until: l.behind, Runs: l.fresh})
	if err == nil {
		err = l.record.Append(ctx, text)
	}
	if err != nil {
		return err
	}
	l.fresh = map[string]int64{}
	return nil
}

// errGone is the error of a service that answers 410 Gone: it wants no more messages.
var errGone = errors.New("the service answers 410 Gone")

// attempt sends a message once. The error has no secrets; after is how long the service wants to be
// left alone.
func (l *teller) attempt(ctx context.Context, m *message) (err error, after time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	body, now := m.body(l.hook.Slack), time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.hook.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("its URL can't be used"), 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "plc")
	req.Header.Set("Webhook-Id", m.id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	if len(l.hook.Keys) > 0 {
		req.Header.Set("Webhook-Signature", l.hook.sign(m.id, now, body))
	}
	res, err := l.client.Do(req)
	if err != nil {
		if private, ok := errors.AsType[*tool.Error](err); ok && private.Code == "private-address" {
			return errors.New("its address is not a public one; allowPrivate allows that"), 0
		}
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the URL
		}
		return err, 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	switch {
	case res.StatusCode/100 == 2:
		return nil, 0
	case res.StatusCode == http.StatusGone:
		return errGone, 0
	}
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && n > 0 {
		after = time.Duration(min(n, 3600)) * time.Second
	}
	return fmt.Errorf("the service answers %d", res.StatusCode), after
}

// client returns the client for a hook: it follows no redirects, uses no proxy, and connects to
// public addresses only unless others are allowed.
func (s *Sender) client(h *Hook) *http.Client {
	if s.opts.transport != nil {
		return &http.Client{Transport: s.opts.transport}
	}
	t := &http.Transport{TLSHandshakeTimeout: sendTime, MaxIdleConnsPerHost: atOnce, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10}
	if !h.AllowPrivate {
		t.DialContext = toolhttp.PublicDialer().DialContext
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
