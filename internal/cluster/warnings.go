package cluster

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
)

// warningInterval is the minimum time between two log lines about one kind of malformed object.
const warningInterval = time.Minute

// warnings logs malformed objects, one line a minute for each kind.
type warnings struct {
	logger logr.Logger

	mu     sync.Mutex
	logged map[string]time.Time // by message
}

func newWarnings(logger logr.Logger) *warnings {
	return &warnings{logger: logger, logged: map[string]time.Time{}}
}

// tolerations reports a toleration with an unknown operator, which matches nothing.
func (w *warnings) tolerations(e *entry) {
	for t := range e.tolerations.all() {
		switch t.Operator {
		case "", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpLt, v1.TolerationOpGt:
		default:
			w.log("A toleration matches nothing, as its operator is not known: write Equal, Exists, Lt or Gt",
				"pod", e.Key(), "key", t.Key, "operator", string(t.Operator))
			return
		}
	}
}

func (w *warnings) log(message string, about ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last, ok := w.logged[message]; ok && time.Since(last) < warningInterval {
		return
	}
	w.logged[message] = time.Now()
	w.logger.Info(message, about...)
}
