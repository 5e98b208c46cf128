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

// DefaultQueue is the task queue of runs and calls that name none.
const DefaultQueue = "plc"

// mostInline is the size in bytes above which a value goes to the storage, and mostWithout the size
// limit without a storage. The server accepts 2 MB per value, and 4 MB per message.
const (
	mostInline  = 64 << 10
	mostWithout = 1 << 20
)

// Options configure how values are kept on the server. All clients and workers of a run need the
// same options.
type Options struct {
	// Queue is the task queue of runs; "" means DefaultQueue.
	Queue string
	// Storage is where values are kept that are too large for the server: a folder, or a bucket
	// s3://BUCKET/PREFIX?endpoint=HOST:PORT. All workers and clients share it. If it is "", large
	// values are refused.
	Storage string
	// Keys are the encryption keys, in the form that ParseKeys accepts; "" means no encryption.
	Keys string
	// Logger gets the log of the SDK; it may be nil.
	Logger *slog.Logger
	// Telemetry receives spans and metrics; it may be nil.
	Telemetry *Telemetry
	// Wait makes Dial retry until the server answers, as workers do.
	Wait bool
}

// Client starts, shows and controls runs. Close closes its connection.
type Client struct {
	client.Client
	queue     string
	storage   *values // nil if there is none
	namespace string
	most      int                     // most bytes of a payload; 0 means no limit
	converter converter.DataConverter // converts memos
	logger    log.Logger
}

// Dial connects to the server named by Temporal's environment variables and profiles, by default
// the one on this machine: see TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_PROFILE.
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
		codecs = []converter.PayloadCodec{keys, compression{}} // the last codec encodes first
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
