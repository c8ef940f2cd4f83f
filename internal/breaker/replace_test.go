package breaker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// valued is a configuration whose verdicts depend on this value of a taint.
func valued(paused bool, value string) breaker.Config {
	return configured(paused, nil, policy.Policy{
		Name: "valued", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "a", Values: []string{value}}}},
	})
}

// inRun calls test with a tracker that runs and is prepared.
func inRun(t *testing.T, c breaker.Config, test func(t *testing.T, tracker *breaker.Tracker, got *receiver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var got receiver
		o := got.options(c)
		o.Namespaces = func() policy.Namespaces { return nil }
		tracker := breaker.NewTracker(o)
		go tracker.Run(t.Context())
		if err := tracker.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		got.order = nil
		test(t, tracker, &got)
	})
}

// The cache keeps the data that both configurations need until the new configuration decides. The new rates count all
// pods that the new configuration releases, and no pod that it pauses goes by the old configuration.
func TestAConfigurationIsReplacedInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		before, after bool // paused
		want          []string
	}{
		"a pause begins": {false, true, []string{`keep ["new" "old"]`, "paused true", "apply", "judge", `keep ["new"]`, "paused true", `keep ["new"]`}},
		"a pause ends":   {true, false, []string{`keep ["new" "old"]`, "apply", "judge", `keep ["new"]`, "paused false", `keep ["new"]`}},
	} {
		inRun(t, valued(c.before, "old"), func(t *testing.T, tracker *breaker.Tracker, got *receiver) {
			if err := tracker.Replace(t.Context(), valued(c.after, "new"), func() { got.note("apply") }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want(t, name, got.order, c.want)
		})
	}
}

func TestNothingChangesIfTheCacheCannotGetWhatIsNeeded(t *testing.T) {
	inRun(t, valued(false, "old"), func(t *testing.T, tracker *breaker.Tracker, got *receiver) {
		got.lacks = errors.New("namespaces are forbidden")
		err := tracker.Replace(t.Context(), valued(true, "new"), func() { t.Error("applied") })
		if !errors.Is(err, got.lacks) {
			t.Errorf("got %v", err)
		}
		want(t, "the old needs are left", got.order, []string{`keep ["new" "old"]`, `keep ["old"]`})
	})
}

func TestAReplacementWaitsForPrepareAndForRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got receiver
		tracker := breaker.NewTracker(got.options(whole(false)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := tracker.Replace(ctx, whole(true), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("before Prepare: %v", err)
		}
		tracker.Run(ctx)
		if err := tracker.Replace(t.Context(), whole(true), nil); err == nil {
			t.Error("after Run: no error")
		}
	})
}
