package cli

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestGarbageMayPileUpInSmallHeapsMore(t *testing.T) {
	for _, test := range []struct {
		inUse uint64
		want  int
	}{
		{0, 400}, {1 << 20, 400}, {8 << 20, 400}, {10 << 20, 320}, {16 << 20, 200}, {32 << 20, 100}, {1 << 30, 100},
	} {
		if got := garbagePercent(test.inUse); got != test.want {
			t.Errorf("%d bytes in use: got %d percent, want %d", test.inUse, got, test.want)
		}
	}
}

func TestEachCollectionIsNoticed(t *testing.T) {
	noticed := make(chan struct{})
	afterEachCollection(func() {
		select {
		case noticed <- struct{}{}:
		case <-t.Context().Done():
		}
	})
	for range 3 {
		runtime.GC()
		<-noticed
	}
}

func TestWhatIsInUseIsKnown(t *testing.T) {
	kept := make([]byte, 8<<20)
	runtime.GC()
	if got := liveHeap(); got < uint64(len(kept)) {
		t.Errorf("got %d bytes, while %d are held", got, len(kept))
	}
	runtime.KeepAlive(kept)
}

func TestMemoryIsGivenBackOnceTheListsAreIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, given := time.Now(), 0
		synced := func() bool { return time.Since(began) > 9500*time.Millisecond }
		giveBack(t.Context(), synced, func() { given++ })
		if took := time.Since(began); given != 1 || took != 11*time.Second {
			t.Errorf("given back %d times, after %v; want once, after 11 s", given, took)
		}
	})
}

func TestNoMemoryIsGivenBackOnceTheProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		giveBack(ctx, func() bool { return false }, func() { t.Error("given back") })
	})
}
