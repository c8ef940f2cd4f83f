package event

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rawOrder is an order beside what it promises, by plain counting.
type rawOrder struct {
	*rapid.T
	order   *order
	now     time.Time
	waiting map[string][]*queuedNote // by namespace
	under   []*write
	skipped map[string]int // by namespace: the writes of others that started since one of it might have
	wait    map[string]time.Duration
	until   map[string]time.Time
}

func (r *rawOrder) put() {
	name := fmt.Sprintf("ns-%d", rapid.IntRange(0, 6).Draw(r.T, "namespace"))
	note := &queuedNote{note: noteIn(name, 0), at: r.now}
	total, longest := 0, 0
	for _, notes := range r.waiting {
		total += len(notes)
		longest = max(longest, len(notes))
	}
	dropped := r.order.put(note)
	if (dropped != nil) != (total == r.order.capacity) {
		r.Fatalf("dropped %v with %d waiting", dropped, total)
	}
	r.waiting[name] = append(r.waiting[name], note)
	if dropped == nil {
		return
	}
	from := dropped.note.Pod.Namespace
	last := len(r.waiting[from]) - 1
	if r.waiting[from][last] != dropped || last+1 < longest {
		r.Fatalf("dropped a note that is not the newest of the longest line")
	}
	r.waiting[from] = r.waiting[from][:last]
}

// mayStart reports whether the namespace may have a further write.
func (r *rawOrder) mayStart(name string) bool {
	writing := 0
	for _, w := range r.under {
		if w.line.namespace == name {
			writing++
			if r.now.Sub(w.begins) >= patience {
				return false
			}
		}
	}
	return len(r.waiting[name]) > 0 && writing < writers && !r.now.Before(r.until[name])
}

func (r *rawOrder) start() {
	for {
		held := 0
		for _, w := range r.under {
			if r.now.Sub(w.begins) < patience {
				held++
			}
		}
		possible := map[string]bool{}
		for name := range r.waiting {
			possible[name] = r.mayStart(name)
		}
		w := r.order.next(r.now, 0)
		if w == nil {
			for name, may := range possible {
				if may && held < writers {
					r.Fatalf("nothing starts, though %s may with %d writers held", name, held)
				}
			}
			return
		}
		name := w.line.namespace
		if held >= writers || !possible[name] || r.waiting[name][0] != w.note {
			r.Fatalf("%s starts with %d writers held, possible %v", name, held, possible)
		}
		r.waiting[name] = r.waiting[name][1:]
		r.under = append(r.under, w)
		r.skip(name, possible)
	}
}

// skip checks that the namespaces are served in turn: that none waits while others start more writes than there are namespaces.
func (r *rawOrder) skip(started string, possible map[string]bool) {
	for name, may := range possible {
		if name == started || !may {
			delete(r.skipped, name)
			continue
		}
		r.skipped[name]++
		if r.skipped[name] > 7 {
			r.Fatalf("%s waits while %d writes of others start", name, r.skipped[name])
		}
	}
}

func (r *rawOrder) end() {
	if len(r.under) == 0 {
		return
	}
	i := rapid.IntRange(0, len(r.under)-1).Draw(r.T, "which")
	w, failed := r.under[i], rapid.Bool().Draw(r.T, "failed")
	r.under = append(r.under[:i:i], r.under[i+1:]...)
	name := w.line.namespace
	switch {
	case !failed:
		r.wait[name] = 0
	case !w.begins.Before(r.until[name]):
		r.wait[name] = min(max(minWait, 2*r.wait[name]), maxWait)
		r.until[name] = r.now.Add(r.wait[name])
	}
	r.order.end(w, failed, r.now)
	r.forget()
}

// forget forgets the namespaces without notes, writes or a wait.
func (r *rawOrder) forget() {
	for name := range r.wait {
		if _, kept := r.order.lines[name]; kept {
			continue
		}
		for _, w := range r.under {
			if w.line.namespace == name {
				r.Fatalf("%s is forgotten during a write", name)
			}
		}
		if len(r.waiting[name]) > 0 || r.now.Before(r.until[name]) {
			r.Fatalf("%s is forgotten too early", name)
		}
		delete(r.wait, name)
		delete(r.until, name)
	}
}

// pass lets time pass up to where wake says that something may start, or less.
func (r *rawOrder) pass() {
	step := time.Duration(rapid.IntRange(0, 20_000).Draw(r.T, "ms")) * time.Millisecond
	if wake := r.order.wake(); !wake.IsZero() && wake.Before(r.now.Add(step)) {
		step = wake.Sub(r.now)
	}
	r.now = r.now.Add(step)
}

func TestAnyHistoryOfNotesIsWrittenInOrderAndInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &rawOrder{
			T: t, order: newOrder(rapid.IntRange(1, 20).Draw(t, "capacity")), now: marking().Verdict.At,
			waiting: map[string][]*queuedNote{}, skipped: map[string]int{},
			wait: map[string]time.Duration{}, until: map[string]time.Time{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(*rapid.T) { r.put() }, "start": func(*rapid.T) { r.start(); r.forget() },
			"end": func(*rapid.T) { r.end() }, "pass": func(*rapid.T) { r.pass() },
			"": func(t *rapid.T) {
				total := 0
				for _, notes := range r.waiting {
					total += len(notes)
				}
				if total != r.order.waiting || total > r.order.capacity {
					t.Fatalf("%d notes wait, the order has %d of %d", total, r.order.waiting, r.order.capacity)
				}
			},
		})
	})
}

func TestTheWaitDoublesWithEachFailureAndBeginsAnewAfterASuccess(t *testing.T) {
	o, now := newOrder(100), marking().Verdict.At
	for i := range 20 {
		o.put(&queuedNote{note: note(i), at: now})
	}
	tests := []struct {
		failed bool
		wait   time.Duration
	}{
		{true, 5 * time.Second},
		{true, 10 * time.Second},
		{false, 0},
		{true, 5 * time.Second},
		{true, 10 * time.Second},
		{true, 20 * time.Second},
		{true, 40 * time.Second},
		{true, time.Minute},
		{true, time.Minute},
	}
	for i, test := range tests {
		o.end(o.next(now, 0), test.failed, now)
		if test.wait > 0 && o.next(now.Add(test.wait-1), 0) != nil {
			t.Fatalf("after write %d the namespace waits for less than %v", i, test.wait)
		}
		now = now.Add(test.wait)
	}
}

func TestANoteOnANodeMakesRoomForItselfAmongNotesOfNamespaces(t *testing.T) {
	o := newOrder(4)
	onNode := func() *queuedNote { return &queuedNote{onNode: &nodeNote{}, node: "n1"} }
	shop := &queuedNote{note: noteIn("shop", 0)}
	for _, n := range []*queuedNote{onNode(), shop, onNode(), onNode()} {
		if dropped := o.put(n); dropped != nil {
			t.Fatalf("%+v is dropped while there is room", dropped)
		}
	}
	if dropped := o.put(onNode()); dropped != shop {
		t.Errorf("%+v is dropped, want the note of the namespace", dropped)
	}
	for _, n := range []*queuedNote{onNode(), {note: noteIn("shop", 1)}} {
		if dropped := o.put(n); dropped != n {
			t.Errorf("%+v is dropped, want %+v, as only notes on nodes wait", dropped, n)
		}
	}
}
