package cluster

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/policy"
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

func TestAnExposureBeginsAnewIfItsKeyWasNotNeededInTheMeantime(t *testing.T) {
	const needed = 2 * time.Hour // for how long the key is needed at first
	for name, row := range map[string]struct {
		meanwhile   policy.Needs
		beginsAgain bool
	}{
		"the key is dropped":         {noneNeeded, true},
		"the key is only audited":    {policy.Needs{Audited: []string{"drain"}}, true},
		"another key is needed, too": {policy.Needs{Triggers: []string{"drain", "other"}}, false},
		"labels are needed, too":     {policy.Needs{Triggers: []string{"drain"}, NodeLabels: true}, false},
	} {
		inWorlds(t, []runtime.Object{aNode(v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule})}, func(t *testing.T, w *world) {
			begun := time.Now()
			w.need(drainNeeded)
			time.Sleep(time.Until(begun.Add(needed)))
			w.client.ClearActions()
			dropped := w.source.Need(row.meanwhile)
			w.need(drainNeeded)
			must(t, <-dropped)

			since := exposedSince(w.source)
			if again := since.Sub(begun) >= needed; again != row.beginsAgain || since.Sub(begun) > needed+reflectorBackoff {
				t.Errorf("%s: the exposure begins after %v", name, since.Sub(begun))
			}
			time.Sleep(time.Minute)
			if lists := w.nodeLists(); lists > 2 { // the first call of Need may have begun one already
				t.Errorf("%s: nodes are listed %d times", name, lists)
			}
			w.client.ClearActions()
			time.Sleep(time.Hour)
			if lists := w.nodeLists(); lists > 0 || !exposedSince(w.source).Equal(since) {
				t.Errorf("%s: within an hour nodes are listed %d times, and the exposure begins at %v, which was %v",
					name, lists, exposedSince(w.source), since)
			}
		})
	}
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
				s := &scene{t: t, api: a}
				a.refuse, a.drains = s.answer, true
				a.over(t, func(w *Watcher, told *record) {
					s.watcher, s.told = w, told
					must(t, <-w.Need(drainNeeded))
					n, _ := w.PodsOn("n")
					evicts := n.Taints[0][0].Since
					time.Sleep(2 * time.Hour)
					for _, do := range steps {
						do(s)
					}
					neededAgain := time.Now()
					time.Sleep(10 * time.Minute)
					s.needsAreNotMet()
					s.podsAreWatched()

					listsSucceed(s)
					must(t, <-s.met)
					if after := exposedSince(w).Sub(neededAgain); after < 0 || after > 10*time.Minute+2*reflectorBackoff {
						t.Errorf("the exposure begins %v after the key is needed again", after)
					}
					if n, _ := w.PodsOn("n"); !n.Taints[0][0].Since.Equal(evicts) {
						t.Errorf("the NoExecute taint counts since %v, which was %v", n.Taints[0][0].Since, evicts)
					}
					s.nothingChangesLater()
				})
			})
		})
	}
}

// scene is a watcher over an API server whose lists of nodes succeed, hang or fail.
type scene struct {
	t       *testing.T
	api     *api
	watcher *Watcher
	told    *record
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
	s.api.sendOf("nodes", watch.Error, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
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

func (s *scene) needsAreNotMet() {
	s.t.Helper()
	if closed(errorless(s.met)) {
		s.t.Error("the needs are met without a list")
	}
}

// podsAreWatched checks that a pod of a node with a NoExecute taint is known, and that its changes lead to calls of the
// handler.
func (s *scene) podsAreWatched() {
	s.t.Helper()
	n, pods := s.watcher.PodsOn("n")
	if !s.watcher.HasSynced() || n == nil || len(n.Taints) != 1 || len(pods) != 1 {
		s.t.Errorf("in sync %t, node %+v, %d pods", s.watcher.HasSynced(), n, len(pods))
	}
	s.told.take()
	s.api.send(watch.Modified, aPod(func(p *v1.Pod) {
		p.Spec.Tolerations[0].TolerationSeconds, p.ResourceVersion = new(time.Now().Unix()), "6"
	}))
	if got := s.told.take(); !slices.Equal(got, []string{"pod p1 for n: n"}) {
		s.t.Errorf("told %q, want the pod", got)
	}
}

// nothingChangesLater checks that the exposure stays as it is, and that nodes are not listed again.
func (s *scene) nothingChangesLater() {
	s.t.Helper()
	since := exposedSince(s.watcher)
	s.api.tookOf("")
	time.Sleep(time.Hour)
	for _, ask := range s.api.tookOf("nodes") {
		if !strings.HasPrefix(ask, "watch") {
			s.t.Errorf("later the API server is asked to %s", ask)
		}
	}
	if got := exposedSince(s.watcher); !got.Equal(since) {
		s.t.Errorf("the exposure begins at %v, and at %v later", since, got)
	}
}
