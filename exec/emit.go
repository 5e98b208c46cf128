package exec

import "time"

// eventState holds the state for sending events, which the schedulers of a run share.
type eventState struct {
	block  eventBlock
	event  Event     // the only one, with ReuseEvents
	moment time.Time // time of all events until it is zeroed; if zero, each event has its own
	latest time.Time // time of the latest event
}

// emit sends an event, if anybody listens. The caller holds mu.
func (p *pool) emit(event Event) (seq int64) {
	if !p.hasListener() {
		return 0
	}
	e := p.newEvent()
	*e = event
	return p.send(e)
}

// send sends an event that newEvent returned. The caller holds mu.
func (p *pool) send(e *Event) (seq int64) {
	e.Time, e.Run = p.instant(), p.opts.ID
	seq = p.keep(e)
	if p.opts.OnEvent != nil {
		p.opts.OnEvent(e)
	}
	return seq
}

// newEvent returns an event to fill in and send. The caller holds mu.
func (p *pool) newEvent() *Event {
	if p.opts.ReuseEvents && p.opts.Record == nil {
		p.event = Event{}
		return &p.event
	}
	return p.block.next()
}

// instant returns the time of what happens now. The caller holds mu.
func (p *pool) instant() time.Time {
	if p.moment.IsZero() {
		p.latest = p.drive.now()
		return p.latest
	}
	return p.moment
}

// stamp sets the time of all events until moment is zeroed: the time given, but not before that of
// the latest event. It returns the time. The caller holds mu.
func (p *pool) stamp(at time.Time) time.Time {
	if at.Before(p.latest) {
		at = p.latest
	}
	p.moment, p.latest = at, at
	return at
}

// eventBlock allocates many events at once, since they are large and each call has several. A
// pointer to one event keeps its whole block in memory.
type eventBlock struct {
	free []Event
	size int
}

const maxEventBlock = 64

func (b *eventBlock) next() *Event {
	if len(b.free) == 0 {
		b.size = min(max(8, 2*b.size), maxEventBlock)
		b.free = make([]Event, b.size)
	}
	e := &b.free[0]
	b.free = b.free[1:]
	return e
}

// emitCall sends an event about a call, and returns its number in the record. The
// caller holds mu.
func (s *scheduler) emitCall(i int32, event Event) (seq int64) {
	if !s.hasListener() {
		return 0
	}
	e := s.newEvent()
	*e = event
	return s.sendCall(i, e)
}

// callEvent returns an event of a call for the caller to fill in and pass to sendCall; nil if
// nobody listens. For the events that most calls have, this saves the copy that emitCall makes.
func (s *scheduler) callEvent(t EventType, status Status) *Event {
	if !s.hasListener() {
		return nil
	}
	e := s.newEvent()
	e.Type, e.Status = t, status
	return e
}

// sendCall sends an event that callEvent returned; nil sends nothing. The caller holds mu.
func (s *scheduler) sendCall(i int32, e *Event) (seq int64) {
	if e == nil {
		return 0
	}
	c := s.call(i)
	if c.path == "" {
		c.path = s.path(i)
	}
	e.Call, e.Instance = c.path, s.instanceOf(i)
	if e.Tool == "" {
		e.Tool = s.prog().Calls[i].Source.Tool
	}
	if t := c.trail; t != nil && e.Type != Written {
		e.Content = t.content
	}
	e.Replayed = s.inRecord(i, e)
	return s.send(e)
}
