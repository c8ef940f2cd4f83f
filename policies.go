package taintmanager

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Policies are the options that a running [Manager] can replace, by [Manager.SetPolicies]. The fields have the meaning
// of the fields of [Options] with the same names. The zero value stands for a manager without policies.
type Policies struct {
	Policies []policy.Policy
	Guards   policy.Guards
	Method   Method
	Rules    taint.Rules
	Paused   bool
	Workers  int
}

// policies returns the part of the options that can be replaced.
func (o *Options) policies() Policies {
	return Policies{
		Policies: o.Policies, Guards: o.Guards, Method: o.Method, Rules: o.Rules, Paused: o.Paused,
		Workers: o.Workers,
	}
}

// complete returns the policies with defaults, and the configuration on which holds depend; or all errors as one
// error.
func (p Policies) complete() (Policies, breaker.Config, error) {
	o := Options{Method: p.Method, Workers: p.Workers}
	if err := o.configure(); err != nil {
		return p, breaker.Config{}, err
	}
	p.Method, p.Workers = o.Method, o.Workers
	c := breaker.Config{Paused: p.Paused, Config: policy.Config{
		Policies: p.Policies, Guards: p.Guards, Method: p.Method, Rules: p.Rules,
	}}
	set, problems := policy.Compile(c.Config)
	c.Set = set
	if err := problems.ToAggregate(); err != nil {
		return p, c, fmt.Errorf("taintmanager: %w", err)
	}
	return p, c, nil
}

// published returns the configuration in force as the journal publishes it, including the limit maxEvictionsPerSecond,
// or an error if the configuration is too large.
func (p *Policies) published(maxEvictionsPerSecond float64) ([]byte, error) {
	text, err := journal.Config{
		Method: p.Method, Policies: p.Policies, Guards: p.Guards, Paused: p.Paused,
		NoComparison: p.Rules.NoComparison, MaxEvictionsPerSecond: maxEvictionsPerSecond,
	}.Encode()
	if err != nil {
		return nil, fmt.Errorf("taintmanager: %w", err)
	}
	return text, nil
}

// SetPolicies replaces all fields of Policies, or none if it returns an error. Run must be running. SetPolicies blocks
// until the manager has synced and the cache has what the policies need, such as labels of nodes. A leader first
// publishes p in the journal. Then all pods on tainted nodes are judged again, and calls in flight are confirmed by the
// new policies. The result counts pods that became due, are due earlier or later, are now held, or now stay.
//
// The client needs the permissions that the doc comment of New lists, and list and watch on namespaces if a policy has
// a namespaceSelector.
func (m *Manager) SetPolicies(ctx context.Context, p Policies) (policy.Diff, error) {
	p, next, err := p.complete()
	if err != nil {
		return policy.Diff{}, err
	}
	published, err := p.published(m.options.MaxEvictionsPerSecond)
	if err != nil {
		return policy.Diff{}, err
	}
	var before policy.Judge
	var pods iter.Seq2[*taint.Pod, *taint.Node]
	err = m.tracker.Replace(ctx, next, func() {
		m.journal.SetConfig(ctx, published)
		before, pods = m.latestJudge(), m.judgedPods()
		m.dispatcher.SetRates(p.Guards.Rates, p.Workers)
		m.source.SetRules(p.Rules)
	})
	if err != nil {
		return policy.Diff{}, err
	}
	m.inForce.Store(&p)
	return policy.Compare(time.Now(), pods, before.Decide, m.latestJudge().Decide), nil
}

// judged makes a new judge the current one, and lets the shards judge all pods on tainted nodes again.
func (m *Manager) judged(j policy.Judge) {
	m.latest.Store(&j)
	for _, n := range m.source.Tainted() {
		m.shardOf(n.Name).NodeChanged(n.Name)
	}
}

// latestJudge returns the current judge.
func (m *Manager) latestJudge() policy.Judge { return *m.latest.Load() }

// judgedPods returns the pods on tainted nodes, each with its node, as they are now.
func (m *Manager) judgedPods() iter.Seq2[*taint.Pod, *taint.Node] {
	all := map[*taint.Pod]*taint.Node{}
	for _, n := range m.source.Tainted() {
		node, pods := m.source.PodsOn(n.Name)
		for _, pod := range pods {
			all[pod] = node
		}
	}
	return maps.All(all)
}

// conflictsWithBuiltin names the settings whose promises do not hold while the built-in controller runs.
func (m *Manager) conflictsWithBuiltin() (names []string) {
	if m.Paused() {
		names = append(names, "paused")
	}
	if m.options.MaxEvictionsPerSecond > 0 {
		names = append(names, "eviction.maxEvictionsPerSecond")
	}
	return append(names, m.latestJudge().Set.ConflictsWithBuiltin()...)
}

// apiMethod returns the method of calls whose request names none.
func (o *Options) apiMethod() Method {
	if o.Method == Ignore {
		return policy.Delete
	}
	return o.Method
}
