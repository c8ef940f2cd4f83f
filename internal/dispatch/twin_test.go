package dispatch

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// twin states the rules of the Core over flat lists: whose turn it is, is found by looking at all candidates.
type twin struct {
	t                        *testing.T
	slots, slowPlaces        int
	serial                   int
	waiting                  map[types.UID]*twinCandidate
	calls                    []*twinCall // in the order in which they started
	unsettled                map[types.UID]bool
	namespaces               map[string]*twinShare
	workloads                map[twinWorkload]*twinShare
	lines                    map[string]int // when each was last served
	rates                    []*twinRate
	ramp, slowStart          time.Time
	ownEnded                 time.Time
	throttled                time.Time
	pace                     pace
	outage                   outage
	leads, paused            bool
	leading, leadingAtLast   bool
	yields                   bool
	started, kept, ownStarts int
}

type twinCandidate struct {
	Candidate
	serial  int
	offered time.Time // the first time, or the deadline if that is later
}

type twinWorkload struct {
	namespace string
	hash      uint64
}

// twinShare is the memory of a namespace or of a workload.
type twinShare struct {
	served            int
	slowEnd, quickEnd time.Time // of a workload: of the last call that was slow, or quick; zero: none
	quickSince        int       // of a namespace: how many calls were quick since the last slow call ended
}

type twinCall struct {
	*twinCandidate
	kind        kind
	way         int
	at          time.Time
	slow, probe bool
	tokens      []*twinBucket
}

// twinRate is a rate, and a bucket for each of its groups.
type twinRate struct {
	policy.Rate
	began   time.Time
	fresh   twinBucket
	buckets map[string]*twinBucket
}

type twinBucket struct {
	rate            *twinRate
	group           string
	level           time.Duration
	at              time.Time
	interval, burst time.Duration
	log             []twinTokens // since the rates were last configured
}

// twinTokens are tokens that were taken; negative: that came back.
type twinTokens struct {
	at time.Time
	n  int64
}

func (t *twinBucket) fill(now time.Time) {
	t.level = min(t.level+now.Sub(t.at), t.burst*t.interval)
	t.at = now
}

func (t *twinBucket) take(now time.Time) {
	t.fill(now)
	t.level -= t.interval
	t.log = append(t.log, twinTokens{now, 1})
}

func (t *twinBucket) giveBack(now time.Time) {
	t.fill(now)
	t.log = append(t.log, twinTokens{now, -1})
	t.level = min(t.level+t.interval, t.burst*t.interval)
}

// within says which window had more calls than the rate permits, less those that have given their tokens back in it.
func (t *twinBucket) within(now time.Time) error {
	n := int64(0)
	for _, e := range slices.Backward(t.log) {
		n += e.n
		if n > int64(t.burst+now.Sub(e.at)/t.interval) {
			return fmt.Errorf("rate %s, group %q: %d calls in %v, burst %d", t.rate.Name, t.group, n, now.Sub(e.at), t.burst)
		}
	}
	return nil
}

func (t *twin) next() int {
	t.serial++
	return t.serial
}

func (t *twin) configure(now time.Time, rates []policy.Rate, anew bool) {
	old := t.rates
	if anew {
		old = nil
	}
	t.rates = nil
	for _, r := range rates {
		next := &twinRate{Rate: r, began: now, buckets: map[string]*twinBucket{}}
		interval, burst := time.Duration(float64(time.Second)/r.EvictionsPerSecond), time.Duration(r.Burst)
		next.fresh = twinBucket{at: now, interval: interval, burst: burst, rate: next}
		for _, o := range old {
			if o.Name != r.Name || o.TopologyKey != r.TopologyKey {
				continue
			}
			carry := func(b twinBucket) twinBucket {
				b.fill(now)
				if b.interval != interval || b.burst != burst {
					tokens := b.level / b.interval
					if b.level%b.interval < 0 {
						tokens--
					}
					b.level = min(tokens, burst) * interval
				}
				b.rate, b.log, b.interval, b.burst = next, nil, interval, burst
				return b
			}
			next.fresh = carry(o.fresh)
			for g, b := range o.buckets {
				b := carry(*b)
				next.buckets[g] = &b
			}
		}
		t.rates = append(t.rates, next)
	}
	for _, k := range t.calls {
		had := k.tokens
		if k.tokens = t.bucketsOf(&k.Candidate, k.way); anew {
			had = nil
		}
		for _, b := range k.tokens {
			if !slices.ContainsFunc(had, func(o *twinBucket) bool {
				return o.rate.Name == b.rate.Name && o.rate.TopologyKey == b.rate.TopologyKey && o.group == b.group
			}) {
				b.fill(now)
				b.level -= b.interval
			}
		}
	}
	clear(t.lines)
	for _, c := range t.inOrder() {
		t.stand(c)
	}
}

