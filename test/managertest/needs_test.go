package managertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/policy"
)

// The manager becomes ready with the policies that it has. That must not make it take in others whose data it lacks.
func TestPoliciesThatAreSetBeforeTheManagerHasSyncedWaitForTheirData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		client := fake.NewClientset(draining(), prodNamespace(), replica("pod"))
		nodes, namespaces := listsFail(client, "nodes"), listsFail(client, "namespaces")
		nodes.Store(true)
		namespaces.Store(true)
		r := start(t, client, taintmanager.Options{Evictor: evictor})
		set := make(chan policy.Diff, 1)
		go func() { set <- r.set(t, taintmanager.Policies{Policies: []policy.Policy{maintenance(prod())}}) }()
		time.Sleep(time.Minute)
		nodes.Store(false)
		time.Sleep(time.Minute)
		if len(set) > 0 {
			t.Error("the policies are in force without the labels of namespaces")
		}
		namespaces.Store(false)
		if diff := <-set; diff.Pods != 1 {
			t.Errorf("the difference is %+v", diff)
		}
		time.Sleep(2 * time.Minute)
		wantEvicted(t, "a minute later", evictor, "pod")
	})
}

// Their data may never come, which is no reason to keep pods that must go.
func TestPoliciesThatWaitForTheirDataDelayNoEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		client := fake.NewClientset(taintedNode(), podOn("node", "pod"))
		nodes := listsFail(client, "nodes")
		nodes.Store(true)
		listsFail(client, "namespaces").Store(true)
		r := start(t, client, taintmanager.Options{Evictor: evictor})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		set := make(chan error, 1)
		go func() {
			_, err := r.SetPolicies(ctx, taintmanager.Policies{Policies: []policy.Policy{maintenance(prod())}})
			set <- err
		}()
		time.Sleep(time.Minute)
		nodes.Store(false)
		time.Sleep(time.Minute)
		wantEvicted(t, "by the policies in force", evictor, "pod")
		if err := <-set; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("namespaces can't be listed, and the error is %v", err)
		}
	})
}
