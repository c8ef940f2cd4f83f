package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Warning is a consequence of a valid configuration that its author may not want.
type Warning struct {
	// Path of the policy, breaker or field, such as policies[2].
	Path string

	// Name is the name of the policy or breaker; empty for a field.
	Name string

	// Text describes the consequence.
	Text string
}

// String returns the warning as one sentence.
func (w Warning) String() string {
	if w.Name == "" {
		return w.Path + ": " + w.Text
	}
	return fmt.Sprintf("%s (%s): %s", w.Path, w.Name, w.Text)
}

// Warnings returns the warnings of the configuration, in its order, if it is loaded at the time now. Policies and
// guards must be valid.
func (c *Config) Warnings(now time.Time) []Warning {
	var all []Warning
	if text := c.deadNodeWarning(); text != "" {
		all = append(all, Warning{Path: "eviction.method", Text: text})
	}
	for i := range c.Policies {
		for _, text := range c.policyWarnings(i) {
			all = append(all, Warning{fmt.Sprintf("policies[%d]", i), c.Policies[i].Name, text})
		}
	}
	for i := range c.Guards.Rates {
		r := &c.Guards.Rates[i]
		if text := groupWarning(r.TopologyKey, 0); text != "" {
			all = append(all, Warning{fmt.Sprintf("guards.rates[%d]", i), r.Name, text})
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

// policyWarnings returns the warnings about the policy with this index: only one if the policy never applies.
func (c *Config) policyWarnings(i int) []string {
	if never := c.Never(i); never != "" {
		return []string{never}
	}
	p := &c.Policies[i]
	return slices.Concat(p.ownerWarnings(), c.triggerWarnings(p), p.deadNodeWarnings(), p.daemonSetWarnings(),
		p.kubeletWarnings(), c.otherManagerWarnings(p))
}

// ownerWarnings returns the warnings about the owner kinds that match no pod. At least one other kind may match pods.
func (p *Policy) ownerWarnings() (texts []string) {
	if p.Mode == Audit {
		return nil
	}
	for i, kind := range p.Match.OwnerKinds {
		if why := ownsNothing(kind); why != "" {
			texts = append(texts, fmt.Sprintf("match.ownerKinds[%d]: %s", i, why))
		}
	}
	return texts
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
		[]string{
			"node.cloudprovider.kubernetes.io/uninitialized", v1.TaintNodeNetworkUnavailable,
			"node.cilium.io/agent-not-ready", "ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready",
			"fsx.csi.aws.com/agent-not-ready", "startup-taint.cluster-autoscaler.kubernetes.io/",
			"ignore-taint.cluster-autoscaler.kubernetes.io/",
		},
		"every node carries the taint while it starts, and may carry it again when what removes the taint restarts",
	},
	{
		[]string{"status-taint.cluster-autoscaler.kubernetes.io/"},
		"the taint reports a condition that may pass, and the node loses its pods each time",
	},
	{
		[]string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "nvidia.com/gpu"},
		"nodes of this kind carry the taint permanently, and lose the pods that do not tolerate it",
	},
	{
		[]string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable},
		"the node lifecycle controller slows down or stops an outage's NoExecute taints, but not this one; add a breaker " +
			"that counts it",
	},
}

// triggerWarnings returns the warnings about risky triggers. A breaker makes taints of an outage safe.
func (c *Config) triggerWarnings(p *Policy) (texts []string) {
	if !p.calls() {
		return nil
	}
	for _, r := range risky {
		for _, key := range r.keys {
			triggers := slices.ContainsFunc(p.Match.Taints, func(t Taint) bool { return t.triggers(key) })
			if triggers && !c.hasBreaker(key) {
				texts = append(texts, "taint "+key+": "+r.text)
			}
		}
	}
	return texts
}

// hasBreaker reports whether the taint reports an outage and a breaker counts it.
func (c *Config) hasBreaker(key string) bool {
	counts := func(b Breaker) bool { return b.Counts(key) }
	return taint.ReportsOutage(key) && slices.ContainsFunc(c.Guards.Breakers, counts)
}

