package secret

import "encoding/binary"

// A finder finds which of some texts stand in another one. Each of them has at least four bytes, by
// which it is known: next to nothing but these is looked at of a text in which there are none.
type finder struct {
	begins [1 << 10]uint64 // a bit for each hash of the first four bytes
	by     map[uint32][]string
}

func newFinder(texts []string) *finder {
	f := &finder{by: make(map[uint32][]string, len(texts))}
	for _, text := range texts {
		first := binary.LittleEndian.Uint32([]byte(text[:least]))
		h := hash(first)
		f.begins[h>>6] |= 1 << (h & 63)
		f.by[first] = append(f.by[first], text)
	}
	return f
}

// hash returns 16 bits.
func hash(first uint32) uint32 { return first * 2654435761 >> 16 }

// each calls report with where one of the texts begins and ends in s, in the order in which they
// begin, until report returns false; each then returns false too.
func (f *finder) each(s string, report func(start, end int) bool) bool {
	if len(s) < least {
		return true
	}
	next := uint32(s[0])<<8 | uint32(s[1])<<16 | uint32(s[2])<<24
	for i := range len(s) - least + 1 {
		next = next>>8 | uint32(s[i+least-1])<<24
		h := hash(next)
		if f.begins[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, text := range f.by[next] {
			if len(s)-i >= len(text) && s[i:i+len(text)] == text && !report(i, i+len(text)) {
				return false
			}
		}
	}
	return true
}

// any reports whether one of the texts stands in s.
func (f *finder) any(s string) bool {
	return !f.each(s, func(int, int) bool { return false })
}