func (t *twin) inOrder() []*twinCandidate {
	var all []*twinCandidate
	for _, c := range t.waiting {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *twinCandidate) int { return a.serial - b.serial })
	return all
}

func (t *twin) bucketsOf(c *Candidate, way int) (all []*twinBucket) {
	key := c.Ways[way].Verdict.Taint
	if key == nil {
		return nil
	}
	for _, r := range t.rates {
		if len(r.Taints) > 0 && !slices.Contains(r.Taints, policy.TaintKey{Key: key.Key}) {
			continue
		}
		group := policy.GroupOf(r.TopologyKey, c.NodeLabels)
		if r.buckets[group] == nil {
			b := r.fresh
			b.group = group
			r.buckets[group] = &b
		}
		all = append(all, r.buckets[group])
	}
	return all
}

// lineOf names the line of a candidate: its namespace, and the rates that it waits for.
func (t *twin) lineOf(c *Candidate) string {
	name := c.Namespace
	for i := range c.Ways {
		name += ";"
		for _, b := range t.bucketsOf(c, i) {
			name += b.rate.Name + "/" + b.group + ","
		}
	}
	return name
}

func (t *twin) wayOf(now time.Time, c *Candidate) (int, bool) {
	for i := range c.Ways {
		ready := true
		for _, b := range t.bucketsOf(c, i) {
			b.fill(now)
			ready = ready && b.level >= b.interval
		}
		if ready {
			return i, true
		}
	}
	return 0, false
}

func (t *twin) share(c *Candidate) (n, l *twinShare) {
	key := twinWorkload{c.Namespace, c.LabelHash}
	if t.namespaces[c.Namespace] == nil {
		t.namespaces[c.Namespace] = &twinShare{served: t.next()}
	}
	if t.workloads[key] == nil {
		t.workloads[key] = &twinShare{served: t.next()}
	}
	return t.namespaces[c.Namespace], t.workloads[key]
}

func (t *twin) stand(c *twinCandidate) {
	if c.Own != Other {
		return
	}
	t.share(&c.Candidate)
	if line := t.lineOf(&c.Candidate); t.lines[line] == 0 {
		t.lines[line] = t.next()
	}
}

func (t *twin) count(is func(*twinCall) bool) (n int) {
	for _, k := range t.calls {
		if is(k) {
			n++
		}
	}
	return n
}

func (t *twin) used(of kind) int { return t.count(func(k *twinCall) bool { return k.kind == of }) }

// namespaceSpeed is the speed of the slowest workload that is known.
func (t *twin) namespaceSpeed(now time.Time, name string) (is speed) {
	for of, s := range t.workloads {
		if of.namespace == name {
			is = max(is, t.speedOf(now, s, of))
		}
	}
	return is
}

func (t *twin) speedOf(now time.Time, s *twinShare, of twinWorkload) speed {
	switch {
	case t.count(func(k *twinCall) bool { return k.slow && inWorkload(of)(k) }) > 0,
		!s.slowEnd.IsZero() && now.Sub(s.slowEnd) < remembered:
		return slow
	case !s.quickEnd.IsZero() && now.Sub(s.quickEnd) < remembered:
		return quick
	}
	return unknown
}

func inNamespace(name string) func(*twinCall) bool {
	return func(k *twinCall) bool { return k.Namespace == name }
}

