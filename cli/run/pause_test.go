package run

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// pause sets the key next to the file, or removes it for "-", as the kubelet does: the folder is new, and has all keys.
func (m *mounted) pause(t *testing.T, text, value string) {
	t.Helper()
	m.pausedKey = value
	m.write(t, text)
}

func TestTheKeyBesideTheFilePausesAtTheNextReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		time.Sleep(time.Minute)
		for n, step := range []struct {
			text, value string
			paused      bool
		}{
			{draining, "true", true},
			{draining, "false", false},
			{draining, "yes, the zone is down\n", true},
			{draining, "-", false},
			{draining, "True\n", true},
			{draining, "", false},
			{draining, "true", true},
			{draining, "FALSE", false},
		} {
			m.pause(t, step.text, step.value)
			time.Sleep(readEvery + time.Millisecond)
			got := m.taken()
			if len(got) == 0 || got[len(got)-1].Paused != step.paused || len(got[len(got)-1].Policies) != 1 {
				t.Fatalf("step %d, %q: taken in was %+v, want paused %t", n, step.value, got, step.paused)
			}
		}
	})
}

func TestAPauseThatMovesFromTheKeyToTheFileGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		m.pause(t, draining, "true")
		time.Sleep(time.Minute)
		m.pause(t, draining+"paused: true\n", "false")
		time.Sleep(time.Minute)
		for i, taken := range m.taken() {
			if !taken.Paused {
				t.Errorf("%d: taken in was %+v", i, taken)
			}
		}
		m.pause(t, draining, "false")
		time.Sleep(applied + readEvery)
		if got := m.taken(); len(got) == 0 || got[len(got)-1].Paused {
			t.Errorf("taken in was %+v, want no pause at the end", got)
		}
	})
}

func TestTheKeyPausesBesideAFileThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		m.write(t, header+"shards: 0\n")
		time.Sleep(time.Minute)
		m.pause(t, header+"shards: 0\n", "true")
		time.Sleep(time.Minute)
		got := m.taken()
		if len(got) != 1 || !got[0].Paused || len(got[0].Policies) != 1 || m.Trouble() == nil {
			t.Errorf("taken in was %+v, the trouble is %v; want the old policies, paused, and trouble", got, m.Trouble())
		}
	})
}

func TestAMountThatIsGoneEndsNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		m.pause(t, draining, "true")
		time.Sleep(time.Minute)
		must(t, os.Remove(filepath.Join(m.dir, "..data")))
		time.Sleep(time.Minute)
		if got := m.taken(); len(got) != 1 || !got[0].Paused {
			t.Errorf("taken in was %+v, want the pause alone", got)
		}
	})
}

func TestAPauseThatIsNotTakenInIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		m.manager.fail(os.ErrDeadlineExceeded)
		m.pause(t, draining, "true")
		time.Sleep(time.Minute)
		m.manager.fail(nil)
		time.Sleep(readEvery)
		if got := m.taken(); len(got) != 1 || !got[0].Paused {
			t.Errorf("taken in was %+v, want the pause", got)
		}
	})
}

func TestAProcessStartsPausedByTheKey(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false} {
		folder := t.TempDir()
		s := newSettings()
		s.configFile = filepath.Join(folder, "config.yaml")
		must(t, os.WriteFile(s.configFile, []byte(draining), 0o600))
		must(t, os.WriteFile(filepath.Join(folder, "paused"), []byte(value), 0o600))
		s, err := s.load(nil)
		must(t, err)
		if s.paused() != want || s.Paused {
			t.Errorf("with %q it starts paused: %t, want %t, and by the key alone", value, s.paused(), want)
		}
	}
}
