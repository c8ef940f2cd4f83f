package cli

import (
	"os"
	"runtime"
)

// oneProcessor lets one thread at a time run Go code, unless GOMAXPROCS says otherwise. One is enough for
// ten times the evictions that an API server takes, and what this program does comes in many small steps: on
// several, each step would wake a thread, which costs more than the step.
func oneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