func inWorkload(key twinWorkload) func(*twinCall) bool {
	return func(k *twinCall) bool { return k.Namespace == key.namespace && k.LabelHash == key.hash }
}

func (t *twin) isSlow(now time.Time, name string) bool {
	return t.namespaceSpeed(now, name) == slow
}

// prune forgets what is neither in use nor known, as if it had never been.
func (t *twin) prune(now time.Time) {
	used := map[string]bool{}
	lines := map[string]bool{}
	for _, c := range t.waiting {
		if c.Own == Other {
			used[c.Namespace], used[fmt.Sprint(c.Namespace, "/", c.LabelHash)] = true, true
			lines[t.lineOf(&c.Candidate)] = true
		}
	}
	for line := range t.lines {
		if !lines[line] {
			delete(t.lines, line)
		}
	}
	for _, k := range t.calls {
		used[k.Namespace], used[fmt.Sprint(k.Namespace, "/", k.LabelHash)] = true, true
	}
	for key, s := range t.workloads {
		if !used[fmt.Sprint(key.namespace, "/", key.hash)] && t.speedOf(now, s, key) == unknown {
			delete(t.workloads, key)
			continue
		}
		used[key.namespace] = true
	}
	for name := range t.namespaces {
		if !used[name] {
			delete(t.namespaces, name)
		}
	}
}

// pass makes calls slow, and gives them slow places.
func (t *twin) pass(now time.Time) {
	for _, k := range t.calls {
		k.slow = k.slow || now.Sub(k.at) >= SlowAfter
	}
	t.moveSlow()
	t.prune(now)
}

func (t *twin) moveSlow() {
	for _, k := range t.calls {
		if k.slow && k.kind == slot && t.used(slowPlace) < t.slowPlaces {
			k.kind, k.probe = slowPlace, false
		}
	}
}

// permitted is a start that the rules permit.
type permitted struct {
	*twinCandidate
	kind   kind
	way    int
	probe  bool
	rated  bool // each of its ways has rates
	inKind int  // calls of its namespace in this kind of place
	key    []int
}

// turns returns the starts that the rules permit now: those whose turn it is, of each node the first.
func (t *twin) turns(now time.Time) []permitted {
	switch {
	case !t.leads, t.paused, !t.leading, t.throttled.After(now), t.pace.next.After(now),
		t.outage.on() && (t.outage.probing || t.outage.until.After(now)):
		return nil
	}
	inSlots := t.used(slot)
	slotFree := inSlots < t.slots && (inSlots < 4 || now.Sub(t.ramp) >= time.Duration(inSlots-3)*4*time.Millisecond)
	slowFree := t.used(slowPlace) < (3*t.slowPlaces+3)/4 && now.Sub(t.slowStart) >= 25*time.Millisecond
	own, yields := t.own(now, slotFree)
	if own != nil && !own.Deadline.Add(time.Minute).After(now) && !yields {
		return t.ownTurn(now, own)
	}
	var all []permitted
	for _, c := range t.waiting {
		if c.Own == Other {
			all = append(all, t.mayStart(now, c, slotFree, slowFree)...)
		}
	}
	if len(all) == 0 && own != nil && !yields {
		return t.ownTurn(now, own)
	}
	return firsts(all)
}

// own returns the first of the pods of this program, if it has a slot and a token.
func (t *twin) own(now time.Time, slotFree bool) (own *twinCandidate, yields bool) {
	for _, c := range t.waiting {
		if c.Own != Other && (own == nil || cmp.Or(cmp.Compare(c.Own, own.Own), order(c, own)) < 0) {
			own = c
		}
	}
	if own == nil || !slotFree || now.Sub(own.offered) < ownPatience || now.Sub(t.ownEnded) < ownGap ||
		t.count(func(k *twinCall) bool { return k.Own != Other }) > 0 {
		return nil, false
	}
	if own.Own == Self && t.yields {
		return own, true
	}
	if _, ready := t.wayOf(now, &own.Candidate); !ready {
		return nil, false
	}
	return own, false
}

func (t *twin) ownTurn(now time.Time, own *twinCandidate) []permitted {
	way, _ := t.wayOf(now, &own.Candidate)
	return []permitted{{twinCandidate: own, way: way}}
}

