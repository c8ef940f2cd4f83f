package original

import (
	"fmt"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Finding is a pod that the original has marked for deletion while its eviction waited here.
type Finding struct {
	Pod    string // namespace/name
	Node   string
	Writer string // field manager that has marked the pod
	At     time.Time
}

// Remedy is what ends the warning.
const Remedy = "switch taint-eviction-controller off on all control-plane nodes (docs/switching-over.md)"

// Warning returns the finding with its consequence and remedy. broken names the settings whose promises the original
// breaks.
func (f *Finding) Warning(broken []string) string {
	consequence := "no pod goes later than by taint-manager alone"
	if len(broken) > 0 {
		consequence = "this breaks " + strings.Join(broken, ", ")
	}
	return fmt.Sprintf("%s has evicted pod %s of node %s at %s, whose eviction waited here: the built-in taint manager still runs; %s; %s",
		f.Writer, f.Pod, f.Node, taint.Stamp(f.At), consequence, Remedy)
}
