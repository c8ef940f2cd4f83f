package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// chance runs a random cluster, and knows the truth: when each taint was set.
type chance struct {
	*world
	dice   *rand.Rand
	set    map[string]map[string]time.Time // by node and key
	fresh  int
	leader *process
	others []*process

	faulty  time.Time // until when the journal had a problem
	broke   time.Time // when that problem began
	changed time.Time // when a taint was last set or removed
	ended   time.Time // when a hold last ended
}

// If a taint is removed and set again while the journal does not work, or within a second of a kill, it cannot be
// distinguished from the previous one. The test excludes that case, and allows all others.
func TestWhateverHappensNoTaintCountsFromBeforeItWasSet(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := &chance{world: w, dice: rand.New(rand.NewPCG(seed, 1)), set: map[string]map[string]time.Time{}}
				for i := range 1000 {
					w.needs.Triggers = append(w.needs.Triggers, fmt.Sprintf("key-%d", i))
				}
				slices.Sort(w.needs.Triggers)
				c.leader = w.start().lead()
				c.endHold()
				for range 60 {
					c.play()
					c.check()
					if t.Failed() {
						return
					}
				}
			})
		})
	}
}

func (c *chance) play() {
	switch n := c.dice.IntN(22); {
	case n >= 20:
		c.endHold()
	case n < 8:
		c.retaint(fmt.Sprintf("node-%d", c.dice.IntN(4)))
	case n < 12:
		time.Sleep(time.Duration(c.dice.IntN(40_000)) * time.Millisecond)
	case n < 14:
		time.Sleep(time.Duration(c.dice.IntN(1500)) * time.Millisecond)
	case n < 15:
		verbs := [][]string{{"update", "create"}, {"list", "watch"}, {"list", "watch", "update", "create"}}[c.dice.IntN(3)]
		c.fault(failing([]error{forbidden, broken}[c.dice.IntN(2)], verbs...))
		if c.dice.IntN(2) == 0 {
			c.cut()
		}
		if !c.faulty.After(time.Now()) {
			c.broke = time.Now()
		}
		c.faulty = time.Now().Add(time.Hour)
	case n < 17:
		c.fault(nil)
		if c.faulty.After(time.Now()) {
			c.faulty = time.Now()
		}
	case n < 18:
		c.others = append(c.others, c.launch(c.lastLed()))
	case n < 19:
		c.restart()
	default:
		c.handOver()
	}
}

// lastLed returns an option with the time that the lease shows.
func (c *chance) lastLed() func(*store.Options) {
	now := time.Now()
	return func(o *store.Options) { o.LastLed = now }
}

// well reports whether the journal has been working for long enough to have processed all changes.
func (c *chance) well() bool {
	return time.Since(c.faulty) > 45*time.Second && time.Since(c.changed) > 1100*time.Millisecond
}

// retaint gives a node some of its taints again, and perhaps new ones.
func (c *chance) retaint(node string) {
	now, kept := time.Now(), map[string]time.Time{}
	for _, key := range slices.Sorted(maps.Keys(c.set[node])) {
		if c.dice.IntN(2) == 0 {
			kept[key] = c.set[node][key]
		}
	}
	for range c.dice.IntN(3) {
		c.fresh++
		kept[fmt.Sprintf("key-%d", c.fresh)+[]string{"", ":NoSchedule"}[c.dice.IntN(2)]] = now
	}
	if c.well() && c.dice.IntN(2) == 0 { // removed and set again
		c.apply(node, kept)
		for _, key := range slices.Sorted(maps.Keys(kept))[:min(1, len(kept))] {
			delete(kept, key)
			c.apply(node, kept)
			kept[key] = now
		}
	}
	c.apply(node, kept)
	if !c.faulty.After(now) {
		time.Sleep(1200 * time.Millisecond) // it may be one that was set again
	}
}

func (c *chance) apply(node string, taints map[string]time.Time) {
	c.taint(node, slices.Sorted(maps.Keys(taints))...)
	c.set[node], c.changed = maps.Clone(taints), time.Now()
}

// restart ends the leader, gracefully or not, and starts another process instead.
func (c *chance) restart() {
	well := c.well()
	before := map[string]string{}
	for node := range c.set {
		before[node] = c.leader.since(node)
	}
	if c.dice.IntN(2) == 0 {
		c.leader.kill()
	} else {
		c.leader.stop()
	}
	last, option := time.Now(), c.lastLed()
	time.Sleep(time.Duration(c.dice.IntN(200)) * time.Second)
	c.leader = c.start(option).lead()
	if well && c.well() {
		for node := range c.set {
			c.leader.knows("after a restart", node, before[node])
		}
	}
	c.checkHold("after a restart", well && c.well(), last)
}

// endHold ends a hold.
func (c *chance) endHold() {
	c.ended = time.Now()
	c.leader.SetGuards(breaker.Record{Holds: []policy.HoldRecord{{By: policy.ByPause, Ended: c.ended}}})
	synctest.Wait()
	c.changed = c.ended
}

// checkHold checks what a new leader knows of the end of the last hold. It may miss what the last leader could not write
// for less than a minute.
func (c *chance) checkHold(when string, well bool, until time.Time) {
	r, known := c.leader.Guards()
	lost := until.Sub(c.ended) < 1100*time.Millisecond || c.faulty.After(c.broke) && !c.ended.Before(c.broke) && until.Sub(c.broke) < time.Minute
	switch {
	case well && !known:
		c.Errorf("%s: the end of the hold is not known\n%s", when, strings.Join(c.leader.log, "\n"))
	case known && (len(r.Holds) != 1 || r.Holds[0].Ended.Before(c.ended)) && !lost:
		c.Errorf("%s: the hold ended at %v, and it knows %s\n%s", when, c.ended.Sub(c.born), c.show(r), strings.Join(c.leader.log, "\n"))
	}
	c.endHold()
}

// handOver makes another process the leader, if there is one.
func (c *chance) handOver() {
	if len(c.others) == 0 {
		return
	}
	c.leader.resign()
	c.others = append(c.others, c.leader)
	c.leader, c.others = c.others[0], c.others[1:]
	c.leader.lead()
	c.checkHold("after a change of leader", false, time.Now())
}

// check compares the state of each process with the truth.
func (c *chance) check() {
	c.pass(0)
	for _, p := range append(slices.Clone(c.others), c.leader) {
		for _, n := range p.watcher.Tainted() {
			for _, h := range slices.Concat(n.Taints, n.Triggers) {
				at, ok := c.set[n.Name][strings.TrimSuffix(h[0].Taint.Key+":"+string(h[0].Taint.Effect), ":NoExecute")]
				if !ok || h[0].Since.Before(at) {
					c.Errorf("%s on %s counts from %v; it was set at %v (%t)\n%s", h[0].Taint.Key, n.Name, h[0].Since, at, ok, strings.Join(p.log, "\n"))
				}
			}
		}
	}
}
