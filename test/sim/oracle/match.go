package oracle

import (
	"math"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Far is further away than any world lasts: deadlines in many years count as Far.
const Far = time.Duration(math.MaxInt64 / 2)

// endOfTime is roughly the year 10000 in seconds since the epoch of any world. docs/semantics.md, "The rules", 4:
// a deadline after the year 9999 counts as none. Worlds avoid deadlines near it.
const endOfTime = 7900 * 365 * 86400

// tolerates returns how long a pod tolerates a taint, or that it does so without a limit. docs/semantics.md, "The
// rules", 2: the first toleration in the list that matches counts.
func tolerates(tolerations []v1.Toleration, key, value string) (tolerated time.Duration, forever bool) {
	for i := range tolerations {
		t := &tolerations[i]
		if !matches(t, key, value) {
			continue
		}
		switch {
		case t.TolerationSeconds == nil || *t.TolerationSeconds > endOfTime:
			return 0, true
		case *t.TolerationSeconds <= 0:
			return 0, false
		case *t.TolerationSeconds > int64(Far/time.Second):
			return Far, false
		}
		return time.Duration(*t.TolerationSeconds) * time.Second, false
	}
	return 0, false
}

// matches reports whether a toleration matches a NoExecute taint (docs/semantics.md, "The rules", 2).
func matches(t *v1.Toleration, key, value string) bool {
	if t.Effect != "" && t.Effect != v1.TaintEffectNoExecute || t.Key != "" && t.Key != key {
		return false
	}
	number, notNumber := strconv.ParseInt(value, 10, 64)
	limit, noLimit := strconv.ParseInt(t.Value, 10, 64)
	comparable := notNumber == nil && noLimit == nil
	switch t.Operator {
	case v1.TolerationOpExists:
		return true
	case "", v1.TolerationOpEqual:
		return t.Value == value
	case v1.TolerationOpGt:
		return comparable && number > limit
	case v1.TolerationOpLt:
		return comparable && number < limit
	}
	return false
}

// later returns the moment plus the duration, at most Far.
func later(at, by time.Duration) time.Duration {
	if by >= Far-at {
		return Far
	}
	return at + by
}
