package run

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestTheFirstSignalAsksAndTheSecondKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal)
		asked, killed := 0, 0
		go obey(signals, nil, func() { asked++ }, func() { killed++ })
		for i, want := range [][2]int{{1, 0}, {1, 1}} {
			signals <- syscall.SIGTERM
			synctest.Wait()
			if got := [2]int{asked, killed}; got != want {
				t.Errorf("after signal %d: asked and killed %v times, want %v", i+1, got, want)
			}
		}
	})
}

func TestSignalsAreNotListenedToOnceAllIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		close(over)
		obey(nil, over, func() { t.Error("asked") }, func() { t.Error("killed") })
	})
}
