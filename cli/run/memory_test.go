package run

import (
	"runtime"
	"testing"
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