func order(a, b *twinCandidate) int {
	return cmp.Or(a.Deadline.Compare(b.Deadline), -cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.UID, b.UID))
}

// mayStart returns the starts of one candidate that places and rates permit.
func (t *twin) mayStart(now time.Time, c *twinCandidate, slotFree, slowFree bool) (all []permitted) {
	way, ready := t.wayOf(now, &c.Candidate)
	if !ready {
		return nil
	}
	of := twinWorkload{c.Namespace, c.LabelHash}
	n, l := t.namespaces[c.Namespace], t.workloads[of]
	namespace := t.namespaceSpeed(now, c.Namespace)
	workload := t.speedOf(now, l, of)
	add := func(d door, probe bool) {
		k := d.place()
		key := []int{
			t.count(func(o *twinCall) bool { return o.kind == k && o.Namespace == c.Namespace }), n.served,
			t.lines[t.lineOf(&c.Candidate)], int(d),
		}
		if namespace == slow {
			known := 0 // workloads known to be quick go before a probe
			if probe {
				known = 1
			}
			key = append(key, known, t.count(inWorkload(of)), l.served)
		}
		inKind := key[0]
		rated := true
		for i := range c.Ways {
			rated = rated && len(t.bucketsOf(&c.Candidate, i)) > 0
		}
		if rated {
			key[0] = t.count(inNamespace(c.Namespace))
		}
		all = append(all, permitted{c, k, way, probe, rated, inKind, key})
	}
	if namespace != slow {
		if slotFree && (namespace == quick || t.count(inNamespace(c.Namespace)) == 0) {
			add(toSlot, false)
		}
		return all
	}
	ofSlow := t.count(func(k *twinCall) bool { return k.kind == slot && t.isSlow(now, k.Namespace) })
	probes := t.count(func(k *twinCall) bool { return k.probe && k.Namespace == c.Namespace })
	if slotFree && ofSlow < (t.slots+1)/2 && (workload == quick || workload == unknown && probes == 0) {
		add(toSlotOfSlow, workload == unknown)
	}
	if slowFree && workload != quick {
		add(toSlowPlace, false)
	}
	return all
}

// firsts returns those with the least key, of each node the first. Those that wait for rates are compared with others by
// the calls in their kind of place.
func firsts(all []permitted) []permitted {
	rated := leastOf(slices.DeleteFunc(slices.Clone(all), func(p permitted) bool { return !p.rated }))
	others := leastOf(slices.DeleteFunc(slices.Clone(all), func(p permitted) bool { return p.rated }))
	if len(rated) == 0 {
		return others
	}
	key := slices.Clone(rated[0].key)
	key[0] = rated[0].inKind
	if len(others) > 0 && slices.Compare(others[0].key, key) < 0 {
		return others
	}
	return rated
}

func leastOf(all []permitted) (first []permitted) {
	for _, p := range all {
		if !slices.ContainsFunc(all, func(o permitted) bool {
			by := slices.Compare(o.key, p.key)
			return by < 0 || by == 0 && o.Node == p.Node && order(o.twinCandidate, p.twinCandidate) < 0
		}) {
			first = append(first, p)
		}
	}
	return first
}

// take takes in a start of the Core, which must be among those that are permitted.
func (t *twin) take(now time.Time, s eviction.Request) error {
	uid := s.Pod.UID
	may := t.turns(now)
	i := slices.IndexFunc(may, func(p permitted) bool { return p.UID == uid })
	if i < 0 {
		return fmt.Errorf("the call for %s starts, but only these may: %v; by key %v, its own %v", uid, names(may), may, t.mayStart(now, t.waiting[uid], true, true))
	}
	p := may[i]
	if want := p.Ways[p.way].Attempt; s.Attempt != want {
		return fmt.Errorf("%s: way %d is sent instead of %d", uid, s.Attempt, want)
	}
	k := &twinCall{twinCandidate: p.twinCandidate, kind: p.kind, way: p.way, at: now, probe: p.probe}
	delete(t.waiting, uid)
	n, l := t.share(&p.Candidate)
	if p.Own == Other {
		t.lines[t.lineOf(&p.Candidate)] = t.next()
	} else {
		t.ownStarts++
	}
	n.served = t.next()
	l.served = n.served
	t.outage.probing = t.outage.on()
	t.pace.take(now)
	if p.kind == slowPlace {
		t.slowStart = now
	} else if t.used(slot) == 0 {
		t.ramp = now
	}
	k.tokens = t.bucketsOf(&p.Candidate, p.way)
	t.calls = append(t.calls, k)
	t.started++
	for _, b := range k.tokens {
		b.take(now)
		if err := b.within(now); err != nil {
			return err
		}
	}
	t.prune(now)
	return nil
}

