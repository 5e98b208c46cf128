package file

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/guard"
)

// around configures the guards of an activity's calls: cache, breaker and the limit of results.
type around struct {
	cache     time.Duration // 0 remembers nothing
	failures  int           // 0 is no breaker
	pause     time.Duration
	maxOutput int // 0 is no bound
}

// defaultPause is the pause of a breaker that sets none.
const defaultPause = 30 * time.Second

// around adds the members that configure guards to the known members of a place.
func (r *reader) around(a *around, known map[string]set) map[string]set {
	maps.Copy(known, map[string]set{
		"cache":     doc("How long results are remembered, of tools that only read: 10m.", r.duration(&a.cache, 1)),
		"maxOutput": doc("The size of the longest result: 1MiB, or a number of bytes.", r.size(&a.maxOutput)),
		"breaker": doc("Stops calling for a while after failures in a row.", func(v value) {
			a.failures, a.pause = 5, defaultPause
			r.members(v, map[string]set{"failures": doc("How many failures open the breaker (default 5).", r.count(&a.failures, 1)), "pause": doc("How long no call is let through (default 30s).", r.duration(&a.pause, 1))})
		}),
	})
	return known
}

// remembering says where the results of an activity are remembered, and identifies the activity.
// The zero remembering keeps results in memory.
type remembering struct {
	memory guard.Memory
	who    []byte
}

// remembering returns where to remember the results of an activity of a file. The activity is
// identified by its text, by everything else that its results depend on, and by its secrets, since
// other users may have other secrets.
func (b *builder) remembering(f *File, a around, secrets []string, parts ...[]byte) remembering {
	if f == nil || f.Memory == nil || a.cache == 0 {
		return remembering{}
	}
	policy := jsonscan.Exact([][]string{b.policy.Hosts, b.policy.Paths})
	who, _ := json.Marshal(append(parts, policy))
	if len(secrets) == 0 {
		return remembering{f.Memory, who}
	}
	// Somebody who reads the memory must not be able to guess a short secret.
	given, _ := json.Marshal(secrets)
	stretched, err := pbkdf2.Key(sha256.New, string(given), who, stretches, sha256.Size)
	if err != nil {
		return remembering{} // the system does not allow this key derivation
	}
	return remembering{f.Memory, append(who, stretched...)}
}

// stretches is the number of hash rounds that are needed to try one secret.
const stretches = 100_000

// wrap returns an activity with its guards. The cache is outermost, so that remembered results are
// available even while the breaker is open.
func (a around) wrap(next tool.Activity, r remembering) tool.Activity {
	if a.maxOutput > 0 {
		next = guard.MaxOutput(int64(a.maxOutput))(next)
	}
	if a.failures > 0 {
		next = guard.Breaker(a.failures, a.pause)(next)
	}
	switch {
	case a.cache > 0 && r.memory != nil:
		next = guard.CacheIn(r.memory, r.who, a.cache)(next)
	case a.cache > 0:
		next = guard.Cache(a.cache)(next)
	}
	return next
}

// middleware returns the guards for an activity that is not known yet: the model of a latent tool.
// All models that it wraps share one memory.
func (a around) middleware(r remembering) tool.Middleware {
	if a == (around{}) {
		return nil
	}
	type key struct{}
	shared := a.wrap(tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		return ctx.Value(key{}).(tool.Activity).Call(ctx, req)
	}), r)
	return func(next tool.Activity) tool.Activity {
		return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			return shared.Call(context.WithValue(ctx, key{}, next), req)
		})
	}
}

// size reads a number of bytes, or a text like "1MiB".
func (r *reader) size(dst *int) set {
	return func(v value) {
		if v.Kind != texttree.String {
			r.count(dst, 1)(v)
			return
		}
		if v.shape != nil {
			return
		}
		for unit, bytes := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
			digits, ok := strings.CutSuffix(v.Str, unit)
			n, err := strconv.Atoi(strings.TrimSpace(digits))
			if ok && err == nil && n > 0 && n <= 1<<31/bytes {
				*dst = n * bytes
				return
			}
		}
		r.errorf(v, "%s is a number of bytes or a size like \"1MiB\", not %s", v.what(), shorten(v.Node))
	}
}

// byCall returns the guards of a stand-in. If it has results by call, calls with the same params
// have different results, so they can't be remembered.
func (b *builder) byCall(a Activity) around {
	if len(a.standIn.ReturnEach) == 0 || a.around.cache == 0 {
		return a.around
	}
	b.forgets(a, fmt.Sprintf("nothing is remembered of %q, which answers by the call (returnEach); leave cache out", a.Name))
	a.around.cache = 0
	b.last[a.Name] = a
	return a.around
}

// forgets warns that the cache of an activity has no effect, and why.
func (b *builder) forgets(a Activity, why string) {
	b.findings = append(b.findings, diag.Finding{
		Code: diag.BadMember, Severity: diag.Warning, Loc: a.Loc, Pointer: a.pointer + "/cache", Message: why,
	})
}

// checkCaches warns about caches that remember nothing.
func (b *builder) checkCaches(c *tool.Catalogue) {
	for t := range c.Listed() {
		a, ok := b.last[activityOf(t.Definition)]
		e := t.Definition.Effects
		if !ok || a.around.cache == 0 || e.Pure == tool.Yes || e.ReadOnly == tool.Yes {
			continue
		}
		b.forgets(a, fmt.Sprintf("nothing is remembered of %q, which is declared neither pure nor read-only; leave cache out, or declare its effects", t.Definition.Name))
	}
}
