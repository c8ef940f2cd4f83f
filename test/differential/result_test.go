package differential

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/types"
)

// result is one history with the results of the model and the controllers.
type result struct {
	seed     uint64
	test     string
	history  *history
	model    outcome
	ours     outcome
	embedded outcome
	original outcome
	applied  []applied
	raced    bool // the original did otherwise when it played the history again
}

// applied is a correction that applies to a pod at a moment.
type applied struct {
	name string
	moment
}

func playSeed(t *testing.T, s setting, seed uint64) *result {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("seed %d: %v", seed, r))
		}
	}()
	h := generate(seed)
	m := predict(h, s.comparison)
	test, _, _ := strings.Cut(t.Name(), "/")
	r := &result{
		seed: seed, test: test, history: h, model: m.evicted,
		ours:     play(t, h, ours(s.options())),
		embedded: play(t, h, embedded(s.options())),
		original: play(t, h, original),
	}
	for _, mo := range m.moments {
		for _, c := range corrections() {
			if c.applies(mo) {
				r.applied = append(r.applied, applied{c.name, mo})
			}
		}
	}
	return r
}

// check requires both ways to run this controller to agree with the model and, where no correction applies to a pod
// or to another one of its name, with the original. Time is virtual, and therefore exact: there is no tolerance.
func (r *result) check(t *testing.T) {
	corrected := r.corrected()
	for _, p := range r.history.all() {
		r.compare(t, p.UID, "this controller, watching by itself,", r.ours, "the model", r.model)
		r.compare(t, p.UID, "this controller, on a caller's informer of pods,", r.embedded, "the model", r.model)
		if !corrected[p.Name] {
			r.playAgain(t, p.UID)
			r.compare(t, p.UID, "this controller", r.ours, "the original", r.original)
		}
	}
}

// playAgain has the original play the history again, some times, if it differs. The order of the original's goroutines at
// one moment is not determined, and with one order in some tens it loses an eviction. Against the model, this controller
// has no second try.
func (r *result) playAgain(t *testing.T, uid types.UID) {
	for tries := 0; tries < 5 && r.ours.of(uid) != r.original.of(uid); tries++ {
		before := r.original.of(uid)
		r.original = play(t, r.history, original)
		if now := r.original.of(uid); now != before {
			r.raced = true
			t.Logf("seed %d, pod %s: the original evicts it: %s, and when it plays the history again: %s", r.seed, uid, before, now)
		}
	}
}

// corrected returns the names of pods to which a correction applies.
func (r *result) corrected() map[string]bool {
	names := map[string]bool{}
	for _, a := range r.applied {
		names[a.podName()] = true
	}
	return names
}

func (r *result) compare(t *testing.T, uid types.UID, who string, got outcome, other string, want outcome) {
	if got.of(uid) != want.of(uid) {
		t.Errorf("seed %d, pod %s: %s evicts it: %s; %s: %s\n%s", r.seed, uid, who, got.of(uid), other, want.of(uid), r)
	}
}

// of describes when a pod was evicted.
func (o outcome) of(uid types.UID) string {
	if at, ok := o[uid]; ok {
		return "at " + at.String()
	}
	return "never"
}

// differs reports whether the original behaved differently from this controller.
func (r *result) differs() bool {
	for _, p := range r.history.all() {
		if r.ours.of(p.UID) != r.original.of(p.UID) {
			return true
		}
	}
	return false
}

// String returns the history with all results, and the command that plays it again.
func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "again: go test . -run '^%s$' -v -seed %d\n\n%s\n", r.test, r.seed, r.history)
	for _, a := range r.applied {
		fmt.Fprintf(&b, "%9s a correction applies to pod %s: %s\n", a.at, a.podName(), a.name)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "evicted\tmodel\tours\tours, on an informer\toriginal")
	for _, p := range r.history.all() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.UID, r.model.of(p.UID), r.ours.of(p.UID), r.embedded.of(p.UID), r.original.of(p.UID))
	}
	_ = w.Flush() // into memory, which never fails
	return b.String()
}
