package hint_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/taint-manager/taint-manager/internal/hint"
)

func TestTheNextStepSurvivesWrapping(t *testing.T) {
	cause := errors.New("no nodes; none at all")
	err := fmt.Errorf("reading: %w, for now", hint.Add(cause, "Run '%s'.", "kubectl get nodes"))
	if got, want := err.Error(), "reading: no nodes; none at all, for now"; got != want {
		t.Errorf("message: got %q, want %q", got, want)
	}
	if got, want := hint.Of(err), "Run 'kubectl get nodes'."; got != want || !errors.Is(err, cause) {
		t.Errorf("next step: got %q, want %q; the cause is kept: %v", got, want, errors.Is(err, cause))
	}
	if got := hint.Of(cause); got != "" {
		t.Errorf("without one: got %q", got)
	}
}
