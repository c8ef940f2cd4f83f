package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/policy"
)

const (
	header   = "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\n"
	draining = header + "policies:\n- {name: drain, method: Evict}\n"
)

// applied is after a change of the file: two readings see it.
const applied = 2*readEvery + time.Millisecond

// policed is a fake manager.
type policed struct {
	err error

	mu  sync.Mutex
	set []taintmanager.Policies
}

func (p *policed) SetPolicies(_ context.Context, next taintmanager.Policies) (policy.Diff, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.set = append(p.set, next)
	}
	return policy.Diff{Pods: 9, Due: 1, Earlier: 2, Later: 3, Held: 4, Free: 5}, p.err
}

func (*policed) IdleBreakers() []string { return []string{"breaker b can never trip"} }

// fail lets the manager take in nothing, because of an error, until it is nil.
func (p *policed) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// mounted is a file as the kubelet mounts a ConfigMap's, with a reloader that follows it.
type mounted struct {
	*reloader
	manager   policed
	dir       string
	swaps     int
	pausedKey string // the content of the key "paused"; "-" for no such key

	forbidden atomic.Bool // whether listing namespaces is forbidden

	mu     sync.Mutex
	lines  []string
	events []string
}

// follow starts a reloader in a bubble, with these flags given.
func follow(t *testing.T, text string, given ...string) *mounted {
	t.Helper()
	m := &mounted{dir: t.TempDir(), pausedKey: "-"}
	client := forbidding("list namespaces")
	forbid := client.ReactionChain[0]
	client.ReactionChain[0] = &k8stesting.SimpleReactor{Verb: "list", Resource: "namespaces", Reaction: func(a k8stesting.Action) (bool, runtime.Object, error) {
		if !m.forbidden.Load() {
			return false, nil, nil
		}
		return forbid.React(a)
	}}
	m.write(t, text)
	s := newSettings()
	changed := map[string]bool{}
	for _, flag := range given {
		name, value, _ := strings.Cut(flag, "=")
		for _, section := range s.sections.FlagSets {
			if f := section.Lookup(name); f != nil {
				must(t, f.Value.Set(value))
				changed[name] = true
			}
		}
	}
	s.configFile = filepath.Join(m.dir, "config.yaml")
	s.given = func(flag string) bool { return changed[flag] }
	s, err := s.load(nil)
	must(t, err)
	m.reloader = &reloader{
		setPolicies: m.manager.SetPolicies, idleBreakers: m.manager.IdleBreakers, started: s, current: s, considered: s.content, client: client,
		metrics: newConfigMetrics(prometheus.NewRegistry(), s),
		event: func(_ context.Context, message string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.events = append(m.events, message)
		},
	}
	log := funcr.New(func(_, line string) { m.mu.Lock(); defer m.mu.Unlock(); m.lines = append(m.lines, line) }, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), log))
	ended := make(chan struct{})
	go func() { m.run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return m
}

// write replaces the file as the kubelet does: by a new folder, and a link to it that is swapped.
func (m *mounted) write(t *testing.T, text string) {
	t.Helper()
	m.swaps++
	folder := fmt.Sprintf("..%d", m.swaps)
	must(t, os.Mkdir(filepath.Join(m.dir, folder), 0o755))
	must(t, os.WriteFile(filepath.Join(m.dir, folder, "config.yaml"), []byte(text), 0o644))
	if m.pausedKey != "-" {
		must(t, os.WriteFile(filepath.Join(m.dir, folder, pausedFile), []byte(m.pausedKey), 0o644))
	}
	must(t, os.Symlink(folder, filepath.Join(m.dir, "..tmp")))
	must(t, os.Rename(filepath.Join(m.dir, "..tmp"), filepath.Join(m.dir, "..data")))
	if m.swaps == 1 {
		must(t, os.Symlink(filepath.Join("..data", "config.yaml"), filepath.Join(m.dir, "config.yaml")))
		must(t, os.Symlink(filepath.Join("..data", pausedFile), filepath.Join(m.dir, pausedFile)))
	}
}

// taken returns what the manager has taken in.
func (m *mounted) taken() []taintmanager.Policies {
	synctest.Wait()
	m.manager.mu.Lock()
	defer m.manager.mu.Unlock()
	return slices.Clone(m.manager.set)
}

// recorded returns the messages of the events so far.
func (m *mounted) recorded() []string {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

func (m *mounted) said() string {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.lines, "\n")
}

func (m *mounted) counted(result string) int {
	return int(testutil.ToFloat64(m.metrics.reloads.WithLabelValues(result)))
}

