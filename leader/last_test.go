package leader

import (
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
)

func TestWhoHasLedLastIsReadFromTheLease(t *testing.T) {
	c := newClusterWith()
	election := Defaults()
	if got := LastLed(t.Context(), c.CoordinationV1(), election); !got.IsZero() {
		t.Errorf("without a lease: %v", got)
	}
	renewed := time.Date(2026, 1, 1, 0, 0, 0, 123456000, time.UTC)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: election.ResourceName}}
	_, err := c.CoordinationV1().Leases(election.ResourceNamespace).Create(t.Context(), lease, metav1.CreateOptions{})
	must(t, err)
	if got := LastLed(t.Context(), c.CoordinationV1(), election); !got.IsZero() {
		t.Errorf("with a lease that was never renewed: %v", got)
	}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: renewed}
	_, err = c.CoordinationV1().Leases(election.ResourceNamespace).Update(t.Context(), lease, metav1.UpdateOptions{})
	must(t, err)
	if got := LastLed(t.Context(), c.CoordinationV1(), election); !got.Equal(renewed) {
		t.Errorf("got %v, want %v", got, renewed)
	}
	c.PrependReactor("get", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	var said []string
	ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{}))
	if got := LastLed(ctx, c.CoordinationV1(), election); !got.IsZero() || len(said) != 1 {
		t.Errorf("without an answer: %v, said %q", got, said)
	}
}
