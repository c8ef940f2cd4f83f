package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// The node n has the NoSchedule taint "drain", whose key policies need, then do not need, and need again. The exposure
// to the taint begins again with the first list that begins after the key is needed again.

var (
	drainNeeded = policy.Needs{Triggers: []string{"drain"}}
	noneNeeded  = policy.Needs{}
)

// exposedSince returns since when the node n is exposed to the taint "drain".
func exposedSince(w *Watcher) time.Time {
	n, _ := w.PodsOn("n")
	return n.Triggers[0][0].Since
}

// starts returns the starts of the node's NoSchedule taints: triggers, then those that are audited.
func (w *world) starts(begun time.Time) string {
	n, _ := w.source.PodsOn("n")
	text := func(histories []taint.History) string {
		var texts []string
		for _, h := range histories {
			for _, s := range h {
				texts = append(texts, fmt.Sprintf("%s=%s@%.0f", s.Taint.Key, s.Taint.Value, s.Since.Sub(begun).Seconds()))
			}
		}
		return strings.Join(texts, " ")
	}
	return strings.TrimSpace(text(n.Triggers) + " / " + text(n.Audited))
}

func TestTriggersBeginAndEndWithTheNeedForThem(t *testing.T) {
	drain := v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule}
	inWorlds(t, []runtime.Object{aNode(drain)}, func(t *testing.T, w *world) {
		begun := time.Now()
		need := func(n policy.Needs, want string) {
			t.Helper()
			time.Sleep(time.Until(begun.Add(time.Since(begun).Truncate(time.Minute) + time.Minute)))
			must(t, <-w.source.Need(n))
			if got := w.starts(begun.Truncate(0)); !strings.HasPrefix(got, want) {
				t.Errorf("after %v: %q, want %q", time.Since(begun), got, want)
			}
		}
		trigger, audited := policy.Needs{Triggers: []string{"drain"}}, policy.Needs{Audited: []string{"drain"}}
		need(policy.Needs{}, "/")
		need(trigger, "drain=@12")
		need(trigger.Or(policy.Needs{Triggers: []string{"other"}}), "drain=@12")
		need(trigger.Or(audited), "drain=@12") // it is a trigger only
		if n := w.source.Tainted(); len(n) != 1 {
			t.Errorf("%d nodes are tainted", len(n))
		}
		need(audited, "/ drain=@30")
		need(audited.Or(policy.Needs{Audited: []string{"other"}}), "/ drain=@30")
		need(trigger, "drain=@42")
		need(policy.Needs{}, "/")
		if n := w.source.Tainted(); len(n) != 0 {
			t.Errorf("%d nodes are tainted", len(n))
		}
		need(trigger, "drain=@54")
	})
}

func TestAnExposureBeginsAnewIfItsKeyWasNotNeededInTheMeantime(t *testing.T) {
	tainted := []runtime.Object{aNode(v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule})}
	for name, row := range map[string]struct {
		meanwhile   policy.Needs
		beginsAgain bool
	}{
		"the key is dropped":         {noneNeeded, true},
		"the key is only audited":    {policy.Needs{Audited: []string{"drain"}}, true},
		"another key is needed, too": {policy.Needs{Triggers: []string{"drain", "other"}}, false},
		"labels are needed, too":     {policy.Needs{Triggers: []string{"drain"}, NodeLabels: true}, false},
	} {
		for _, listsFail := range []bool{false, true} {
			inWorlds(t, tainted, func(t *testing.T, w *world) {
				first := time.Now()
				w.need(drainNeeded)
				time.Sleep(2 * time.Hour)
				down := w.outage()
				down.Store(listsFail)
				dropped := w.source.Need(row.meanwhile)
				if listsFail {
					time.Sleep(10 * time.Minute)
				}
				met, again := w.source.Need(drainNeeded), time.Now()
				if listsFail {
					time.Sleep(10 * time.Minute)
					down.Store(false)
					again = time.Now()
				}
				must(t, <-dropped)
				must(t, <-met)

				since, want := exposedSince(w.source), first
				if row.beginsAgain {
					want = again
				}
				if late := since.Sub(want); late < 0 || late > reflectorBackoff {
					t.Errorf("%s, lists fail: %t: the exposure begins %v late", name, listsFail, late)
				}
				w.client.ClearActions()
				time.Sleep(time.Hour)
				if lists := w.nodeLists(); lists > 1 || !exposedSince(w.source).Equal(since) {
					t.Errorf("%s: in an hour, nodes are listed %d times, and the exposure begins at %v, which was %v",
						name, lists, exposedSince(w.source), since)
				}
			})
		}
	}
}

// outage makes lists of nodes fail until it is set to false.
func (w *world) outage() *atomic.Bool {
	var down atomic.Bool
	down.Store(true)
	w.client.Lock() // PrependReactor does not lock what concurrent requests read
	defer w.client.Unlock()
	w.client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return down.Load(), nil, errors.New("connection refused")
	})
	return &down
}

// nodeLists returns how often nodes were listed since the actions were cleared.
func (w *world) nodeLists() (n int) {
	for _, a := range w.client.Actions() {
		if a.Matches("list", "nodes") {
			n++
		}
	}
	return n
}

