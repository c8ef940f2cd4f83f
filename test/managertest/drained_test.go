package managertest

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
)

// A pod that has finished, and that a finalizer keeps, is not gone, whether it is being deleted or not, and whatever it
// tolerates.
func TestANodeIsDrainedOnceNoFinalizerKeepsAFinishedPod(t *testing.T) {
	const keeps, job = "example.com/keeps", "batch.kubernetes.io/job-tracking"
	finishes := func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded }
	for name, test := range map[string]struct {
		finalizer string
		change    func(*v1.Pod)
		waits     bool
	}{
		"it finishes":                  {keeps, finishes, true},
		"it finishes, and is deleted":  {keeps, func(p *v1.Pod) { finishes(p); p.DeletionTimestamp = new(metav1.Now()) }, true},
		"the finalizer of a Job":       {job, finishes, false},
		"it runs on and tolerates all": {keeps, func(*v1.Pod) {}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			events := &sink{}
			kept := podOn("node", "kept", v1.Toleration{Operator: v1.TolerationOpExists})
			kept.Finalizers = []string{test.finalizer}
			client := fake.NewClientset(taintedNode(), podOn("node", "goes"), kept)
			start(t, client, taintmanager.Options{Evictor: byName{}, Events: events})
			time.Sleep(time.Second)
			pods := client.CoreV1().Pods("default")
			set := func(change func(*v1.Pod), version string) {
				kept = kept.DeepCopy()
				change(kept)
				kept.ResourceVersion = version
				_, err := pods.Update(t.Context(), kept, metav1.UpdateOptions{})
				must(t, err)
				time.Sleep(time.Second)
			}
			set(test.change, "2")
			must(t, pods.Delete(t.Context(), "goes", metav1.DeleteOptions{}))
			time.Sleep(10 * time.Second)
			if told := len(events.about("Drained")); (told == 0) != test.waits {
				t.Errorf("%s: %d events while the finalizer is there", name, told)
			}
			set(func(p *v1.Pod) { p.Finalizers = nil }, "3")
			must(t, pods.Delete(t.Context(), "kept", metav1.DeleteOptions{}))
			time.Sleep(10 * time.Second)
			if told := len(events.about("Drained")); told != 1 {
				t.Errorf("%s: %d events at the end", name, told)
			}
		})
	}
}
