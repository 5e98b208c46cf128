package temporal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The workers of a queue can share a number of slots. Each slot makes one call at a time, so there
// are never more calls at once than slots, in all runs together. A workflow of the queue records
// how many slots each worker has. A worker has its slots for a limited time, and renews them. If it
// can't renew them in time, it gives up its running calls, since other workers then get the slots.

const (
	sharesType  = "plc.slots"
	shareUpdate = "plc.share"
	leaveSignal = "plc.leave"
	// leaseTime is how long a worker has its slots. It renews them after a sixth of that time.
	leaseTime = 30 * time.Second
)

// slotsID returns the ID of the workflow that manages the slots of a queue.
func slotsID(queue string) string { return sharesType + "/" + queue }

// claim is a worker's request for slots.
type claim struct {
	Worker string        `json:"worker"`
	Total  int           `json:"total"` // slots of all workers together
	Want   int           `json:"want"`  // slots that the worker could use
	Held   int           `json:"held"`  // slots that it may be using now
	For    time.Duration `json:"for"`
}

// slotHolder is a worker that has slots or waits for some.
type slotHolder struct {
	claim
	Until time.Time `json:"until"`
}

// slotShares is the state of the workflow that manages slots.
type slotShares struct {
	Holders []slotHolder `json:"holders,omitempty"` // sorted by worker name
}

// share processes a claim, and returns the number of slots that the worker has from now on. Workers
// get equal shares. A worker with more than its share returns slots with its next claim; no slot is
// assigned twice. If workers claim different totals, the smallest applies.
func (s *slotShares) share(c claim, now time.Time) int {
	s.leave(c.Worker)
	s.Holders = slices.DeleteFunc(s.Holders, func(h slotHolder) bool { return !h.Until.After(now) })
	total, others := c.Total, 0
	for _, h := range s.Holders {
		total, others = min(total, h.Total), others+h.Held
	}
	s.Holders = append(s.Holders, slotHolder{c, now.Add(c.For)})
	slices.SortFunc(s.Holders, func(a, b slotHolder) int { return cmp.Compare(a.Worker, b.Worker) })
	own := 0
	for i := range s.Holders {
		if s.Holders[i].Worker == c.Worker {
			own = i
		}
	}
	got := min(s.sharesOf(total)[own], max(c.Held, total-others))
	s.Holders[own].Held = max(c.Held, got)
	return got
}

// sharesOf returns the share of each holder.
func (s *slotShares) sharesOf(total int) []int {
	order := make([]int, len(s.Holders)) // those who want least first, as others get what they leave
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Holders[a].Want, s.Holders[b].Want) })
	all := make([]int, len(s.Holders))
	for n, i := range order {
		all[i] = min(s.Holders[i].Want, total/(len(order)-n))
		total -= all[i]
	}
	return all
}

func (s *slotShares) leave(worker string) {
	s.Holders = slices.DeleteFunc(s.Holders, func(h slotHolder) bool { return h.Worker == worker })
}

// shareSlots manages the slots of a queue. It is a workflow, which ends when no worker has slots.
func shareSlots(ctx workflow.Context, s slotShares) error {
	err := workflow.SetUpdateHandler(ctx, shareUpdate, func(ctx workflow.Context, c claim) (int, error) {
		return s.share(c, workflow.Now(ctx)), nil
	})
	if err != nil {
		return err
	}
	left := workflow.GetSignalChannel(ctx, leaveSignal)
	for !workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		idle := leaseTime
		for _, h := range s.Holders {
			idle = max(idle, h.Until.Sub(workflow.Now(ctx)))
		}
		var name string
		if ok, _ := left.ReceiveWithTimeout(ctx, idle, &name); ok {
			s.leave(name)
		}
		s.Holders = slices.DeleteFunc(s.Holders, func(h slotHolder) bool { return !h.Until.After(workflow.Now(ctx)) })
		if len(s.Holders) == 0 {
			return nil
		}
	}
	return workflow.NewContinueAsNewError(ctx, shareSlots, s)
}

// slots holds a worker's slots of a queue. It implements worker.SlotSupplier.
type slots struct {
	client *Client
	id     string // ID of the workflow
	queue  string
	want   claim

	mu      sync.Mutex
	allowed int
	used    int
	changed chan struct{} // closed when allowed or used change
	// lease is canceled when the slots are lost.
	lease context.Context
	lose  context.CancelCauseFunc
	ends  *time.Timer // fires when the lease ends
}

