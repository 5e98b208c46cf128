package temporal

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
)

// bucketURL starts a server that speaks S3, with a bucket, and returns the name of a storage in it.
func bucketURL(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	url := "s3://values/of/plc?tls=false&region=us-east-1&endpoint=" + strings.TrimPrefix(s.URL, "http://")
	b, err := bucketAt(url)
	if err == nil {
		err = b.MakeBucket(t.Context(), b.name, minio.MakeBucketOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// A value of a storage is the one that was stored, or an error that says what is wrong.
func TestStorage(t *testing.T) {
	for _, name := range []string{t.TempDir(), bucketURL(t)} {
		v, err := storageAt(name)
		if err != nil {
			t.Fatal(err)
		}
		p := &commonpb.Payload{Data: []byte("large")}
		claims, err := v.Store(converter.StorageDriverStoreContext{Context: t.Context()}, []*commonpb.Payload{p, p})
		if err != nil || len(claims) != 2 {
			t.Fatal(claims, err)
		}
		ctx := converter.StorageDriverRetrieveContext{Context: t.Context()}
		fails := func(want string) {
			t.Helper()
			if _, err := v.Retrieve(ctx, claims); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", v, err)
			}
		}
		if got, err := v.Retrieve(ctx, claims); err != nil || string(got[1].Data) != "large" {
			t.Error(got, err)
		}
		digest := claims[0].ClaimData[claimDigest]
		n := 0
		for s, err := range v.all(t.Context()) {
			if err != nil || s.name != digest || time.Since(s.at) > time.Minute || s.size == 0 {
				t.Error(s, err)
			}
			n++
		}
		if n != 1 {
			t.Errorf("%s has %d values", v, n)
		}
		if f, ok := v.place.(files); ok {
			if err := os.WriteFile(f.path(digest), []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
			fails("is damaged")
			if left, err := filepath.Glob(filepath.Join(name, "*", "part-*")); err != nil || len(left) > 0 {
				t.Error(left, err)
			}
		}
		if err := v.remove(t.Context(), digest); err != nil {
			t.Error(err)
		}
		fails("must share one")
		claims[0].ClaimData[claimDigest] = "../" + digest
		fails("names no value")
	}
	for _, bad := range []string{"s3:", "s3:///x", "s3://b?zone=1", "s3://b?endpoint=http://x/y"} {
		if _, err := storageAt(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A run keeps its large values in a bucket. What the server still knows of is not deleted.
func TestBucket(t *testing.T) {
	c := needServer(t).dial(t, Options{Queue: t.Name(), Storage: bucketURL(t), Keys: strings.Repeat("ab", 32)})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	b := bundleOf(t, `{"calls": [{"_tool": "echo", "_id": "e", "text": "`+noise(400_000)+`", "_outputPath": "†state.e"}]}`)
	begin(t, c, b)
	if o := wait(t, c, b.Run); o.Status != exec.Completed || len(o.Result) < 400_000 {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
	eventually(t, "the run is not listed", func() bool {
		for r, err := range c.Runs(t.Context()) {
			if err == nil && r.Run == b.Run {
				return true
			}
		}
		return false
	})
	if n, _, err := c.Collect(t.Context(), 0, false); n != 0 || err != nil {
		t.Errorf("%d deleted: %v", n, err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
}

// Values that are older than all runs are deleted, and those that are in use again are not.
func TestCollect(t *testing.T) {
	folder := t.TempDir()
	c := needServer(t).dial(t, Options{Queue: t.Name(), Storage: folder})
	old, again := strings.Repeat("0a", 32), strings.Repeat("0b", 32)
	for _, name := range []string{old, again} {
		if err := c.storage.put(t.Context(), name, []byte("x")); err != nil {
			t.Fatal(err)
		}
		long := time.Now().Add(-100 * 24 * time.Hour)
		if err := os.Chtimes(files(folder).path(name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.storage.put(t.Context(), again, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		if n, bytes, err := c.Collect(t.Context(), time.Hour, dry); n != 1 || bytes != 1 || err != nil {
			t.Errorf("%d values, %d bytes: %v", n, bytes, err)
		}
	}
	if _, err := os.Stat(files(folder).path(old)); !os.IsNotExist(err) {
		t.Error("the old value is there")
	}
	if _, err := os.Stat(files(folder).path(again)); err != nil {
		t.Error(err)
	}
	if _, _, err := needServer(t).dial(t, Options{}).Collect(t.Context(), 0, false); err == nil {
		t.Error("collected without a storage")
	}
}
