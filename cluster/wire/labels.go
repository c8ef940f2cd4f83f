package wire

// labelSet compares the labels of an object with the known ones, and builds a map only if they differ.
type labelSet struct {
	was map[string]string

	n     int
	other bool // they differ from the known ones
	last  []byte
}

// see processes the next label.
func (l *labelSet) see(message []byte) error {
	if l == nil {
		return nil
	}
	key, value, err := pair(message)
	old, there := l.was[string(key)]
	// The API server writes labels sorted, so that no key comes twice.
	if !there || string(value) != old || l.n > 0 && string(l.last) >= string(key) {
		l.other = true
	}
	l.last = key
	l.n++
	return err
}

// all returns the labels, after all labels in the metadata were seen.
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
