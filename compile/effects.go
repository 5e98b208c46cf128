package compile

import "github.com/plc-lang/plc/tool"

// effectChains orders the calls that are declared to change the world with respect to the others
// (plan-language §5): such a call waits for the earlier calls in plan order, and the later ones
// wait for it. Calls of pure and independent tools are not ordered. A call with a domain is only
// ordered with respect to calls of its domain and calls without one.
type effectChains struct {
	all     chain              // every ordered call
	changes chain              // every ordered call that changes the world
	domains map[string]*domain // "" holds the calls without one
	ordered []int32            // calls that wait for another because of effects
}

// domain holds the calls of one domain since the last call that was ordered with respect to all.
type domain struct {
	calls chain
	last  int32 // the last call that changes the world; -1 is none
}

func (e *effectChains) reset() {
	e.all, e.changes = chain{}, chain{}
	e.domains = map[string]*domain{}
}

func (e *effectChains) domain(name string) *domain {
	d := e.domains[name]
	if d == nil {
		d = &domain{last: -1}
		e.domains[name] = d
	}
	return d
}

// changesWorld reports whether a call is ordered as one that changes the world.
func (c *unit) changesWorld(d *draft) bool {
	e := d.Effects
	return e.ChangesWorld() || c.opts.Effects == StrictEffects && !e.Declared()
}

// order gives call i its effect edges.
func (b *binder) order(i int32, d *draft) {
	if d.Tool == nil || b.opts.Effects == NoEffects {
		return
	}
	eff := d.Effects
	if eff.Pure == tool.Yes || eff.Independent == tool.Yes {
		return
	}
	waits := false
	if b.changesWorld(d) {
		waits = b.change(i, eff.Domain)
	} else {
		waits = b.observe(i, eff.Domain)
	}
	if waits && !d.bad {
		b.effects.ordered = append(b.effects.ordered, i)
	}
}

// observe orders a call that does not change the world after those that do.
func (b *binder) observe(i int32, name string) (waits bool) {
	e := &b.effects
	if name == "" {
		waits = !e.changes.empty()
		e.changes.wait(&b.queues, &b.starts, i)
	} else {
		for _, d := range []*domain{e.domain(name), e.domain("")} {
			if d.last >= 0 {
				b.starts.Edge(d.last, i)
				waits = true
			}
		}
	}
	e.domain(name).calls.add(&b.queues, i)
	e.all.add(&b.queues, i)
	return waits
}

// change orders a call that changes the world after all calls that it does not commute with.
func (b *binder) change(i int32, name string) (waits bool) {
	e := &b.effects
	if name == "" {
		waits = !e.all.empty()
		e.all.wait(&b.queues, &b.starts, i)
		e.reset() // all later calls wait for this one
	} else {
		own, common := e.domain(name), e.domain("")
		waits = !own.calls.empty() || !common.calls.empty()
		own.calls.wait(&b.queues, &b.starts, i)
		common.calls.wait(&b.queues, &b.starts, i)
		own.calls = chain{}
	}
	d := e.domain(name)
	d.calls.add(&b.queues, i)
	d.last = i
	e.all.add(&b.queues, i)
	e.changes.add(&b.queues, i)
	return waits
}