func TestAChangeOfTheFileIsInForceWithin4Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, header)
		time.Sleep(time.Minute)
		if got := m.taken(); len(got) > 0 {
			t.Errorf("the file has not changed, and taken in was %+v", got)
		}
		m.write(t, draining+"paused: true\neviction: {method: Ignore, workers: 7, comparisonOperators: false}\n")
		time.Sleep(applied)
		got := m.taken()
		if len(got) != 1 || len(got[0].Policies) != 1 || !got[0].Paused || got[0].Method != taintmanager.Ignore || got[0].Workers != 7 || !got[0].Rules.NoComparison {
			t.Fatalf("taken in was %+v", got)
		}
		const diff = `"podsCompared"=9 "podsDue"=1 "podsEarlier"=2 "podsLater"=3 "podsHeld"=4 "podsFree"=5`
		if said := m.said(); !strings.Contains(said, diff) || !strings.Contains(said, `"because"="breaker b can never trip"`) || m.counted(resultAccepted) != 1 {
			t.Errorf("it does not say what changes: %s", said)
		}
		m.write(t, draining+"paused: true\neviction: {method: Ignore, workers: 7, comparisonOperators: false}\n")
		time.Sleep(time.Minute)
		if got := m.taken(); len(got) != 1 {
			t.Errorf("the same content was taken in again: %+v", got)
		}
	})
}

func TestABadFileKeepsTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		m.write(t, header+"shards: 0\npolicies:\n- {name: drain, method: Drain}\n")
		time.Sleep(time.Minute)
		if got := m.taken(); len(got) > 0 {
			t.Errorf("taken in was %+v", got)
		}
		for _, said := range []string{m.said(), strings.Join(m.recorded(), "\n")} {
			if strings.Count(said, "config.yaml: shards: Invalid value: 0: must be between 1 and 256") != 1 || !strings.Contains(said, "config.yaml: policies[0].method: Unsupported value: ") {
				t.Errorf("it does not say once what is refused: %s", said)
			}
		}
		const line = "[!]config: the file is refused, and the last accepted one stays in force; taint-manager would not start with it; see the log for the reason\n"
		expect(t, ready(remarks{file: m.reloader}), "/readyz?verbose", http.StatusOK, "readyz check passed\n"+line)
		if m.counted(resultRefused) != 1 || testutil.ToFloat64(m.metrics.refused) != 1 {
			t.Errorf("counted are %d refusals, and the gauge is %v", m.counted(resultRefused), testutil.ToFloat64(m.metrics.refused))
		}

		m.write(t, draining)
		time.Sleep(applied)
		if got := m.taken(); len(got) != 1 || len(got[0].Policies) != 1 || m.Trouble() != nil || testutil.ToFloat64(m.metrics.refused) != 0 {
			t.Errorf("the old content is back: taken in was %+v, and the trouble is %v", got, m.Trouble())
		}
		time.Sleep(time.Minute)
		if got := m.taken(); len(got) != 1 {
			t.Errorf("the old content was taken in again: %+v", got)
		}
	})
}

func TestAFileThatIsGoneKeepsTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		must(t, os.Remove(filepath.Join(m.dir, "..data")))
		time.Sleep(time.Minute)
		if m.Trouble() == nil || len(m.recorded()) != 1 || m.counted(resultRefused) != 1 {
			t.Errorf("the trouble is %v, and the events are %q", m.Trouble(), m.recorded())
		}
		m.write(t, draining)
		time.Sleep(applied)
		if err := m.Trouble(); err != nil || len(m.taken()) != 1 {
			t.Errorf("the file is back, and the trouble is %v", err)
		}
	})
}

func TestAFileThatIsRefusedForATimeIsTriedAgain(t *testing.T) {
	const selects = header + "policies:\n- {name: prod, method: Evict, match: {namespaceSelector: {matchLabels: {tier: prod}}}}\n"
	for name, c := range map[string]struct {
		text          string
		fail          func(m *mounted, fails bool)
		trouble, said string
	}{
		"a read that it needs is forbidden": {
			selects, func(m *mounted, fails bool) { m.forbidden.Store(fails) },
			"taint-manager would not start with it", "cannot list namespaces",
		},
		"the manager does not apply it": {draining, func(m *mounted, fails bool) {
			m.manager.fail(map[bool]error{true: errors.New("namespaces can't be listed")}[fails])
		}, "", "namespaces can't be listed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := follow(t, header)
			c.fail(m, true)
			m.write(t, c.text)
			time.Sleep(applied)
			got, trouble, said := m.taken(), m.Trouble(), m.said()
			if len(got) > 0 || trouble == nil || !strings.Contains(trouble.Error(), c.trouble) || !strings.Contains(said, c.said) {
				t.Errorf("%s: taken in was %+v, the trouble is %v, and it says %s", name, got, trouble, said)
			}
			c.fail(m, false)
			time.Sleep(retryAfter + readEvery)
			if got := m.taken(); len(got) != 1 || m.Trouble() != nil || m.counted(resultRefused) != 1 {
				t.Errorf("%s: taken in was %+v, and the trouble is %v", name, got, m.Trouble())
			}
		})
	}
}

