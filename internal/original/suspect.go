package original

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// tolerance is how far the original's deadline may be from the one here. Both count whole seconds from the taint's
// start, which the original takes from its watch, and this program from timeAdded if there is one, which has whole
// seconds.
const tolerance = 2 * time.Second

// Suspicious reports whether the original may have overtaken the eviction, by what the watch has shown at that time:
// it sets the condition DisruptionTarget, and deletes pods at their deadlines. Others do the same; [Writer] tells them
// apart.
func Suspicious(o eviction.Overtaken, seen time.Time) bool {
	return o.Pod.Disrupted || seen.Sub(o.Deadline).Abs() <= tolerance
}
