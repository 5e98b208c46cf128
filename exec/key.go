package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"

	"github.com/plc-lang/plc/compile"
)

// key returns the idempotency key of a call with these params: the same for every attempt, and
// different from that of any other call.
func (s *scheduler) key(i int32, p *compile.Call, params []byte, fallback bool) string {
	if t := s.call(i).trail; t != nil && fallback && t.fallback != "" {
		return t.fallback
	} else if t != nil && !fallback && t.key != "" {
		return t.key
	}
	stem := s.call(i).path // if there are events
	if stem == "" || s.stem != s.prefix {
		stem = s.stemOf(i)
	}
	var space [256]byte
	text := appendPart(appendPart(appendPart(space[:0], s.opts.ID), s.instance), stem)
	sum := sha256.Sum256(append(text, params...))
	var digits [32]byte
	hex.Encode(digits[:], sum[:16])
	return string(digits[:])
}

// appendPart appends a string after its length, so that it is clear where the string ends.
func appendPart(dst []byte, s string) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(s)), 10), ':'), s...)
}

func (s *scheduler) seed(i int32) uint64 {
	seed := s.opts.Seed
	if s.parent != nil {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d:%s%s", len(s.instance), s.instance, s.stem)
		seed ^= h.Sum64()
	}
	var draw rand.PCG // on the stack, as rand.NewPCG is not
	draw.Seed(seed, uint64(i))
	return draw.Uint64()
}