func TestFieldsThatNeedARestartKeepTheirValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, header+"shards: 4\n")
		m.write(t, draining+"shards: 16\nleaderElection: {leaseDuration: 30s}\n")
		time.Sleep(applied)
		if got := m.taken(); len(got) != 1 {
			t.Fatalf("taken in was %+v", got)
		}
		for _, want := range []string{`require a restart`, `"fields"=["shards" "leaderElection"]`} {
			if said := m.said(); !strings.Contains(said, want) {
				t.Errorf("it does not say %s: %s", want, said)
			}
		}
		expect(t, ready(remarks{file: m.reloader}), "/readyz?verbose", http.StatusOK, "[!]config: changed fields that require a restart: 2\n")
	})
}

func TestFlagsThatAreGivenWinOverAChangedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, header, "paused=true", "eviction-workers=3", "tls-cipher-suites=TLS_AES_128_GCM_SHA256")
		m.write(t, draining+"paused: false\neviction: {workers: 9}\n")
		time.Sleep(applied)
		if got := m.taken(); len(got) != 1 || !got[0].Paused || got[0].Workers != 3 {
			t.Errorf("taken in was %+v", got)
		}
		if said := m.said(); !strings.Contains(said, `"flags"=["--eviction-workers"]`) || strings.Contains(said, "restart") {
			t.Errorf("it does not say which flags win: %s", said)
		}
	})
}

func TestAFileThatIsWrittenInPlaceIsTakenInAsAWhole(t *testing.T) {
	for name, write := range map[string]func(t *testing.T, path string){
		"byte by byte, faster than it is read": func(t *testing.T, path string) {
			for i := range len(draining) - len(header) {
				must(t, os.WriteFile(path, []byte(draining[:len(header)+i+1]), 0o644))
				time.Sleep(readEvery / 3)
			}
		},
		"by a writer that stalls": func(t *testing.T, path string) {
			file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			must(t, err)
			_, err = file.WriteString(header)
			must(t, err)
			time.Sleep(readEvery - time.Millisecond)
			_, err = file.WriteString(strings.TrimPrefix(draining, header))
			must(t, errors.Join(err, file.Close()))
		},
		"by removing it first": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			time.Sleep(readEvery - time.Millisecond)
			must(t, os.WriteFile(path, []byte(draining), 0o644))
		},
		"by renaming another file": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".new", []byte(draining), 0o644))
			must(t, os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := follow(t, header+"paused: true\n")
				time.Sleep(5 * time.Second)
				write(t, filepath.Join(m.dir, "..1", "config.yaml"))
				time.Sleep(applied)
				if got := m.taken(); len(got) != 1 || len(got[0].Policies) != 1 || len(m.recorded()) > 0 {
					t.Errorf("taken in was %+v, and the events are %q", got, m.recorded())
				}
			})
		})
	}
}

func TestTheMetricsShowWhichFileIsInForceSinceWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := follow(t, draining)
		want := func(when, content, method string, since time.Time) {
			t.Helper()
			synctest.Wait()
			hash := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))[:16]
			series := testutil.CollectAndCount(m.metrics.info)
			if got := testutil.ToFloat64(m.metrics.info.WithLabelValues(hash, method)); got != 1 || series != 1 {
				t.Errorf("%s: %d series, and that of %s and %s is %v", when, series, hash, method, got)
			}
			if got := testutil.ToFloat64(m.metrics.success); math.Abs(got-float64(since.UnixMilli())/1000) > 0.01 {
				t.Errorf("%s: in force since %v, want %v", when, got, since)
			}
		}
		began := time.Now()
		want("at the start", draining, "delete", began)
		time.Sleep(time.Minute)
		m.write(t, header+"shards: 0\n")
		time.Sleep(time.Minute)
		want("a change is refused", draining, "delete", began)
		evicting := header + "eviction: {method: Evict}\n"
		m.write(t, evicting)
		changed := time.Now()
		for len(m.taken()) == 0 && time.Since(changed) < time.Minute {
			time.Sleep(time.Millisecond)
		}
		want("a change is taken in", evicting, "evict", time.Now())
	})
}
