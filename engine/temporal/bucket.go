package temporal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a bucket of S3, or of a service with the same protocol, with an object for each text.
type bucket struct {
	*minio.Client
	name, prefix string
}

// bucketAt returns the bucket for a URL:
// s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION&tls=false. Everything but the bucket is
// optional. Credentials come from the AWS environment variables, files and machine roles.
func bucketAt(text string) (*bucket, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" && name != "tls" {
			return nil, fmt.Errorf("%q is not endpoint, region or tls", name)
		}
	}
	if u.Host == "" || u.User != nil {
		return nil, errors.New("it has the form s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION&tls=false")
	}
	c, err := minio.New(cmp.Or(q.Get("endpoint"), "s3.amazonaws.com"), &minio.Options{
		Secure: q.Get("tls") != "false", Region: q.Get("region"),
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}}),
	})
	if err != nil {
		return nil, err
	}
	return &bucket{c, u.Host, strings.Trim(u.Path, "/")}, nil
}

func (b *bucket) String() string { return "s3://" + path.Join(b.name, b.prefix) }

func (b *bucket) key(name string) string { return path.Join(b.prefix, name) }

func (b *bucket) put(ctx context.Context, name string, text []byte) error {
	_, err := b.PutObject(ctx, b.name, b.key(name), bytes.NewReader(text), int64(len(text)), minio.PutObjectOptions{})
	return err
}

func (b *bucket) get(ctx context.Context, name string) ([]byte, error) {
	o, err := b.GetObject(ctx, b.name, b.key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer o.Close()
	text, err := io.ReadAll(o)
	if minio.ToErrorResponse(err).Code == "NoSuchKey" {
		err = fs.ErrNotExist
	}
	return text, err
}

func (b *bucket) remove(ctx context.Context, name string) error {
	return b.RemoveObject(ctx, b.name, b.key(name), minio.RemoveObjectOptions{})
}

func (b *bucket) all(ctx context.Context) iter.Seq2[stored, error] {
	prefix := b.prefix
	if prefix != "" {
		prefix += "/"
	}
	return func(yield func(stored, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for o := range b.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix}) {
			name := strings.TrimPrefix(o.Key, prefix)
			if o.Err == nil && !isDigest(name) {
				continue
			}
			if !yield(stored{name, o.LastModified, o.Size}, o.Err) || o.Err != nil {
				return
			}
		}
	}
}
