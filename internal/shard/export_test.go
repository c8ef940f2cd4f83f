package shard

// Tracks returns the number of evictions that have not come to their end: that wait, that have a call under way, or
// whose pod the watch has not shown to be gone.
func (c *Core) Tracks() int { return len(c.entries) - c.Held() }

// Held returns how many pods are held and have no other reason to go.
func (c *Core) Held() (n int) {
	for _, e := range c.entries {
		if e.stage == held {
			n++
		}
	}
	return n
}
