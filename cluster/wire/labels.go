package wire

// labelSet looks at the labels of a pod, and builds a map of them only when they are not those that were
// there before.
type labelSet struct {
	was map[string]string

	n     int
	other bool // they are not those that were there before
	last  []byte
}

// see looks at the next label.
func (l *labelSet) see(message []byte) error {
	if l == nil {
		return nil
	}
	key, value, err := pair(message)
	old, there := l.was[string(key)]
	// Sorted, as the API server writes them, no key comes twice.
	if !there || string(value) != old || l.n > 0 && string(l.last) >= string(key) {
		l.other = true
	}
	l.last = key
	l.n++
	return err
}

// all returns the labels, once all in the metadata were seen.
func (l *labelSet) all(metadata []byte) (map[string]string, error) {
	switch {
	case l.n == 0:
		return nil, nil
	case !l.other && l.n == len(l.was):
		return l.was, nil
	}
	labels := make(map[string]string, l.n)
	f := fields{message: metadata}
	for f.next() {
		if f.number == metaLabels {
			key, value, err := pair(f.bytes())
			f.check(err)
			labels[string(key)] = string(value)
		}
	}
	return labels, f.err
}
