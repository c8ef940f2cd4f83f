package e2e

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/test/load"
)

// holdingWebhook is a webhook that holds deletions until the test ends.
type holdingWebhook struct{ *load.Webhook }

func newHoldingWebhook(t *testing.T) *holdingWebhook {
	h := &holdingWebhook{load.NewWebhook()}
	t.Cleanup(h.Close)
	return h
}

// register makes the API server call the webhook until the test ends, and waits until it does. The pod is a held pod.
func (h *holdingWebhook) register(t *testing.T, w *world, pod *v1.Pod) {
	t.Helper()
	if err := h.Register(t.Context(), w.admin, load.IdentityOf(pod)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Unregister(afterwards(t), w.admin); err != nil {
			t.Error(err)
		}
	})
}

// await waits until the webhook has received this number of requests.
func (h *holdingWebhook) await(t *testing.T, requests int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); h.Held() < requests; {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute the webhook was asked for %d deletions, want %d", h.Held(), requests)
		}
		pauseUntil(t, time.Now().Add(20*time.Millisecond))
	}
}
