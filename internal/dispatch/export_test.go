package dispatch

// Buckets returns the number of buckets.
func (r *Rates) Buckets() (n int) {
	for _, rate := range r.rates {
		n += len(rate.full)
	}
	return n
}
