package wire

import v1 "k8s.io/api/core/v1"

// again returns the text in b: the known string itself if it has not changed.
func again[S ~string](b []byte, was S) S {
	if string(b) == string(was) {
		return was
	}
	return text[S](b)
}

// text returns the text in b: a constant of the program for the values of nearly every pod, otherwise a copy.
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
