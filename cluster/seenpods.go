package cluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// seenPod is what an adapter stores of a pod that it has seen.
type seenPod struct {
	key     string
	node    string
	bound   time.Time
	seen    time.Time // as the Seen of a [taint.Pod]
	version string    // the resourceVersion in the last event
}

// seenPods are the pods that were seen, by UID. Any number of goroutines may use them.
type seenPods struct {
	mu    sync.RWMutex
	byUID map[types.UID]seenPod
}

func newSeenPods() *seenPods {
	return &seenPods{byUID: map[types.UID]seenPod{}}
}

func (sp *seenPods) get(uid types.UID) (seenPod, bool) {
	sp.mu.RLock()
	defer sp.mu.RUnlock()
	s, ok := sp.byUID[uid]
	return s, ok
}

func (sp *seenPods) put(uid types.UID, s seenPod) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.byUID[uid] = s
}

func (sp *seenPods) drop(uid types.UID) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	delete(sp.byUID, uid)
}

// named returns the UIDs that were seen with this key. It searches all pods, so it is used only for events without an
// object.
func (sp *seenPods) named(key string) []types.UID {
	sp.mu.RLock()
	defer sp.mu.RUnlock()
	var uids []types.UID
	for uid, s := range sp.byUID {
		if s.key == key {
			uids = append(uids, uid)
		}
	}
	return uids
}
