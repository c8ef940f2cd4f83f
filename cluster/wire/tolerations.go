package wire

import v1 "k8s.io/api/core/v1"

// The numbers of Toleration's fields.
const (
	tolerationKey      = 1
	tolerationOperator = 2
	tolerationValue    = 3
	tolerationEffect   = 4
	tolerationSeconds  = 5
)

// toleration is an encoded toleration.
type toleration struct {
	key, operator, value, effect []byte
	seconds                      int64
	limited                      bool
}

// tolerationList compares the tolerations of a pod with the known ones, and builds a list only if they differ.
type tolerationList struct {
	was []v1.Toleration

	n     int
	other bool // they differ from the known ones
}

// see processes the next toleration.
func (l *tolerationList) see(message []byte) error {
	t, err := viewToleration(message)
	if l.n >= len(l.was) || !t.is(&l.was[l.n]) {
		l.other = true
	}
	l.n++
	return err
}

// all returns the tolerations, after all tolerations in the spec were seen.
func (l *tolerationList) all(spec []byte) ([]v1.Toleration, error) {
	switch {
	case l.n == 0:
		return nil, nil
	case !l.other && l.n == len(l.was):
		return l.was, nil
	}
	list := make([]v1.Toleration, 0, l.n)
	f := fields{message: spec}
	for f.next() {
		if f.number == specTolerations {
			t, err := viewToleration(f.bytes())
			f.check(err)
			list = append(list, t.build())
		}
	}
	return list, f.err
}

func viewToleration(message []byte) (t toleration, err error) {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case tolerationKey:
			t.key = f.bytes()
		case tolerationOperator:
			t.operator = f.bytes()
		case tolerationValue:
			t.value = f.bytes()
		case tolerationEffect:
			t.effect = f.bytes()
		case tolerationSeconds:
			t.seconds, t.limited = f.int(), true
		}
	}
	return t, f.err
}

// is reports whether the toleration equals a known one.
func (t *toleration) is(old *v1.Toleration) bool {
	if t.limited != (old.TolerationSeconds != nil) || t.limited && t.seconds != *old.TolerationSeconds {
		return false
	}
	return string(t.key) == old.Key && string(t.operator) == string(old.Operator) &&
		string(t.value) == old.Value && string(t.effect) == string(old.Effect)
}

func (t *toleration) build() v1.Toleration {
	made := v1.Toleration{
		Key: text[string](t.key), Operator: text[v1.TolerationOperator](t.operator),
		Value: string(t.value), Effect: text[v1.TaintEffect](t.effect),
	}
	if t.limited {
		made.TolerationSeconds = new(t.seconds)
	}
	return made
}