func names(may []permitted) (all []string) {
	for _, p := range may {
		all = append(all, fmt.Sprintf("%s/%s in %d", p.Namespace, p.UID, p.kind))
	}
	return all
}

// apply takes in an input, and returns what Taken is to be.
func (t *twin) apply(now time.Time, in Input) (taken bool) {
	switch in := in.(type) {
	case Offered:
		return t.offer(now, in.Candidate)
	case Withdrawn:
		_, taken = t.waiting[in.UID]
		delete(t.waiting, in.UID)
	case Settled:
		delete(t.unsettled, in.UID)
	case CallEnded:
		t.end(now, in)
	case NodeRead:
		t.outage.nodeRead(now, in.Sent, &in.Outcome)
	case ServerAnswered:
		t.outage.nudge(now)
	case Configured:
		t.slots = in.Slots
		t.configure(now, in.Rates, false)
	case Paused:
		t.paused = in.Paused
	case TermBegan:
		t.leads = true
		var list []policy.Rate
		for _, r := range t.rates {
			list = append(list, r.Rate)
		}
		t.configure(now, list, true)
	case TermEnded:
		t.leads = false
	}
	return taken
}

func (t *twin) offer(now time.Time, c Candidate) bool {
	if t.unsettled[c.UID] || t.count(func(k *twinCall) bool { return k.UID == c.UID }) > 0 {
		return false
	}
	serial, offered := 0, now
	if old := t.waiting[c.UID]; old != nil {
		serial, offered = old.serial, old.offered
		if old.Own != Other || c.Own != Other || old.LabelHash != c.LabelHash || old.Namespace != c.Namespace || old.Node != c.Node ||
			t.lineOf(&old.Candidate) != t.lineOf(&c) {
			delete(t.waiting, c.UID)
			t.prune(now)
		}
	} else {
		serial = t.next()
	}
	t.waiting[c.UID] = &twinCandidate{c, serial, later(offered, c.Deadline)}
	t.stand(t.waiting[c.UID])
	return true
}

func (t *twin) end(now time.Time, in CallEnded) {
	i := slices.IndexFunc(t.calls, func(k *twinCall) bool { return k.UID == in.UID })
	k, o := t.calls[i], in.Outcome
	t.calls = slices.Delete(t.calls, i, i+1)
	t.unsettled[in.UID] = true
	if !o.MayHaveDeleted() && o.Kind != eviction.DryRun {
		for _, b := range k.tokens {
			b.giveBack(now)
		}
	} else if k.Own != Other {
		t.ownEnded = now
	}
	n, l := t.share(&k.Candidate)
	switch {
	case k.slow:
		l.slowEnd, l.quickEnd = now, time.Time{}
		n.quickSince = 0
	case o.Kind == eviction.Accepted || o.Kind == eviction.Blocked || o.Kind == eviction.DryRun,
		o.Cause == eviction.CauseAdmission || o.Cause == eviction.CauseWebhook:
		n.quickSince++
		if n.quickSince >= recovered && t.count(func(other *twinCall) bool { return other.slow && other.Namespace == k.Namespace }) == 0 {
			for key, l := range t.workloads {
				if key.namespace == k.Namespace {
					l.slowEnd = time.Time{}
				}
			}
		}
		if t.speedOf(now, l, twinWorkload{k.Namespace, k.LabelHash}) != slow {
			l.quickEnd = now
		}
	}
	t.moveSlow()
	if o.Kind == eviction.Throttled {
		t.throttled = later(t.throttled, now.Add(o.RetryAfter))
	}
	t.outage.called(now, k.at, &o)
}

