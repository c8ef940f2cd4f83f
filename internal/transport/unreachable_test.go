package transport

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/hint"
)

func TestEachWayOfNotReachingTheServerNamesItAndTheNextStep(t *testing.T) {
	for _, c := range []struct {
		err        error
		want, next string
	}{
		{
			errors.New("connection refused"), "API server https://a:1 did not respond within 10s: connection refused",
			"Check that it is running, and the server address in --kubeconfig=f.",
		},
		{
			apierrors.NewUnauthorized("who"), "API server https://a:1 rejected the credentials: who",
			"Check that the credentials in --kubeconfig=f are for this cluster and have not expired.",
		},
	} {
		err := Unreachable("https://a:1", "--kubeconfig=f", c.err)
		if got := err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if got := hint.Of(err); got != c.next {
			t.Errorf("next step: got  %s\nwant %s", got, c.next)
		}
	}
}
