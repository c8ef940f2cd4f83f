package dispatch

import (
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// In the column of calls, s is the begin of a slow call, e its end, and q a quick call; a dot is a minute.
func TestASlowNamespaceIsQuickAfterSixteenQuickCallsInARow(t *testing.T) {
	sixteen := strings.Repeat("q", recovered)
	for _, row := range []struct {
		name, calls string
		want        speed
	}{
		{"no call", "", unknown},
		{"a quick call", "q", quick},
		{"a quick call two minutes ago", "q..", unknown},
		{"a slow call under way", "s", slow},
		{"a slow call a minute ago", "se.", slow},
		{"a slow call two minutes ago", "se..", unknown},
		{"fifteen quick calls after a slow one", "se" + sixteen[1:], slow},
		{"sixteen quick calls after a slow one", "se" + sixteen, quick},
		{"sixteen quick calls beside a slow one under way", "s" + sixteen, slow},
		{"sixteen quick calls before the end of a slow one", "s" + sixteen + "e", slow},
		{"sixteen quick calls, the last after a slow one", "se" + sixteen[1:] + "seq", slow},
		{"sixteen quick calls after a slow one, two minutes ago", "se" + sixteen + "..", unknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newWorld().core
			w := c.workloadOf(&Candidate{Pod: &taint.Pod{Namespace: "shop"}})
			w.calls++ // so that it is not forgotten
			now := time.Unix(1000, 0)
			for _, event := range row.calls {
				switch event {
				case 's':
					c.calls = append(c.calls, &item{workload: w, call: call{slow: true}})
				case 'e':
					c.calls = nil
					c.remember(now, w, slow)
				case 'q':
					c.remember(now, w, quick)
				case '.':
					now = now.Add(time.Minute)
				}
				c.refresh(now, w)
			}
			if got := w.namespace.speed(); got != row.want {
				t.Errorf("speed %d, want %d", got, row.want)
			}
		})
	}
}

func TestSixteenQuickCallsOfOneWorkloadShowThatTheOthersAreNoLongerSlow(t *testing.T) {
	c, now := newWorld().core, time.Unix(1000, 0)
	workload := func(hash uint64) *workload {
		return c.workloadOf(&Candidate{Pod: &taint.Pod{Namespace: "shop", LabelHash: hash}})
	}
	one, other := workload(1), workload(2)
	one.calls++
	other.calls++
	c.remember(now, other, slow)
	c.refresh(now, other)
	for range recovered {
		c.remember(now, one, quick)
		c.refresh(now, one)
	}
	if one.speed != quick || other.speed != unknown || one.namespace.speed() != quick {
		t.Errorf("the speeds are %d, %d and %d", one.speed, other.speed, one.namespace.speed())
	}
}