// history is one random history of a Core and its twin.
type history struct {
	*twin
	core  *Core
	r     *rand.Rand
	now   time.Time
	alarm time.Time
	zones int
	pods  int
	waits map[eviction.WaitCause]int // how often a candidate waited for what after a step

	waited map[types.UID]map[eviction.WaitCause]bool // what each candidate has waited for since it was offered
	called map[types.UID]eviction.Wait               // what the candidates of calls that are not settled count as
}

func newHistory(t *testing.T, seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 1))
	h := &history{
		r: r, now: time.Unix(1000, 0), zones: 1 + r.IntN(3), pods: 1 + r.IntN(30),
		waited: map[types.UID]map[eviction.WaitCause]bool{}, called: map[types.UID]eviction.Wait{},
	}
	h.twin = &twin{
		t: t, slots: 1 + r.IntN(8), slowPlaces: 1 + r.IntN(8), waiting: map[types.UID]*twinCandidate{}, unsettled: map[types.UID]bool{},
		namespaces: map[string]*twinShare{}, workloads: map[twinWorkload]*twinShare{}, lines: map[string]int{}, leading: true,
		leadingAtLast: true, yields: r.IntN(2) == 0, outage: outage{jitter: func() float64 { return .5 }},
	}
	o := CoreOptions{
		Slots: h.slots, SlowPlaces: h.slowPlaces, Rates: h.someRates(), Leading: func() bool { return h.leading },
		Jitter: func() float64 { return .5 }, Yields: h.yields, Upcoming: func() time.Time { return time.Time{} },
	}
	if r.IntN(4) == 0 {
		o.CallsPerSecond = 50
		h.pace = newPace(50)
	}
	h.core = NewCore(h.now, o)
	h.configure(h.now, o.Rates, true)
	return h
}

func (h *history) someRates() (all []policy.Rate) {
	for i := range h.r.IntN(4) {
		r := policy.Rate{Name: fmt.Sprint("rate", i), EvictionsPerSecond: []float64{.5, 2, 20, 500}[h.r.IntN(4)], Burst: 1 + h.r.IntN(4)}
		if h.r.IntN(2) == 0 {
			r.TopologyKey = "zone"
		}
		if h.r.IntN(2) == 0 {
			r.Taints = []policy.TaintKey{{Key: "a"}}
		}
		all = append(all, r)
	}
	return all
}

func (h *history) candidate() Candidate {
	i := h.r.IntN(h.pods)
	c := Candidate{
		Pod: &taint.Pod{
			UID: types.UID(fmt.Sprintf("p%02d", i)), Namespace: fmt.Sprint("n", i%4), Node: fmt.Sprint("node", i%3), LabelHash: uint64(i / 4 % 3),
			Priority: int32(h.r.IntN(2)),
		},
		Deadline: h.now.Add(-time.Duration(h.r.IntN(3)) * time.Second),
	}
	c.NodeLabels = map[string]string{"zone": fmt.Sprint(i % h.zones)}
	if i%11 == 10 {
		c.Own = Own(1 + i/11%2)
	}
	if h.r.IntN(8) == 0 {
		c.Node = fmt.Sprint("node", h.r.IntN(3))
	}
	for n := range 1 + h.r.IntN(2) {
		way := eviction.Request{Attempt: n, Pod: c.Pod}
		if h.r.IntN(5) > 0 {
			way.Verdict.Taint = &v1.Taint{Key: []string{"a", "b"}[h.r.IntN(2)]}
		}
		c.Ways = append(c.Ways, way)
	}
	return c
}

