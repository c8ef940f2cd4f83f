package cluster

import (
	"net/http"
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

// exposed returns since when the node n is exposed to its NoSchedule taint.
func exposed(w *Watcher) time.Time {
	n, _ := w.PodsOn("n")
	return n.Triggers[0][0].Since
}

// Policies are often removed and put back within the time that the reflector waits before its next list.
func TestATriggerThatIsDroppedAndNamedAgainBeforeAListBeginsAnew(t *testing.T) {
	trigger := policy.Needs{Triggers: []string{"drain"}}
	for name, c := range map[string]struct {
		meanwhile policy.Needs
		want      time.Duration
	}{
		"dropped":       {policy.Needs{}, 2 * time.Hour},
		"only audited":  {policy.Needs{Audited: []string{"drain"}}, 2 * time.Hour},
		"beside others": {policy.Needs{Triggers: []string{"drain", "other"}}, 0},
		"with labels":   {policy.Needs{Triggers: []string{"drain"}, NodeLabels: true}, 0},
	} {
		inWorlds(t, []runtime.Object{aNode(v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule})}, func(t *testing.T, w *world) {
			begun := time.Now()
			w.need(trigger)
			time.Sleep(time.Until(begun.Add(2 * time.Hour)))
			w.client.ClearActions()
			dropped := w.source.Need(c.meanwhile)
			w.need(trigger)
			must(t, <-dropped)
			if got := exposed(w.source).Sub(begun); got < c.want || got > c.want+reflectorBackoff {
				t.Errorf("%s: the exposure begins after %v, want %v", name, got, c.want)
			}
			// One list is enough, or two if the first call has begun one already; and nothing changes later.
			since := exposed(w.source)
			time.Sleep(time.Minute)
			soon := w.nodeLists()
			time.Sleep(time.Hour)
			if later := w.nodeLists(); soon > 2 || later > soon {
				t.Errorf("%s: nodes are listed %d times within a minute, and %d times within an hour", name, soon, later)
			}
			if got := exposed(w.source); !got.Equal(since) {
				t.Errorf("%s: the exposure begins at %v, and at %v later", name, since, got)
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

// valve blocks or refuses lists of nodes while it is not open.
type valve struct {
	api  *api
	list string // the request for a list

	mu      sync.Mutex
	until   chan struct{} // lists wait until it is closed; nil: they do not wait
	refuses bool
}

func newValve(a *api) *valve {
	v := &valve{api: a, list: "list nodes"}
	if a.streams {
		v.list = "stream nodes"
	}
	return v
}

// pass is what an API server calls before each response.
func (v *valve) pass(ask string) (*http.Response, error) {
	v.mu.Lock()
	until, refuses := v.until, v.refuses
	v.mu.Unlock()
	switch {
	case refuses && strings.HasSuffix(ask, " nodes"): // a stream that fails becomes a plain list
		return v.api.fail(metav1.StatusReasonInternalError, 500), nil
	case until != nil && ask == v.list:
		<-until
	}
	return nil, nil
}

func (v *valve) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.until = make(chan struct{})
}

func (v *valve) refuse() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.refuses = true
}

func (v *valve) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.until != nil {
		close(v.until)
	}
	v.until, v.refuses = nil, false
}

// expired ends the watch of nodes so that the reflector lists them again.
func (a *api) expired() {
	a.sendOf("nodes", watch.Error, &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
	time.Sleep(reflectorBackoff)
}

// While a list of nodes hangs, keys are dropped and named again. Until the exposures have begun anew the needs are not
// met, and all else goes on.
func TestATriggerThatIsNamedAgainWhileAListHangsBeginsAnew(t *testing.T) {
	trigger := policy.Needs{Triggers: []string{"drain"}}
	for name, again := range map[string]func(w *Watcher, a *api, v *valve) <-chan error{
		"the list began before the key was dropped": func(w *Watcher, a *api, v *valve) <-chan error {
			v.close()
			a.expired()
			w.Need(policy.Needs{})
			time.Sleep(time.Minute)
			return w.Need(trigger)
		},
		"the list began after the key was named again": func(w *Watcher, _ *api, v *valve) <-chan error {
			v.close()
			w.Need(policy.Needs{})
			first := w.Need(trigger)
			time.Sleep(time.Minute)
			w.Need(trigger)
			return first
		},
		"the list without the key hangs": func(w *Watcher, _ *api, v *valve) <-chan error {
			v.close()
			w.Need(policy.Needs{})
			time.Sleep(time.Minute)
			return w.Need(trigger)
		},
		"the list that began before is complete, and the next one fails": func(w *Watcher, a *api, v *valve) <-chan error {
			v.close()
			a.expired()
			w.Need(policy.Needs{})
			time.Sleep(time.Minute)
			v.open()
			synctest.Wait() // the next list begins after the reflector's backoff
			v.refuse()
			time.Sleep(time.Minute)
			return w.Need(trigger)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inAllForms(t, func(t *testing.T, a *api) {
				v := newValve(a)
				a.refuse, a.drains = v.pass, true
				a.over(t, func(w *Watcher, told *record) {
					must(t, <-w.Need(trigger))
					tainted, _ := w.PodsOn("n")
					time.Sleep(2 * time.Hour)
					met := again(w, a, v)
					named := time.Now()
					time.Sleep(10 * time.Minute)
					if closed(errorless(met)) {
						t.Error("the needs are met without a list")
					}
					told.take()
					a.goOn(t, w, told)
					v.open()
					must(t, <-met)
					if got := exposed(w).Sub(named); got < 0 || got > 10*time.Minute+2*reflectorBackoff {
						t.Errorf("the exposure begins %v after the key is named again", got)
					}
					if n, _ := w.PodsOn("n"); !n.Taints[0][0].Since.Equal(tainted.Taints[0][0].Since) {
						t.Errorf("the NoExecute taint is there since %v, and was since %v", n.Taints[0][0].Since, tainted.Taints[0][0].Since)
					}
					since := exposed(w)
					a.tookOf("")
					time.Sleep(time.Hour)
					for _, ask := range a.tookOf("nodes") {
						if !strings.HasPrefix(ask, "watch") {
							t.Errorf("later the API server is asked to %s", ask)
						}
					}
					if got := exposed(w); !got.Equal(since) {
						t.Errorf("the exposure begins at %v, and at %v later", since, got)
					}
				})
			})
		})
	}
}

// goOn checks that a pod of a node with a NoExecute taint is known, and changes of it lead to calls of the handler.
func (a *api) goOn(t *testing.T, w *Watcher, told *record) {
	t.Helper()
	n, pods := w.PodsOn("n")
	if !w.HasSynced() || n == nil || len(n.Taints) != 1 || len(pods) != 1 {
		t.Errorf("in sync %t, node %+v, %d pods", w.HasSynced(), n, len(pods))
	}
	a.send(watch.Modified, aPod(func(p *v1.Pod) {
		p.Spec.Tolerations[0].TolerationSeconds, p.ResourceVersion = new(time.Now().Unix()), "6"
	}))
	synctest.Wait()
	if got := told.take(); len(got) != 1 || got[0] != "pod p1 for n: n" {
		t.Errorf("told %q, want the pod", got)
	}
}
