package taint

import v1 "k8s.io/api/core/v1"

// Matching returns the pod's toleration that counts for the taint: the first that matches the taint, or nil.
func Matching(pod *Pod, t *v1.Taint, rules Rules) *v1.Toleration {
	return matching(pod.Tolerations, t, rules)
}

// Longer returns the pod's toleration that would tolerate the taint the longest, if another toleration counts because
// it comes first; otherwise nil.
func Longer(pod *Pod, t *v1.Taint, rules Rules) *v1.Toleration {
	counts := matching(pod.Tolerations, t, rules)
	best := counts
	for i := range pod.Tolerations {
		if later := matching(pod.Tolerations[i:i+1], t, rules); later != nil && Outlasts(later, best) {
			best = later
		}
	}
	if best == counts {
		return nil
	}
	return best
}

// Displacing returns the pod's toleration that kept the API server from adding its default toleration of 300 s for an
// outage taint with this key, if no toleration of the pod matches that taint; otherwise nil. The API server compares
// only the key and the effect.
func Displacing(pod *Pod, key string, rules Rules) *v1.Toleration {
	if matching(pod.Tolerations, &v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}, rules) != nil {
		return nil
	}
	for i := range pod.Tolerations {
		if t := &pod.Tolerations[i]; t.Key == key && (t.Effect == "" || t.Effect == v1.TaintEffectNoExecute) {
			return t
		}
	}
	return nil
}

// Outlasts reports whether a tolerates a taint for longer than b.
func Outlasts(a, b *v1.Toleration) bool {
	switch {
	case b.TolerationSeconds == nil:
		return false
	case a.TolerationSeconds == nil:
		return true
	}
	return max(0, *a.TolerationSeconds) > max(0, *b.TolerationSeconds)
}

// TolerationString formats a toleration as verdicts do: "gpu=a100:NoExecute" or "gpu op=Exists", in quotes.
func TolerationString(t *v1.Toleration) string { return tolerationString(t) }