func (h *history) outcome() eviction.Outcome {
	kinds := []eviction.Outcome{
		{Kind: eviction.NotFound},
		{Kind: eviction.Blocked},
		{Kind: eviction.Unconfirmed},
		{Kind: eviction.DryRun},
		{Kind: eviction.Refused, Cause: eviction.CauseAdmission},
		{Kind: eviction.Failed, Cause: eviction.CauseTimeout},
		{Kind: eviction.Failed, Cause: eviction.CauseServer, NothingDeleted: true},
		{Kind: eviction.Interrupted, NothingDeleted: true},
		{Kind: eviction.Unavailable},
		{Kind: eviction.Throttled, RetryAfter: time.Duration(h.r.IntN(500)) * time.Millisecond},
	}
	if i := h.r.IntN(2 * len(kinds)); i < len(kinds) {
		return kinds[i]
	}
	return eviction.Outcome{Kind: eviction.Accepted}
}

func (h *history) input() Input {
	switch i := h.r.IntN(100); {
	case i < 40:
		return Offered{h.candidate()}
	case i < 45:
		return Withdrawn{h.candidate().UID}
	case i < 70 && len(h.calls) > 0:
		return CallEnded{h.calls[h.r.IntN(len(h.calls))].UID, h.outcome()}
	case i < 85 && len(h.unsettled) > 0:
		var all []types.UID
		for uid := range h.unsettled {
			all = append(all, uid)
		}
		slices.Sort(all)
		return Settled{all[h.r.IntN(len(all))]}
	case i == 86:
		return Configured{Rates: h.someRates(), Slots: 1 + h.r.IntN(8)}
	case i < 89:
		return Paused{!h.paused}
	case i == 90 && h.leads:
		return TermEnded{}
	case i < 93 && !h.leads && len(h.calls) == 0:
		return TermBegan{}
	case i == 93:
		return NodeRead{h.now.Add(-time.Duration(h.r.IntN(500)) * time.Millisecond), h.outcome()}
	case i == 94:
		return ServerAnswered{}
	case i == 95:
		h.leading = !h.leading
	}
	return TimePassed{}
}

// wait lets some time pass, with the steps that are due in it.
func (h *history) wait() error {
	longest := []time.Duration{0, time.Millisecond, 50 * time.Millisecond, time.Second, time.Second, 40 * time.Second}
	to := h.now.Add(time.Duration(h.r.Int64N(int64(longest[h.r.IntN(len(longest))]) + 1)))
	for !h.alarm.IsZero() && !h.alarm.After(to) {
		if err := h.at(h.alarm.Add(-1)); err != nil {
			return err
		}
		h.now = h.alarm
		if err := h.step(TimePassed{}); err != nil {
			return err
		}
	}
	h.now = to
	return h.at(to)
}

// at reports a start that the Core has missed at a moment at which it is not asked.
func (h *history) at(now time.Time) error {
	h.pass(now)
	if may := h.turns(now); len(may) > 0 && h.leadingAtLast {
		return fmt.Errorf("at %v nothing has started, but these may: %v", now.Sub(time.Unix(1000, 0)), names(may))
	}
	return nil
}

func (h *history) step(in Input) error {
	h.leadingAtLast = h.leading
	h.pass(h.now)
	taken := h.apply(h.now, in)
	h.prune(h.now)
	keptByRate := h.keptByRate()
	do := h.core.Step(h.now, in)
	if do.Taken != taken {
		return fmt.Errorf("taken is %v", do.Taken)
	}
	for _, s := range do.Starts {
		if err := h.take(h.now, s); err != nil {
			return err
		}
		if err := h.keeps(s.Pod.UID, in, keptByRate[s.Pod.UID]); err != nil {
			return err
		}
	}
	if may := h.turns(h.now); len(may) > 0 {
		return fmt.Errorf("nothing more has started, but these may: %v", names(may))
	}
	if h.alarm = do.Next; !do.Next.IsZero() && !do.Next.After(h.now) {
		return fmt.Errorf("the next step is due %v ago", h.now.Sub(do.Next))
	}
	h.kept += do.Kept
	return h.compare()
}

// keptByRate returns the candidates that a rate alone has kept from starting until just before a step.
func (h *history) keptByRate() map[types.UID]bool {
	all := map[types.UID]bool{}
	for uid, it := range h.core.items {
		if s := h.core.Status(h.now.Add(-1), uid); s.Request == nil && !h.core.ready[it.class] {
			all[uid] = s.Waits.Cause == eviction.WaitsForRate && s.Waits.Rate != eviction.RateOfAllCalls
		}
	}
	return all
}

