package wire

import v1 "k8s.io/api/core/v1"

// again is the text in b: the very string that was there before, if it is still the same.
func again[S ~string](b []byte, was S) S {
	if string(b) == string(was) {
		return was
	}
	return text[S](b)
}

// text is the text in b: a constant of the program where it is one that nearly every pod has, else a copy.
func text[S ~string](b []byte) S {
	for _, c := range [...]string{
		string(v1.PodRunning), string(v1.PodPending), string(v1.ConditionTrue),
		string(v1.TolerationOpExists), string(v1.TaintEffectNoExecute), v1.TaintNodeNotReady, v1.TaintNodeUnreachable,
	} {
		if string(b) == c {
			return S(c)
		}
	}
	return S(b)
}