// triggers reports whether t selects taints with this key and the effect NoSchedule. If the key ends in /, triggers
// reports whether the key or keyPrefix of t begins with it; then t may have any effect.
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
	does := "method " + string(p.Method)
	if p.Method == Evict {
		does += " without deleteAfter"
	}
	for _, key := range []string{v1.TaintNodeOutOfService, v1.TaintNodeNotReady, v1.TaintNodeUnreachable} {
		if p.Match.mayName(TaintKey{key}) {
			texts = append(texts, does+" also applies to "+key+": pods of a node that is dead may not be replaced")
		}
	}
	return texts
}

// deadNodeWarning returns the warning about pods that eviction.method keeps on dead nodes; "" if policies decide first.
func (c *Config) deadNodeWarning() string {
	var keys []string
	for _, key := range []string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable} {
		part := Match{Taints: []Taint{{Key: key, Effects: []v1.TaintEffect{v1.TaintEffectNoExecute}}}}
		if c.Method == Evict && c.covering(&part, len(c.Policies)) == nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "Evict also applies to " + strings.Join(keys, " and ") + ": a dead node's pods are not ready, so while " +
		"they exist, a budget may block their eviction forever; add a policy for these taints with method: Delete, or with " +
		"Evict and deleteAfter"
}

// otherManagerWarnings returns the warnings about promises that do not hold while another taint manager runs, which is
// likely with eviction.method: Ignore.
func (c *Config) otherManagerWarnings(p *Policy) []string {
	fields := p.conflictsWithBuiltin()
	if c.Method != Ignore || p.Method == Ignore || len(fields) == 0 {
		return nil
	}
	return []string{strings.Join(fields, ", ") + ifOtherManagerRuns}
}

const ifOtherManagerRuns = " of NoExecute taints: with eviction.method: Ignore another taint manager deletes the pods at its own time, " +
	"if one runs; switch it off, or use NoSchedule taints"

func (c *Config) breakerWarnings(b *Breaker, now time.Time) (texts []string) {
	for _, t := range b.Taints {
		if !slices.ContainsFunc(c.Guards.Rates, func(r Rate) bool { return r.Counts(t.Key) }) {
			texts = append(texts, "no rate counts "+t.Key+": a reset lets all that it held go at once")
		}
	}
	if b.TopologyKey != "" && b.LeastNodes() < safeGroup {
		texts = append(texts, fmt.Sprintf("minNodes is %d: a kubelet that writes the label %s of its node makes a group of its own, and the breaker "+
			"may hold the pods of that node forever; leave minNodes out for %d", b.LeastNodes(), b.TopologyKey,
			safeGroup))
	}
	if text := groupWarning(b.TopologyKey, b.LeastAffected()); text != "" {
		texts = append(texts, text)
	}
	if b.ResetBefore != nil && b.ResetBefore.After(now) {
		texts = append(texts, "resetBefore "+b.ResetBefore.UTC().Format(time.RFC3339)+" is in the future: it ends the "+
			"trips that began before the file is loaded, and at each restart until then again; write the present time, "+
			"in UTC")
	}
	if c.Method == Ignore {
		texts = append(texts, "holds evictions"+ifOtherManagerRuns)
	}
	return texts
}

// groupWarning returns the warning about groups that do not protect as meant; "" if there is none. least is the minimum
// number of affected nodes for a trip; 0 for a rate.
func groupWarning(topologyKey string, least int) string {
	key := "topologyKey " + topologyKey + ": "
	deprecated := key + "nodes may lack the label, deprecated since Kubernetes 1.17; use "
	switch {
	case topologyKey == v1.LabelFailureDomainBetaZone:
		return deprecated + v1.LabelTopologyZone
	case topologyKey == v1.LabelFailureDomainBetaRegion:
		return deprecated + v1.LabelTopologyRegion
	case topologyKey == v1.LabelHostname && least > 1:
		return key + fmt.Sprintf("each group has one node, but a trip takes %d, so the breaker never trips; use %s",
			least, v1.LabelTopologyZone)
	}
	return ""
}

// ConflictsWithBuiltin names the settings whose promises do not hold while the built-in controller runs, such as
// "policy quarantine (method: Hold)", in the order of the configuration. Policies for NoSchedule taints alone do not
// conflict, because the built-in controller ignores NoSchedule taints. A nil Set has no conflicts.
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

// conflictsWithBuiltin returns the fields of the policy that keep pods longer than the built-in controller does.
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
