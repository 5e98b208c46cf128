package secret

import "encoding/binary"

// A finder finds occurrences of several texts in another text. Each text has at least four bytes,
// and is found by them: in a text that contains none of them, the finder looks at little else.
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

// hash returns a hash of 16 bits.
func hash(first uint32) uint32 { return first * 2654435761 >> 16 }

// each calls report with the start and the end of each occurrence of one of the texts in s, ordered
// by the start, until report returns false. It returns false if it was stopped.
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

// any reports whether s contains one of the texts.
func (f *finder) any(s string) bool {
	return !f.each(s, func(int, int) bool { return false })
}