// newSlots returns the slots of a worker, of which there are none at first.
func newSlots(c *Client, queue string, o *WorkerOptions) *slots {
	parallel := cmp.Or(o.Parallel, mostParallel)
	s := &slots{client: c, id: slotsID(queue), queue: queue, changed: make(chan struct{})}
	s.want = claim{Worker: rand.Text(), Total: o.Total, Want: min(parallel, o.Total), For: cmp.Or(o.leaseTime, leaseTime)}
	s.lease, s.lose = context.WithCancelCause(context.Background())
	return s
}

// keep claims slots, and renews them until ctx is done.
func (s *slots) keep(ctx context.Context) {
	every := time.NewTicker(s.want.For / 6)
	defer every.Stop()
	for {
		if err := s.claim(ctx); err != nil && ctx.Err() == nil {
			s.client.logger.Warn("the worker can't claim its share of the calls at once", "queue", s.queue, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

func (s *slots) claim(ctx context.Context) error {
	s.mu.Lock()
	c := s.want
	c.Held = max(s.used, s.allowed)
	s.mu.Unlock()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.For/2)
	defer cancel()
	start := s.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: s.id, TaskQueue: s.queue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, sharesType, slotShares{})
	h, err := s.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{StartWorkflowOperation: start, UpdateOptions: client.UpdateWorkflowOptions{
		UpdateName: shareUpdate, Args: []any{c}, WaitForStage: client.WorkflowUpdateStageCompleted,
	}})
	if err != nil {
		return err
	}
	var n int
	if err := h.Get(ctx, &n); err != nil {
		return err
	}
	s.allow(n, c.For-time.Since(begun))
	return nil
}

// allow sets how many slots the worker may use, and for how long.
func (s *slots) allow(n int, lease time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends != nil {
		s.ends.Stop()
	}
	if s.lease.Err() != nil {
		s.lease, s.lose = context.WithCancelCause(context.Background())
	}
	s.set(n)
	s.ends = time.AfterFunc(lease, s.end)
}

// end removes all slots, and makes the worker give up its calls.
func (s *slots) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose(errors.New("the worker has lost its slots of the queue"))
	s.set(0)
}

// set changes the number of slots. The caller holds mu.
func (s *slots) set(allowed int) {
	s.allowed = allowed
	close(s.changed)
	s.changed = make(chan struct{})
}

// leave returns the slots of a worker that makes no more calls.
func (s *slots) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), s.want.For/6)
	defer cancel()
	_ = s.client.SignalWorkflow(ctx, s.id, "", leaveSignal, s.want.Worker) // on error the slots expire
	s.end()
}

// bound returns a context that is done if ctx is, or if the worker loses its slots.
func (s *slots) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if s == nil {
		return ctx, func() {}
	}
	s.mu.Lock()
	lease := s.lease
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(lease, func() { cancel(context.Cause(lease)) })
	return ctx, func() { stop(); cancel(nil) }
}

// ReserveSlot implements worker.SlotSupplier.
func (s *slots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	for {
		permit, changed := s.try()
		if permit != nil {
			return permit, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// TryReserveSlot implements worker.SlotSupplier.
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	permit, _ := s.try()
	return permit
}

func (s *slots) try() (*worker.SlotPermit, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= s.allowed {
		return nil, s.changed
	}
	s.used++
	return &worker.SlotPermit{}, nil
}

// MarkSlotUsed implements worker.SlotSupplier.
func (s *slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot implements worker.SlotSupplier.
func (s *slots) ReleaseSlot(worker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.set(s.allowed)
}

// MaxSlots implements worker.SlotSupplier.
func (s *slots) MaxSlots() int { return s.want.Want }

// tuner returns a tuner that makes the worker use these slots for calls.
func (s *slots) tuner() (worker.WorkerTuner, error) {
	var others [4]worker.SlotSupplier // with the default sizes of the SDK
	for i := range others {
		var err error
		if others[i], err = worker.NewFixedSizeSlotSupplier(1000); err != nil {
			return nil, err
		}
	}
	return worker.NewCompositeTuner(worker.CompositeTunerOptions{
		WorkflowSlotSupplier: others[0], ActivitySlotSupplier: s, LocalActivitySlotSupplier: others[1], NexusSlotSupplier: others[2], SessionActivitySlotSupplier: others[3],
	})
}

// unshared returns an error if the workers of a queue share slots, since a worker that doesn't
// share them would exceed their number.
func (c *Client) unshared(ctx context.Context, queue string) error {
	d, err := c.DescribeWorkflowExecution(ctx, slotsID(queue), "")
	if err != nil || d.WorkflowExecutionInfo.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil // the server will report the error when the worker starts
	}
	return fmt.Errorf("the workers of the queue %q share their calls at once: this one needs --total too; when all of them have ended, temporal workflow terminate -w %[2]q ends that", queue, slotsID(queue))
}