// keeps requires that a candidate whose call has started in a step counts as what it has waited for.
func (h *history) keeps(uid types.UID, in Input, keptByRate bool) error {
	is, waited := h.core.Status(h.now, uid).Waits, h.waited[uid]
	h.called[uid] = is
	delete(h.waited, uid)
	switch in := in.(type) {
	case Configured, TermBegan: // the rates are others
		keptByRate = false
	case Offered:
		keptByRate = keptByRate && in.Candidate.UID != uid
	}
	if keptByRate && is.Cause != eviction.WaitsForRate {
		return fmt.Errorf("%s has waited for a rate, and counts as %s during its call", uid, is.Cause)
	}
	if h.core.items[uid].kind == slowPlace && is.Cause != eviction.WaitsForSlowPlace && is.Cause != eviction.WaitsForRate {
		return fmt.Errorf("%s has a slow place, and counts as %s during its call", uid, is.Cause)
	}
	masked := waited[eviction.WaitsPaused] || waited[eviction.WaitsForServer]
	if is.Cause == eviction.WaitsForRate && !waited[is.Cause] && !masked {
		return fmt.Errorf("%s counts as %+v during its call, and has waited for %v", uid, is, waited)
	}
	return nil
}

// compare compares what the Core and its twin count.
func (h *history) compare() error {
	c := h.core
	got := []int{c.Waiting(), c.InFlight(), c.used(slot), c.used(slowPlace), len(c.namespaces), len(c.items)}
	want := []int{len(h.waiting), len(h.calls), h.used(slot), h.used(slowPlace), len(h.namespaces), len(h.waiting) + len(h.calls) + len(h.unsettled)}
	if !slices.Equal(got, want) {
		return fmt.Errorf("waiting, calls, slots, slow places, namespaces, items: %v, want %v", got, want)
	}
	size := 0
	for key, cl := range c.classes {
		if cl.size == 0 {
			return fmt.Errorf("class %q is empty", key)
		}
		size += cl.size
	}
	if size != len(h.waiting) {
		return fmt.Errorf("classes hold %d of %d candidates", size, len(h.waiting))
	}
	for uid, it := range c.items {
		is := c.Status(h.now, uid).Waits
		switch {
		case it.request == nil && h.waited[uid] == nil:
			h.waited[uid] = map[eviction.WaitCause]bool{is.Cause: true}
		case it.request == nil:
			h.waited[uid][is.Cause] = true
		case is != h.called[uid]:
			return fmt.Errorf("%s counts as %+v during its call, and as %+v at its start", uid, is, h.called[uid])
		}
		h.waits[is.Cause]++
	}
	for uid := range h.waited {
		if c.items[uid] == nil {
			delete(h.waited, uid)
		}
	}
	return nil
}

// TestEachStartIsOneThatTheRulesPermitAndNoneIsMissing compares random histories with a twin that looks at all candidates.
func TestEachStartIsOneThatTheRulesPermitAndNoneIsMissing(t *testing.T) {
	started, kept, own := 0, 0, 0
	waits := map[eviction.WaitCause]int{}
	for seed := range uint64(250) {
		h := newHistory(t, seed)
		h.waits = waits
		if err := h.step(TermBegan{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range 200 {
			if err := h.wait(); err != nil {
				t.Fatalf("seed %d, step %d, waiting: %v", seed, i, err)
			}
			in := h.input()
			if err := h.step(in); err != nil {
				t.Fatalf("seed %d, step %d, %T %+v: %v", seed, i, in, in, err)
			}
		}
		started, kept, own = started+h.started, kept+h.kept, own+h.ownStarts
	}
	if len(waits) < 5 {
		t.Errorf("candidates never waited for some things: %v", waits)
	}
	if started < 5000 || kept < 50 || own < 50 {
		t.Errorf("the histories are too calm: %d calls, %d kept their slots, %d for the program's own pods", started, kept, own)
	}
}
