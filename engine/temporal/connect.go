package temporal

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
)

// DefaultQueue is the task queue of runs and of calls that name no other.
const DefaultQueue = "plc"

// mostInline is the size, in bytes, above which a value goes to the storage; without a storage,
// mostWithout is the largest that there may be. The server takes 2 MB, and 4 MB in one message.
const (
	mostInline  = 64 << 10
	mostWithout = 1 << 20
)

// Options say how values are kept on the server. All who take part in a run need the same.
type Options struct {
	// Queue is the task queue of runs; "" is DefaultQueue.
	Queue string
	// Storage keeps values that are too large for the server; all workers and clients share it. It
	// is a folder or a bucket, s3://BUCKET/PREFIX?endpoint=HOST:PORT. "" is none: then large values
	// are refused.
	Storage string
	// Keys encrypt and decrypt values, in the form of ParseKeys; "" leaves values as they are.
	Keys string
	// Logger gets what the SDK reports; nil is nobody.
	Logger *slog.Logger
	// Telemetry gets spans and metrics; nil is nobody.
	Telemetry *Telemetry
	// Wait has Dial try until the server answers, as a worker does.
	Wait bool
}

// A Client begins, shows and controls runs. Close closes its connection.
type Client struct {
	client.Client
	queue     string
	storage   *values // nil is none
	namespace string
	most      int                     // bytes of a payload; 0 is no limit
	converter converter.DataConverter // of memos
	logger    log.Logger
}

// Dial connects to the server that Temporal's environment variables and profiles name, by default
// that on this machine: see TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_PROFILE.
func Dial(ctx context.Context, o Options) (*Client, error) {
	opts, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, fmt.Errorf("the settings of the connection to Temporal: %w", err)
	}
	storage, err := o.apply(&opts)
	if err != nil {
		return nil, err
	}
	for {
		c, err := client.DialContext(ctx, opts)
		if err == nil {
			return o.client(c, &opts, storage), nil
		}
		err = fmt.Errorf("no Temporal server answers at %s (TEMPORAL_ADDRESS names another): %w", cmp.Or(opts.HostPort, client.DefaultHostPort), err)
		if !o.Wait || ctx.Err() != nil {
			return nil, err
		}
		opts.Logger.Warn(err.Error())
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (o *Options) client(c client.Client, opts *client.Options, storage *values) *Client {
	own := &Client{
		Client: c, queue: cmp.Or(o.Queue, DefaultQueue), namespace: cmp.Or(opts.Namespace, client.DefaultNamespace), storage: storage, most: mostWithout,
		converter: opts.DataConverter, logger: opts.Logger,
	}
	if storage != nil {
		own.most = 0
	}
	return own
}

// apply sets the options of the SDK's client, and returns the storage.
func (o *Options) apply(opts *client.Options) (storage *values, err error) {
	logger := o.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	opts.Logger = log.NewStructuredLogger(logger)
	codecs := []converter.PayloadCodec{compression{}}
	if o.Keys != "" {
		keys, err := ParseKeys(o.Keys)
		if err != nil {
			return nil, err
		}
		codecs = []converter.PayloadCodec{keys, compression{}} // the last encodes first
	}
	opts.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codecs...)
	if o.Storage != "" {
		if storage, err = storageAt(o.Storage); err != nil {
			return nil, err
		}
		opts.ExternalStorage = storage.externalStorage()
	}
	return storage, o.Telemetry.apply(opts)
}
