package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

type waits struct {
	p       *process
	looked  time.Duration
	excused time.Duration
	since   map[types.UID]time.Duration
}

func (w *waits) excuse()                               {}
func (w *waits) watch()                                {}
func (w *waits) ended(f *flight, o *eviction.Outcome) {}
