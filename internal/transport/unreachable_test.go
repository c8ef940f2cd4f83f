package transport

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestEachWayOfNotReachingTheServerNamesItAndTheNextStep(t *testing.T) {
	for want, err := range map[string]error{
		"the API server https://a:1 did not answer within 10s: connection refused; check that it runs, and the server address in --kubeconfig=f":         errors.New("connection refused"),
		"the API server https://a:1 does not know this user: who; check that the credentials in --kubeconfig=f are of this cluster and have not expired": apierrors.NewUnauthorized("who"),
	} {
		if got := Unreachable("https://a:1", "--kubeconfig=f", err).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
