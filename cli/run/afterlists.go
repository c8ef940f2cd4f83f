package run

import (
	"context"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/taint"
)

// afterLists calls a function once the lists are complete and the evictions that were due then have started.
func afterLists(ctx context.Context, synced func() bool, do func()) {
	before := false
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (done bool, _ error) {
		done, before = before, synced()
		return done, nil
	})
	if err == nil {
		do()
	}
}

// warnOfIdleBreakers logs why breakers can't trip as intended.
func warnOfIdleBreakers(ctx context.Context, idle []string) {
	for _, why := range idle {
		klog.FromContext(ctx).Info("A breaker does not protect the present nodes as it is meant to", "because", why)
	}
}

// ownPod returns the UID of the pod in which this process runs: the manifests set the environment variable POD_UID by
// the downward API. Empty if this process does not run in a pod.
func ownPod() types.UID { return types.UID(os.Getenv("POD_UID")) }

// warnOfOwnNode logs a warning if the pod of this process will be evicted because of taints of its node. The scheduler
// ignores tolerationSeconds, so a pod that tolerates a permanent taint for a time keeps coming back to the node.
func warnOfOwnNode(ctx context.Context, own func(context.Context) (v taintmanager.View, scheduled bool)) {
	if v, scheduled := own(ctx); scheduled {
		klog.FromContext(ctx).Info("The pod of this process is going to be evicted, because of a taint of its node; "+
			"if the taint is to stay, tolerate it without tolerationSeconds, or keep this program off such nodes",
			"pod", klog.KRef(v.Pod.Namespace, v.Pod.Name), "node", v.Pod.Node,
			"deadline", taint.Stamp(v.Verdict.At), "because", v.Verdict.Because())
	}
}
