package managertest

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
)

func TestASecondRunIsAnErrorAndLeavesTheFirstAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "pod", bears(60))), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Second)
		if err := r.Run(t.Context()); err == nil {
			t.Error("no error")
		}
		time.Sleep(2 * time.Minute)
		wantEvicted(t, "by the first run", evictor, "pod")
		r.stop(t)
		if err := r.Run(t.Context()); err == nil {
			t.Error("no error after the end of the first")
		}
	})
}
