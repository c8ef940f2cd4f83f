package cli

import (
	"os"
	"runtime/debug"
)

// garbage is how much may pile up before it is collected, in percent of what is in use. What this
// program keeps is small, and what it throws away in a burst is much: with Go's 100 it would spend a
// third of its processor time on collecting.
const garbage = 400

// collectRarely sets that, unless GOGC says otherwise.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
