package taint

import (
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
)

// endOfTime is the first second after the year 9999, as Unix time: a deadline from then on counts as never.
const endOfTime = 253402300800

// matching returns the first toleration of the list that matches the taint, or nil. Later tolerations do not count,
// even if they would tolerate the taint for longer.
func matching(tolerations []v1.Toleration, t *v1.Taint, rules Rules) *v1.Toleration {
	// The zero logger discards: ToleratesTaint logs an error for every value that is not a number.
	var discard logr.Logger
	for i := range tolerations {
		if tolerations[i].ToleratesTaint(discard, t, !rules.NoComparison) {
			return &tolerations[i]
		}
	}
	return nil
}

// toleratesForever reports whether the toleration tolerates a taint forever from start on.
func toleratesForever(toleration *v1.Toleration, start time.Time) bool {
	if toleration == nil {
		return false
	}
	s := toleration.TolerationSeconds
	return s == nil || Forever(*s, start)
}

// Forever reports whether start plus the seconds is after the year 9999, which counts as never.
func Forever(seconds int64, start time.Time) bool { return seconds >= endOfTime-start.Unix() }

// deadline returns start plus the toleration's seconds. Without a toleration, or with zero or negative seconds, it
// returns start. A toleration must have tolerationSeconds.
func deadline(toleration *v1.Toleration, start time.Time) time.Time {
	if toleration == nil || *toleration.TolerationSeconds <= 0 {
		return start
	}
	return AddSeconds(start, *toleration.TolerationSeconds)
}

// AddSeconds adds seconds that may be more than a time.Duration holds (292 years).
func AddSeconds(t time.Time, seconds int64) time.Time {
	const most = int64(1<<63-1) / int64(time.Second)
	if -most <= seconds && seconds <= most {
		return t.Add(time.Duration(seconds) * time.Second)
	}
	return time.Unix(t.Unix()+seconds, int64(t.Nanosecond()))
}

// ToleratesForever reports whether the pod tolerates the taint forever. The first toleration that matches the taint
// counts.
func ToleratesForever(pod *Pod, t *v1.Taint, rules Rules) bool {
	return toleratesForever(matching(pod.Tolerations, t, rules), pod.Bound)
}
