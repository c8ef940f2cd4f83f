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

func (t *seenPods) get(uid types.UID) (seenPod, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s, ok := t.byUID[uid]
	return s, ok
}

func (t *seenPods) put(uid types.UID, s seenPod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byUID[uid] = s
}

func (t *seenPods) drop(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byUID, uid)
}

// named returns the UIDs that were seen with this key. It searches all pods, so it is used only for events without an
// object.
func (t *seenPods) named(key string) []types.UID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var uids []types.UID
	for uid, s := range t.byUID {
		if s.key == key {
			uids = append(uids, uid)
		}
	}
	return uids
}