func TestAnExposureBeginsAnewAlsoIfListsHangOrFailInTheMeantime(t *testing.T) {
	for name, steps := range map[string][]step{
		"the list under way began before the key was dropped": {
			listsHang, nodesAreListed, dropKey, aMinutePasses, needKey,
		},
		"the list under way began while the key was not needed": {
			listsHang, dropKey, aMinutePasses, needKey,
		},
		"the list under way began after the key was needed again": {
			listsHang, dropKey, needKey, aMinutePasses, needKey,
		},
		"the list that began before the key was dropped is complete, and the next one fails": {
			listsHang, nodesAreListed, dropKey, aMinutePasses, listsSucceed, listsFail, aMinutePasses, needKey,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inAllForms(t, func(t *testing.T, a *api) {
				s := &scene{api: a}
				a.refuse, a.drains = s.answer, true
				a.over(t, func(w *Watcher, _ *record) {
					s.watcher = w
					must(t, <-w.Need(drainNeeded))
					time.Sleep(2 * time.Hour)
					for _, do := range steps {
						do(s)
					}
					neededAgain := time.Now()
					time.Sleep(10 * time.Minute)
					if closed(errorless(s.met)) {
						t.Error("the needs are met without a list")
					}
					listsSucceed(s)
					must(t, <-s.met)
					if after := exposedSince(w).Sub(neededAgain); after < 0 || after > 10*time.Minute+2*reflectorBackoff {
						t.Errorf("the exposure begins %v after the key is needed again", after)
					}
				})
			})
		})
	}
}

// scene is a watcher over an API server whose lists of nodes succeed, hang or fail.
type scene struct {
	api     *api
	watcher *Watcher
	met     <-chan error // of the first call since which the key is needed again

	mu    sync.Mutex
	hangs chan struct{} // is closed when lists succeed again; nil if they do not hang
	fails bool
}

// answer is what the API server calls before each response. A stream that fails becomes a plain list, so both fail.
func (s *scene) answer(ask string) (*http.Response, error) {
	s.mu.Lock()
	hangs, fails := s.hangs, s.fails
	s.mu.Unlock()
	list := map[bool]string{true: "stream nodes", false: "list nodes"}[s.api.streams]
	switch {
	case fails && strings.HasSuffix(ask, " nodes"):
		return s.api.fail(metav1.StatusReasonInternalError, 500), nil
	case hangs != nil && ask == list:
		<-hangs
	}
	return nil, nil
}

// step is a step of a scene.
type step func(s *scene)

func listsHang(s *scene) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = make(chan struct{})
}

func listsFail(s *scene) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = true
}

func listsSucceed(s *scene) {
	s.mu.Lock()
	if s.hangs != nil {
		close(s.hangs)
	}
	s.hangs, s.fails = nil, false
	s.mu.Unlock()
	synctest.Wait() // for the lists that hung; the next one begins after the reflector's backoff
}

// nodesAreListed ends the watch of nodes so that the reflector lists them again.
func nodesAreListed(s *scene) {
	s.api.expire("nodes")
	time.Sleep(reflectorBackoff)
}

func dropKey(s *scene) {
	s.watcher.Need(noneNeeded)
	s.met = nil
}

func needKey(s *scene) {
	if met := s.watcher.Need(drainNeeded); s.met == nil {
		s.met = met
	}
}

func aMinutePasses(*scene) { time.Sleep(time.Minute) }

// Needs that change end the watch of nodes. What happens until the next list is complete counts as after any other
// break: a taint that is found then has its timeAdded, which the API cuts to the second.
func TestAListForOtherNeedsMakesNoEvictionEarlyOrLate(t *testing.T) {
	noExecute := func(key string, at time.Time) v1.Taint {
		return v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: at}}
	}
	for name, c := range map[string]struct {
		change func(begun time.Time) []v1.Taint // ten minutes after the needs have changed
		want   []string
	}{
		"a taint that stays":                {func(begun time.Time) []v1.Taint { return []v1.Taint{noExecute("k", begun)} }, []string{"k@0s"}},
		"a taint that is lifted":            {func(time.Time) []v1.Taint { return nil }, nil},
		"one that is lifted, and set again": {func(time.Time) []v1.Taint { return []v1.Taint{noExecute("k", time.Now())} }, []string{"k@11m1s"}},
		"another one": {func(begun time.Time) []v1.Taint {
			return []v1.Taint{noExecute("k", begun), noExecute("other", time.Now())}
		}, []string{"k@0s", "other@11m1s"}},
	} {
		inWorlds(t, []runtime.Object{aNode()}, func(t *testing.T, w *world) {
			begun := time.Now()
			w.set(aNode(noExecute("k", begun)))
			time.Sleep(time.Minute)
			down := w.outage()
			met := w.source.Need(policy.Needs{NodeLabels: true})
			time.Sleep(10 * time.Minute)
			changed := aNode(c.change(begun)...)
			changed.ResourceVersion = "2"
			w.set(changed)
			time.Sleep(time.Minute)
			down.Store(false)
			must(t, <-met)
			var got []string
			n, _ := w.source.PodsOn("n")
			for _, h := range n.Taints {
				last := &h[len(h)-1]
				got = append(got, fmt.Sprintf("%s@%v", last.Taint.Key, last.Since.Sub(begun).Truncate(time.Second)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		})
	}
}
