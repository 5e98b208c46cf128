package exec

// Here is how many workers of a run are not away.
func (h *Handle) Here() int {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.l.here
}
