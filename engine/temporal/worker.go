package temporal

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/tool"
)

// WorkerOptions configure a worker.
type WorkerOptions struct {
	// Queues are the task queues that the worker serves; if there are none, it serves the client's
	// queue. The workers of a queue step its runs, and make the calls of tools that name the queue.
	Queues []string
	// Config holds the worker's Go functions, and what its tools may access.
	Config plc.Config
	// Middleware wraps every activity; the first element is outermost.
	Middleware []tool.Middleware
	// Parallel is the most calls that the worker makes at once for each queue; 0 means 100.
	Parallel int
	// Total is the most calls at once for each queue, over all workers and runs; 0 means no limit.
	// All workers of a queue need the same value. A worker without it is refused if others have it.
	Total int
	// PerSecond is the most calls started per second for each queue, over all workers; 0 means no
	// limit. The server uses the latest value it was given, so all workers should have the same.
	PerSecond float64
	// Deployment and Build, if set, name a version of the worker. Runs that it starts stay with
	// workers of this version.
	Deployment, Build string

	leaseTime time.Duration // leaseTime, in tests
}

const (
	// deadlock is how long a workflow may compute without yielding, for example to compile a large
	// plan.
	deadlock = 30 * time.Second
	// pollers is the number of requests for calls, and for steps of runs, that wait at the server
	// at once.
	pollers = 8
	// mostParallel is the default of WorkerOptions.Parallel.
	mostParallel = 100
)

// Work serves queues until ctx is done. Running calls then have a moment to end.
func (c *Client) Work(ctx context.Context, o WorkerOptions) error {
	p := &programs{config: o.Config}
	defer p.close()
	if len(o.Queues) == 0 {
		o.Queues = []string{c.queue}
	}
	opts := workerOptions(&o)
	var shared sync.WaitGroup
	defer shared.Wait()
	claiming, stop := context.WithCancel(ctx)
	defer stop()
	fatal := make(chan error, 1)
	opts.OnFatalError = func(err error) {
		select {
		case fatal <- err:
		default:
		}
	}
	for _, queue := range o.Queues {
		own := opts
		s, err := c.slots(ctx, queue, &o, &own)
		if err != nil {
			return err
		}
		w := worker.New(c.Client, queue, own)
		register(w, p, &activities{p, c.bundle, o.Middleware, c.groupOutcome, s, o.PerSecond > 0})
		if err := w.Start(); err != nil {
			return missing("", err)
		}
		if s != nil {
			defer s.leave()
			shared.Go(func() { s.keep(claiming) })
		}
		defer w.Stop()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-fatal:
		return errors.Join(errors.New("the worker can't go on"), err)
	}
}

// slots returns a worker's slots of a queue and sets them in the SDK's options. It returns nil if
// the workers share no slots.
func (c *Client) slots(ctx context.Context, queue string, o *WorkerOptions, opts *worker.Options) (s *slots, err error) {
	if o.Total <= 0 {
		return nil, c.unshared(ctx, queue)
	}
	s = newSlots(c, queue, o)
	opts.MaxConcurrentActivityExecutionSize = 0
	opts.Tuner, err = s.tuner()
	return s, err
}

// workerOptions returns the options of the SDK's worker.
func workerOptions(o *WorkerOptions) worker.Options {
	opts := worker.Options{
		MaxConcurrentActivityExecutionSize: cmp.Or(o.Parallel, mostParallel), DeadlockDetectionTimeout: deadlock, WorkerStopTimeout: grace,
		MaxConcurrentActivityTaskPollers: pollers, MaxConcurrentWorkflowTaskPollers: pollers,
	}
	opts.TaskQueueActivitiesPerSecond = o.PerSecond
	if o.Deployment != "" {
		opts.DeploymentOptions = worker.DeploymentOptions{
			UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: o.Deployment, BuildID: o.Build},
			DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
		}
	}
	return opts
}

// register registers workflows and activities with a worker.
func register(w worker.Registry, p *programs, a *activities) {
	w.RegisterWorkflowWithOptions((&workflows{p}).run, workflow.RegisterOptions{Name: workflowType})
	w.RegisterWorkflowWithOptions((&workflows{p}).run, workflow.RegisterOptions{Name: partType})
	w.RegisterWorkflowWithOptions(shareSlots, workflow.RegisterOptions{Name: sharesType, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade})
	w.RegisterActivityWithOptions(a.attempt, activity.RegisterOptions{Name: activityType})
	w.RegisterActivityWithOptions(a.batch, activity.RegisterOptions{Name: batchType})
	w.RegisterActivityWithOptions(a.past, activity.RegisterOptions{Name: pastType})
}
