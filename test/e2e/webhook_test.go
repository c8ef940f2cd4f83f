package e2e

import (
	"context"
	"testing"

	"github.com/taint-manager/taint-manager/test/load"
)

// holdingWebhook makes the API server call a webhook that holds the deletions of held pods, of which this is one, until it
// releases them or the test ends.
func (w *world) holdingWebhook(t *testing.T, pod load.Identity) *load.Webhook {
	t.Helper()
	hook := load.NewWebhook()
	t.Cleanup(hook.Close)
	must(t, hook.Register(t.Context(), w.admin, pod))
	t.Cleanup(func() {
		if err := hook.Unregister(context.WithoutCancel(t.Context()), w.admin); err != nil {
			t.Error(err)
		}
	})
	return hook
}
