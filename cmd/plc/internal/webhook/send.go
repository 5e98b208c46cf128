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

// Options configures a Sender.
type Options struct {
	Store journal.Store
	Hooks []*Hook
	// Page returns the URL of the page of a run, on which a person can decide or only look at the
	// run; nil sends no links.
	Page func(run string, decides bool) string
	// Log is called with the reason why a message was not sent; it may be nil. The text has no
	// secrets.
	Log func(text string)

	transport http.RoundTripper // for tests, instead of the network
}

const (
	lookEvery  = time.Second      // interval at which the store is read
	retryFirst = 5 * time.Second  // pause before the second attempt; it doubles each time
	retryMost  = time.Hour        // at most
	giveUp     = 72 * time.Hour   // age at which a message is not sent any more
	sendTime   = 15 * time.Second // for an attempt
	atOnce     = 8                // messages to a hook
	holdEvery  = 5 * time.Second  // interval of attempts to take over a hook from another server
	noteEvery  = 10 * time.Minute // interval at which the record is written even if nothing was sent
)

// A Sender sends messages about the runs of a store to hooks.
type Sender struct {
	opts Options
	stop context.CancelFunc
	done sync.WaitGroup
}

// Start starts a Sender.
func Start(ctx context.Context, o Options) *Sender {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Sender{opts: o, stop: stop}
	for _, h := range o.Hooks {
		s.done.Go(func() { s.keepNotifying(ctx, h) })
	}
	return s
}

// Close stops the Sender. The next server sends the messages that were not sent.
func (s *Sender) Close() {
	s.stop()
	s.done.Wait()
}

// keepNotifying notifies a hook while no other server does.
func (s *Sender) keepNotifying(ctx context.Context, h *Hook) {
	for ctx.Err() == nil {
		err := s.notify(ctx, h)
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

// A notifier notifies one hook, whose record it holds.
type notifier struct {
	*Sender
	hook     *Hook
	client   *http.Client
	record   journal.Loop
	progress *progress
	slots    chan struct{}
	ended    chan *item // attempts that have ended

	waiting map[string]*item // by run
	fresh   map[string]int64 // the progress since the record was written
	gone    bool             // the service wants no messages any more
	began   time.Time        // when the hook was first known; events before that are not sent
	behind  time.Time        // all messages about events before this are sent or in waiting
}

// An item has the unsent messages about a run.
type item struct {
	run      string
	messages []*message
	upTo     int64 // the number of the last event that they cover
	tries    int
	next     time.Time
	under    bool // a message is being sent
	err      error
	after    time.Duration // the pause before the next attempt that the service requested
}

// notify sends messages to a hook until its record can't be written, or ctx is done.
func (s *Sender) notify(ctx context.Context, h *Hook) (err error) {
	held, t, err := hold(ctx, s.opts.Store, h.Name)
	if err != nil {
		return err
	}
	// The progress has to be written even if the server ends.
	lasting := context.WithoutCancel(ctx)
	l := &notifier{
		Sender: s, hook: h, client: s.client(h), record: held, progress: t, slots: make(chan struct{}, atOnce), ended: make(chan *item),
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
	<-ctx.Done() // the hook is tried again after the next start
	return nil
}

// settle waits for the messages that are being sent, and records them.
func (l *notifier) settle(ctx context.Context) error {
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

// look finds new events in the runs.
func (l *notifier) look(ctx context.Context) error {
	now := time.Now()
	runs, err := l.opts.Store.Runs(ctx, journal.Filter{After: l.progress.Until.Add(-overlap)})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, sum := range runs {
		seen[sum.Run] = true
	}
	maps.DeleteFunc(l.progress.Runs, func(run string, _ int64) bool { return !seen[run] && l.waiting[run] == nil })
	for _, sum := range runs {
		if l.waiting[sum.Run] != nil || sum.Events <= l.progress.Runs[sum.Run] {
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

// await queues an item, if it has messages.
func (l *notifier) await(i *item) {
	if len(i.messages) > 0 {
		l.waiting[i.run] = i
		return
	}
	delete(l.waiting, i.run)
	l.progress.Runs[i.run] = i.upTo
}

// lookAt finds new events in a run.
func (l *notifier) lookAt(ctx context.Context, sum *journal.Summary) (*item, error) {
	from, known := l.progress.Runs[sum.Run]
	t := &messageMaker{sum: sum}
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
		if !known && e.Time.Before(l.progress.Until.Add(-overlap)) {
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

// again makes the messages of an item again, since somebody may have answered in the meantime.
func (l *notifier) again(ctx context.Context, i *item) (*item, error) {
	sum, err := l.opts.Store.Summary(ctx, i.run)
	var missing *journal.MissingError
	if errors.As(err, &missing) { // the run was deleted
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

// send starts to send the items that are due.
func (l *notifier) send(ctx context.Context) error {
	for _, i := range l.waiting {
		if i.under || time.Now().Before(i.next) {
			continue
		}
		select {
		case l.slots <- struct{}{}:
		default:
			return nil // the maximum number of messages is being sent
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

// end processes the result of an attempt.
func (l *notifier) end(i *item) {
	i.under = false
	m := i.messages[0]
	switch {
	case errors.Is(i.err, errGone):
		l.gone = true
		l.opts.Log(fmt.Sprintf("the webhook %s answers 410 Gone; it gets no more messages until the server is started again", l.hook.Name))
		return
	case i.err != nil && time.Since(m.Timestamp) < giveUp:
		wait := min(retryFirst<<min(i.tries, 20), retryMost)
		wait = max(wait/2+rand.N(wait/2), min(i.after, retryMost))
		i.tries++
		i.next = time.Now().Add(wait)
		l.opts.Log(fmt.Sprintf("the webhook %s did not get the message about the run %s, attempt %d: %v; next attempt in %s", l.hook.Name, i.run, i.tries, i.err, wait.Round(time.Second)))
		return
	case i.err != nil:
		l.opts.Log(fmt.Sprintf("the webhook %s gets no more messages about the run %s: %v", l.hook.Name, i.run, i.err))
	}
	// The events of the messages that were sent are recorded, so only the others will be made
	// again.
	i.tries, i.messages = 0, i.messages[1:]
	upTo := i.upTo
	if len(i.messages) > 0 {
		upTo = i.messages[0].first - 1
	}
	l.progress.Runs[i.run], l.fresh[i.run] = upTo, upTo
	if len(i.messages) == 0 {
		delete(l.waiting, i.run)
	}
}

// note writes the progress to the record if there is any. If not, it writes the time after the
// interval every.
func (l *notifier) note(ctx context.Context, every time.Duration) error {
	if len(l.fresh) == 0 && l.behind.Sub(l.progress.Until) <= every {
		return nil
	}
	l.progress.Until = l.behind
	text, err := json.Marshal(progress{Until: l.behind, Runs: l.fresh})
	if err == nil {
		err = l.record.Append(ctx, text)
	}
	if err != nil {
		return err
	}
	l.fresh = map[string]int64{}
	return nil
}

// errGone is the error if a service answers 410 Gone, which means that it wants no more messages.
var errGone = errors.New("the service answers 410 Gone")

// attempt sends a message once. The error has no secrets; after is the pause that the service
// requests.
func (l *notifier) attempt(ctx context.Context, m *message) (err error, after time.Duration) {
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
