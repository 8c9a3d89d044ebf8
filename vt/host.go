package vt

// ClearHistory forgets the lines above the screen, as ED 3 does, for a host
// whose user asked for it. A sequence that the program has begun goes on
// undisturbed, which feeding ED 3 would not allow.
func (t *Terminal) ClearHistory() {
	t.hist.clear()
	t.main.metaOf(0).wraps = false
}
