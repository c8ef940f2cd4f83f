package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
)

// call evicts one pod.
type call func(ctx context.Context, client kubernetes.Interface, pod load.Identity) error

// plainly evicts all pods, with workers that decide nothing. Their client is that of taint-manager's user.
func (w *workload) plainly(ctx context.Context, do call) error {
	return load.Spread(ctx, load.PlainWorkers, len(w.pods), func(ctx context.Context, i int) error {
		if err := do(ctx, w.w.worker, w.pods[i]); err != nil {
			return fmt.Errorf("a plain worker: pod %s: %w", w.pods[i].Name, err)
		}
		return nil
	})
}
