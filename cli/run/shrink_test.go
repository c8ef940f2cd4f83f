package run

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheProcessSettlesOnceTheListsAreIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, settled := time.Now(), 0
		synced := func() bool { return time.Since(began) > 9500*time.Millisecond }
		afterLists(t.Context(), synced, func() { settled++ })
		if took := time.Since(began); settled != 1 || took != 11*time.Second {
			t.Errorf("settled %d times, after %v; want once, after 11 s", settled, took)
		}
	})
}

func TestAProcessThatEndsDoesNotSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		afterLists(ctx, func() bool { return false }, func() { t.Error("settled") })
	})
}
