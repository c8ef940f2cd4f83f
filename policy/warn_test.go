package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/policy"
)

// TestWarnings lists configurations with their warnings, and similar ones without.
func TestWarnings(t *testing.T) {
	drain := func(key string) policy.Policy {
		p := staying(policy.Tolerations{Absent: secs(0)})
		p.Name, p.Match = "a", taints(policy.Taint{Key: key, Effects: noSchedule})
		return p
	}
	holdDrain := drain(v1.TaintNodeUnschedulable)
	holdDrain.Method, holdDrain.Tolerations = policy.Hold, nil
	ignoring := func(p policy.Policy) policy.Config {
		c := policies(p)
		c.Method = policy.Ignore
		return c
	}
	breaker := func(method policy.Method, rates ...policy.Rate) policy.Config {
		return policy.Config{Method: method, Guards: policy.Guards{Breakers: []policy.Breaker{zoneBreaker()}, Rates: rates}}
	}
	atLeast := func(nodes int32, topologyKey string) policy.Config {
		c := breaker("", policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1})
		c.Guards.Breakers[0].MinNodes, c.Guards.Breakers[0].TopologyKey = &nodes, topologyKey
		return c
	}
	single := func(most intstr.IntOrString) policy.Config {
		c := atLeast(1, v1.LabelHostname)
		c.Guards.Breakers[0].MaxNodes = most
		return c
	}
	guarded := func(p policy.Policy) policy.Config {
		c := breaker("", policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1})
		c.Policies = []policy.Policy{p}
		return c
	}
	but := func(list ...policy.Policy) policy.Config {
		c := policies(list...)
		c.Method = policy.Evict
		return c
	}
	everywhere := func(keys string) string {
		return "eviction.method: Evict also applies to " + keys + ": a dead node's pods are not ready, so while they exist, a " +
			"budget may block their eviction forever; add a policy for these taints with method: Delete, or with Evict and deleteAfter"
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	resetBefore := func(after time.Duration) policy.Config {
		c := breaker("", policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1})
		c.Guards.Breakers[0].ResetBefore = &metav1.Time{Time: now.Add(after)}
		return c
	}
	rate := func(topologyKey string) policy.Config {
		return policy.Config{Guards: policy.Guards{Rates: []policy.Rate{{Name: "r", TopologyKey: topologyKey, EvictionsPerSecond: 1, Burst: 1}}}}
	}
	const starts = ": every node carries the taint while it starts, and may carry it again when what removes the taint restarts"
	min, plain := only(policy.Delete, "x"), only(policy.Delete, "x")
	min.Tolerations = &policy.Tolerations{Min: secs(1), Absent: secs(1)}
	audits := only(policy.Hold, v1.TaintNodeUnreachable)
	audits.Mode = policy.Audit
	dead := hour(taints(policy.Taint{Key: v1.TaintNodeUnreachable}))
	const daemons = " has no effect on DaemonSet pods that do not tolerate the taint, because the DaemonSet controller deletes them"
	const kubelet = " keeps pods that do not tolerate the taint only until the node's kubelet starts again, because the kubelet ends them; a NoSchedule taint as the trigger avoids this"
	ofKind := func(kinds ...string) policy.Config {
		p := only(policy.Hold, "x")
		p.Match.OwnerKinds = kinds
		return policies(p)
	}
	const ignored = " of NoExecute taints: with eviction.method: Ignore another taint manager deletes the pods at its own time, if one runs; switch it off, or use NoSchedule taints"
	for name, c := range map[string]struct {
		config policy.Config
		want   []string
	}{
		"an own taint":             {policies(drain("example.com/maintenance")), nil},
		"every cordon":             {policies(drain(v1.TaintNodeUnschedulable)), []string{"policies[0] (a): taint node.kubernetes.io/unschedulable: every cordon becomes a drain"}},
		"a cordon that is held":    {policies(holdDrain), nil},
		"the autoscaler":           {policies(drain("ToBeDeletedByClusterAutoscaler")), []string{"policies[0] (a): taint ToBeDeletedByClusterAutoscaler: the cluster autoscaler drains such nodes itself: both evict the same pods"}},
		"Karpenter":                {policies(drain("karpenter.sh/disrupted")), []string{"policies[0] (a): taint karpenter.sh/: Karpenter drains such nodes itself: both evict the same pods"}},
		"pressure":                 {policies(drain(v1.TaintNodeDiskPressure)), []string{"policies[0] (a): taint node.kubernetes.io/disk-pressure: a node under pressure loses all its pods, where its kubelet would evict as many as it must"}},
		"a node that starts":       {policies(drain(v1.TaintNodeNetworkUnavailable)), []string{"policies[0] (a): taint node.kubernetes.io/network-unavailable" + starts}},
		"the control plane":        {policies(drain("node-role.kubernetes.io/control-plane")), []string{"policies[0] (a): taint node-role.kubernetes.io/control-plane: nodes of this kind carry the taint permanently, and lose the pods that do not tolerate it"}},
		"Hold on out-of-service":   {policies(only(policy.Hold, v1.TaintNodeOutOfService)), []string{"policies[0] (a): method Hold also applies to node.kubernetes.io/out-of-service: pods of a node that is dead may not be replaced", "policies[0] (a): method Hold" + daemons, "policies[0] (a): method Hold" + kubelet}},
		"Evict on unreachable":     {policies(only(policy.Evict, v1.TaintNodeUnreachable)), []string{"policies[0] (a): method Evict without deleteAfter also applies to node.kubernetes.io/unreachable: pods of a node that is dead may not be replaced"}},
		"Ignore on any taint":      {policies(policy.Policy{Method: policy.Ignore}), []string{"policies[0] (a): method Ignore also applies to node.kubernetes.io/not-ready: pods of a node that is dead may not be replaced", "policies[0] (a): method Ignore also applies to node.kubernetes.io/unreachable: pods of a node that is dead may not be replaced", "policies[0] (a): method Ignore" + daemons, "policies[0] (a): method Ignore" + kubelet}},
		"with deleteAfter":         {policies(dead), nil},
		"one that audits":          {policies(audits), nil},
		"Hold on any pod":          {policies(only(policy.Hold, "x")), []string{"policies[0] (a): method Hold" + daemons, "policies[0] (a): method Hold" + kubelet}},
		"Hold on DaemonSets":       {ofKind("DaemonSet"), []string{"policies[0] (a): method Hold" + daemons, "policies[0] (a): method Hold" + kubelet}},
		"Hold on those of a group": {ofKind("DaemonSet.apps"), []string{"policies[0] (a): method Hold" + daemons, "policies[0] (a): method Hold" + kubelet}},
		"Hold on others only":      {ofKind("ReplicaSet"), []string{"policies[0] (a): method Hold" + kubelet}},
		"Hold on another group's":  {ofKind("DaemonSet.apps.kruise.io"), []string{"policies[0] (a): method Hold" + kubelet}},
		"a breaker without a rate": {breaker(""), []string{"guards.breakers[0] (zones): no rate counts node.kubernetes.io/unreachable: a reset lets all that it held go at once"}},
		"with one for all taints":  {breaker("", policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}), nil},
		"with one for others":      {breaker("", policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1, Taints: []policy.TaintKey{{Key: "x"}}}), []string{"guards.breakers[0] (zones): no rate counts node.kubernetes.io/unreachable: a reset lets all that it held go at once"}},
		"next to the built-in one": {breaker(policy.Ignore, policy.Rate{Name: "r", EvictionsPerSecond: 1, Burst: 1}), []string{"guards.breakers[0] (zones): holds evictions" + ignored}},
		"a reset of later":         {resetBefore(time.Minute), []string{"guards.breakers[0] (zones): resetBefore 2026-01-01T00:01:00Z is in the future: it ends the trips that began before the file is loaded, and at each restart until then again; write the present time, in UTC"}},
		"a reset of now":           {resetBefore(0), nil},
		"two nodes of a group":     {atLeast(2, "zone"), []string{"guards.breakers[0] (zones): minNodes is 2: a kubelet that writes the label zone of its node makes a group of its own, and the breaker may hold the pods of that node forever; leave minNodes out for 3"}},
		"three nodes of a group":   {atLeast(3, "zone"), nil},
		"one of the whole cluster": {atLeast(1, ""), nil},
		"Evict next to it":         {ignoring(only(policy.Evict, "x")), []string{"policies[0] (a): method Evict" + daemons, "policies[0] (a): method: Evict" + ignored}},
		"min, absent next to it":   {ignoring(min), []string{"policies[0] (a): tolerations.absent" + daemons, "policies[0] (a): tolerations.min, tolerations.absent" + ignored}},
		"Delete next to it":        {ignoring(plain), nil},
		"a zone of old":            {atLeast(3, v1.LabelFailureDomainBetaZone), []string{"guards.breakers[0] (zones): topologyKey failure-domain.beta.kubernetes.io/zone: nodes may lack the label, deprecated since Kubernetes 1.17; use topology.kubernetes.io/zone"}},
		"a rate of old zones":      {rate(v1.LabelFailureDomainBetaZone), []string{"guards.rates[0] (r): topologyKey failure-domain.beta.kubernetes.io/zone: nodes may lack the label, deprecated since Kubernetes 1.17; use topology.kubernetes.io/zone"}},
		"a rate for each node":     {rate(v1.LabelHostname), nil},
		"a group for each node":    {atLeast(3, v1.LabelHostname), []string{"guards.breakers[0] (zones): topologyKey kubernetes.io/hostname: each group has one node, but a trip takes 3, so the breaker never trips; use topology.kubernetes.io/zone"}},
		"a limit of one node":      {single(intstr.FromInt32(1)), []string{"guards.breakers[0] (zones): minNodes is 1: a kubelet that writes the label kubernetes.io/hostname of its node makes a group of its own, and the breaker may hold the pods of that node forever; leave minNodes out for 3", "guards.breakers[0] (zones): topologyKey kubernetes.io/hostname: each group has one node, but a trip takes 2, so the breaker never trips; use topology.kubernetes.io/zone"}},
		"a limit of no node":       {single(intstr.FromInt32(0)), []string{"guards.breakers[0] (zones): minNodes is 1: a kubelet that writes the label kubernetes.io/hostname of its node makes a group of its own, and the breaker may hold the pods of that node forever; leave minNodes out for 3"}},
		"with a misspelled kind":   {ofKind("StatefulSet", "StatefulSets"), []string{"policies[0] (a): match.ownerKinds[1]: no pod is controlled by a StatefulSets; use StatefulSet", "policies[0] (a): method Hold" + kubelet}},
		"an outage by NoSchedule":  {policies(drain(v1.TaintNodeNotReady)), []string{"policies[0] (a): taint node.kubernetes.io/not-ready: the node lifecycle controller slows down or stops an outage's NoExecute taints, but not this one; add a breaker that counts it"}},
		"which a breaker counts":   {guarded(drain(v1.TaintNodeUnreachable)), nil},
		"a startup taint":          {policies(drain("node.cilium.io/agent-not-ready")), []string{"policies[0] (a): taint node.cilium.io/agent-not-ready" + starts}},
		"a driver that starts":     {policies(drain("ebs.csi.aws.com/agent-not-ready")), []string{"policies[0] (a): taint ebs.csi.aws.com/agent-not-ready" + starts}},
		"the autoscaler waits":     {policies(drain("startup-taint.cluster-autoscaler.kubernetes.io/x")), []string{"policies[0] (a): taint startup-taint.cluster-autoscaler.kubernetes.io/" + starts}},
		"the autoscaler reports":   {policies(drain("status-taint.cluster-autoscaler.kubernetes.io/x")), []string{"policies[0] (a): taint status-taint.cluster-autoscaler.kubernetes.io/: the taint reports a condition that may pass, and the node loses its pods each time"}},
		"the autoscaler ignores":   {policies(drain("ignore-taint.cluster-autoscaler.kubernetes.io/x")), []string{"policies[0] (a): taint ignore-taint.cluster-autoscaler.kubernetes.io/" + starts}},
		"GPUs":                     {policies(drain("nvidia.com/gpu")), []string{"policies[0] (a): taint nvidia.com/gpu: nodes of this kind carry the taint permanently, and lose the pods that do not tolerate it"}},
		"one that never applies":   {policies(only(policy.Hold, v1.TaintNodeUnschedulable)), []string{"policies[0] (a): never applies: taint node.kubernetes.io/unschedulable is set with NoSchedule only; use effects: [NoSchedule]"}},
		"Evict everywhere":         {policy.Config{Method: policy.Evict}, []string{everywhere(v1.TaintNodeNotReady + " and " + v1.TaintNodeUnreachable)}},
		"Evict but for one taint":  {but(only(policy.Delete, v1.TaintNodeNotReady)), []string{everywhere(v1.TaintNodeUnreachable)}},
		"Evict but for outages":    {but(only(policy.Delete, v1.TaintNodeNotReady), only(policy.Delete, v1.TaintNodeUnreachable)), nil},
		"NoSchedule next to it":    {ignoring(drain("example.com/maintenance")), nil},
	} {
		compiled(t, c.config) // a configuration with warnings is valid
		var got []string
		for _, w := range c.config.Warnings(now) {
			got = append(got, w.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
