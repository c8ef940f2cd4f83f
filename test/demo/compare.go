package main

import (
	"fmt"
	"strings"
	"time"
)

// compare prints the expectations next to the observations, and reports whether they agree: each role has pods on the
// tainted node, and each of these pods was deleted when expected and not earlier, or stayed as expected.
func (s *stage) compare() bool {
	s.say("\nOn %s:\n%-8s %-51s %-15s %-7s %s", tainted, "APP", "WORKLOAD AND TOLERATIONS", "EXPECTED",
		"RESULT", "OBSERVED")
	agree := true
	for _, r := range cast {
		seen, good := s.observed(r)
		agree = agree && good
		s.say("%-8s %-51s %-15s %-7s %s (%s)", r.name, r.kind+", "+r.summary,
			when("evicted at %.0f s", r.goes), mark[good], seen, r.because)
	}
	others := 0
	for uid := range s.went {
		if s.pods[uid].Spec.NodeName != tainted {
			others++
		}
	}
	s.say("%-8s %-51s %-15s %-7s %d evicted", "others", "all pods on other nodes", "stay", mark[others == 0], others)
	return agree && others == 0
}

// observed returns the times at which the pods of a role on the tainted node were deleted, and whether all are as
// expected.
func (s *stage) observed(r role) (text string, good bool) {
	var all []string
	good = true
	for uid, pod := range s.pods {
		if pod.Labels["app"] != r.name || pod.Spec.NodeName != tainted {
			continue
		}
		at, went := s.went[uid]
		if !went {
			at = stays
		}
		all = append(all, when("%.2f s", at))
		good = good && fits(r.goes, at)
	}
	return strings.Join(all, ", "), good && len(all) > 0
}

// fits reports whether a pod was deleted when expected: never early, and not late.
func fits(expected, seen time.Duration) bool {
	if expected == stays || seen == stays {
		return expected == seen
	}
	return seen >= expected && seen <= expected+lateAtMost
}

var mark = map[bool]string{true: "ok", false: "WRONG"}

// when formats a time, or says that a pod stays.
func when(format string, d time.Duration) string {
	if d == stays {
		return "stays"
	}
	return fmt.Sprintf(format, d.Seconds())
}
