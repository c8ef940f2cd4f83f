package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Warning is a consequence of a valid configuration that its author may not want.
type Warning struct {
	// Path of the policy or breaker, such as policies[2].
	Path string

	// Name is the name of the policy or breaker.
	Name string

	// Text describes the consequence.
	Text string
}

// String returns the warning as one sentence.
func (w Warning) String() string { return fmt.Sprintf("%s (%s): %s", w.Path, w.Name, w.Text) }

// Warnings returns the warnings of the configuration, in its order, if it is loaded at the time now. Policies and
// guards must be valid.
func (c *Config) Warnings(now time.Time) []Warning {
	var all []Warning
	for i := range c.Policies {
		p := &c.Policies[i]
		for _, text := range slices.Concat(p.triggerWarnings(), p.deadNodeWarnings(), p.daemonSetWarnings(),
			c.besideWarnings(p)) {
			all = append(all, Warning{fmt.Sprintf("policies[%d]", i), p.Name, text})
		}
	}
	for i := range c.Guards.Breakers {
		b := &c.Guards.Breakers[i]
		for _, text := range c.breakerWarnings(b, now) {
			all = append(all, Warning{fmt.Sprintf("guards.breakers[%d]", i), b.Name, text})
		}
	}
	return all
}

// risky are taints that nodes get in normal operation, with the consequence of a policy that makes them triggers. A key
// that ends in / is a prefix.
var risky = []struct {
	keys []string
	text string
}{
	{[]string{v1.TaintNodeUnschedulable}, "every cordon becomes a drain"},
	{
		[]string{"ToBeDeletedByClusterAutoscaler"},
		"the cluster autoscaler drains such nodes itself: both evict the same pods",
	},
	{[]string{"karpenter.sh/"}, "Karpenter drains such nodes itself: both evict the same pods"},
	{
		[]string{v1.TaintNodeMemoryPressure, v1.TaintNodeDiskPressure, v1.TaintNodePIDPressure},
		"a node under pressure loses all its pods, where its kubelet would evict as many as it must",
	},
	{
		[]string{"node.cloudprovider.kubernetes.io/uninitialized", v1.TaintNodeNetworkUnavailable},
		"every node carries the taint while it starts, and may carry it again when its cloud or network provider restarts",
	},
	{
		[]string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"},
		"nodes of the control plane carry the taint permanently, and lose the pods that do not tolerate it",
	},
}

// triggerWarnings returns the warnings about taints that have other purposes.
func (p *Policy) triggerWarnings() (texts []string) {
	if !p.calls() {
		return nil
	}
	for _, r := range risky {
		for _, key := range r.keys {
			if slices.ContainsFunc(p.Match.Taints, func(t Taint) bool { return t.triggers(key) }) {
				texts = append(texts, "taint "+key+": "+r.text)
			}
		}
	}
	return texts
}

// triggers reports whether the taint has this key and the effect NoSchedule. If the key ends in /, it reports whether
// the taint has this prefix, with any effect.
func (t *Taint) triggers(key string) bool {
	if prefix, ok := strings.CutSuffix(key, "/"); ok {
		return strings.HasPrefix(t.Key+t.KeyPrefix, prefix+"/")
	}
	return t.Key == key && t.hasEffect(v1.TaintEffectNoSchedule)
}

// deadNodeWarnings returns the warnings about pods that stay on nodes that may be dead.
func (p *Policy) deadNodeWarnings() (texts []string) {
	if p.Mode == Audit || p.Match.onlyNoSchedule() || p.Method == Delete || p.Method == Evict && p.DeleteAfter != nil {
		return nil
	}
	does := "method: " + string(p.Method)
	if p.Method == Evict {
		does += " without deleteAfter"
	}
	for _, key := range []string{v1.TaintNodeOutOfService, v1.TaintNodeNotReady, v1.TaintNodeUnreachable} {
		if p.Match.mayName(TaintKey{key}) {
			texts = append(texts, does+" also decides for "+key+": pods of a node that is dead may not be replaced")
		}
	}
	return texts
}

// besideWarnings returns the warnings about promises that do not hold beside another taint manager. With
// eviction.method: Ignore another taint manager is likely to run.
func (c *Config) besideWarnings(p *Policy) []string {
	fields := p.conflictsWithBuiltin()
	if c.Method != Ignore || p.Method == Ignore || len(fields) == 0 {
		return nil
	}
	return []string{strings.Join(fields, ", ") + besideBuiltIn}
}

const besideBuiltIn = " of NoExecute taints: with eviction.method: Ignore another taint manager deletes the pods at its own time, " +
	"if one runs; switch it off, or use NoSchedule taints"

func (c *Config) breakerWarnings(b *Breaker, now time.Time) (texts []string) {
	for _, t := range b.Taints {
		if !slices.ContainsFunc(c.Guards.Rates, func(r Rate) bool { return r.Counts(t.Key) }) {
			texts = append(texts, "no rate counts "+t.Key+": a reset lets all that it held go at once")
		}
	}
	if b.TopologyKey != "" && b.LeastNodes() < safeGroup {
		texts = append(texts, fmt.Sprintf("minNodes is %d: a kubelet that writes the label %s of its node makes a group of its own, and the breaker "+
			"may hold the pods of that node for ever; leave minNodes out for %d", b.LeastNodes(), b.TopologyKey,
			safeGroup))
	}
	if b.ResetBefore != nil && b.ResetBefore.After(now) {
		texts = append(texts, "resetBefore "+b.ResetBefore.UTC().Format(time.RFC3339)+" is in the future: it ends the "+
			"trips that began before the file is loaded, and at each restart until then again; write the present time, "+
			"in UTC")
	}
	if c.Method == Ignore {
		texts = append(texts, "holds evictions"+besideBuiltIn)
	}
	return texts
}

// ConflictsWithBuiltin names the settings whose promises do not hold while the built-in taint manager runs, such as
// "policy quarantine (method: Hold)", in the order of the configuration. Policies for NoSchedule taints alone do not
// conflict, because the built-in taint manager ignores NoSchedule taints. A nil Set has no conflicts.
func (s *Set) ConflictsWithBuiltin() (names []string) {
	if s == nil {
		return nil
	}
	c := &s.config
	if c.Method == Evict {
		names = append(names, "eviction.method: Evict")
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		if fields := p.conflictsWithBuiltin(); len(fields) > 0 {
			names = append(names, "policy "+p.Name+" ("+strings.Join(fields, ", ")+")")
		}
	}
	for i := range c.Guards.Rates {
		names = append(names, "rate "+c.Guards.Rates[i].Name)
	}
	for i := range c.Guards.Breakers {
		names = append(names, "breaker "+c.Guards.Breakers[i].Name)
	}
	return names
}

// conflictsWithBuiltin returns the fields of the policy that keep pods longer than the built-in taint manager does.
// gracePeriod, tolerations.max and tolerations.unlimited only let pods go earlier.
func (p *Policy) conflictsWithBuiltin() (fields []string) {
	if p.Mode == Audit || p.Match.onlyNoSchedule() {
		return nil
	}
	if p.Method != Delete {
		fields = append(fields, "method: "+string(p.Method))
	}
	if p.Tolerations != nil && p.Tolerations.Min != nil {
		fields = append(fields, "tolerations.min")
	}
	if p.Tolerations != nil && p.Tolerations.Absent != nil {
		fields = append(fields, "tolerations.absent")
	}
	return fields
}
