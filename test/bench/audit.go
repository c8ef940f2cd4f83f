package main

import (
	"context"
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
)

// auditDelay is how long the record of an observed deletion may take to appear in the log.
const auditDelay = 10 * time.Second

// firstDelete returns when the API server received the first DELETE of that pod. It waits for the record, which is
// written after the watch has shown that the pod is gone. It continues reading where it stopped, so it can be
// called once for a pod.
func firstDelete(ctx context.Context, log *load.AuditLog, pod string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, auditDelay)
	defer cancel()
	for {
		r, err := log.Next(ctx)
		if err != nil {
			return time.Time{}, fmt.Errorf("looking for the DELETE of pod %s in the audit log: %w", pod, err)
		}
		if r.Verb == "delete" && r.ObjectRef.Resource == "pods" && r.ObjectRef.Subresource == "" &&
			r.ObjectRef.Name == pod {
			return r.RequestReceivedTimestamp, nil
		}
	}
}
