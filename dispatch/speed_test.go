package dispatch

import (
	"strings"
	"testing"
	"time"
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
			var m memory
			now := time.Unix(1000, 0)
			for _, c := range row.calls {
				switch c {
				case 's':
					m.turnSlow()
				case 'e':
					m.slowEnded(now)
				case 'q':
					m.answered(now)
				case '.':
					now = now.Add(time.Minute)
				}
			}
			if got := m.speed(now); got != row.want {
				t.Errorf("speed %d, want %d", got, row.want)
			}
		})
	}
}
