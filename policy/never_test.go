package policy_test

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
)

func TestWhyAPolicyNeverDecides(t *testing.T) {
	named := func(name string, m policy.Match) policy.Policy {
		return policy.Policy{Name: name, Method: policy.Hold, Match: m}
	}
	of := func(key string, kinds ...string) policy.Match {
		return policy.Match{Taints: []policy.Taint{{Key: key, Effects: noSchedule}}, OwnerKinds: kinds}
	}
	audits := named("first", policy.Match{})
	audits.Mode = policy.Audit
	labelled := func(first, second *metav1.LabelSelector) []policy.Policy {
		return []policy.Policy{named("first", policy.Match{PodSelector: first}), named("second", policy.Match{PodSelector: second})}
	}
	ranged := func(first, second policy.PriorityRange) []policy.Policy {
		return []policy.Policy{named("first", policy.Match{Priority: &first}), named("second", policy.Match{PodSelector: expression("app", "Exists"), Priority: &second})}
	}
	const shadowed = "never applies: policy first matches the same pods and taints first; move it after this policy"
	for _, test := range []struct {
		name     string
		policies []policy.Policy
		want     string // of the last policy
	}{
		{"wide before narrow", []policy.Policy{named("first", of("m")), named("second", of("m", "Job"))}, shadowed},
		{"narrow before wide", []policy.Policy{named("first", of("m", "Job")), named("second", of("m"))}, ""},
		{"two policies of one match", []policy.Policy{named("first", of("m")), named("second", of("m"))}, "never applies: policy first has the same match and comes first; delete one of them"},
		{"each part by another policy", []policy.Policy{named("a", of("m", "Job")), named("b", of("m", "StatefulSet")), named("second", of("m", "StatefulSet", "Job"))}, "never applies: policy b matches the same pods and taints first; move it after this policy; policy a matches the same pods and taints first; move it after this policy"},
		{"one part by no policy", []policy.Policy{named("a", of("m", "Job")), named("second", of("m", "StatefulSet", "Job"))}, ""},
		{"in mode Audit", []policy.Policy{audits, named("second", policy.Match{})}, ""},
		{"itself in mode Audit", []policy.Policy{named("zero", policy.Match{}), audits}, ""},
		{"pods of DaemonSets, which NoSchedule leaves to the next", []policy.Policy{named("first", of("m")), named("second", of("m", "DaemonSet", "None"))}, ""},
		{"a group after its kind", []policy.Policy{named("first", of("m", "Job")), named("second", of("m", "Job.batch"))}, shadowed},
		{"a kind after one of its groups", []policy.Policy{named("first", of("m", "Job.batch")), named("second", of("m", "Job"))}, ""},
		{"a value that is in a set", labelled(expression("app", "In", "a", "b"), expression("app", "In", "a")), shadowed},
		{"a set that has another value", labelled(expression("app", "In", "a"), expression("app", "In", "a", "b")), ""},
		{"out-of-service after all taints", []policy.Policy{named("first", policy.Match{}), named("second", taints(policy.Taint{Key: v1.TaintNodeOutOfService}))}, ""},
		{"all namespaces before none", []policy.Policy{named("first", policy.Match{Namespaces: []string{"a", "**"}}), named("second", policy.Match{})}, "never applies: policy first has the same match and comes first; delete one of them"},
		{"some namespaces before none", []policy.Policy{named("first", policy.Match{Namespaces: []string{"a*"}}), named("second", policy.Match{})}, ""},
		{"priorities from and up to the same limits", ranged(policy.PriorityRange{Min: number(3), Max: number(9)}, policy.PriorityRange{Min: number(3), Max: number(9)}), shadowed},
		{"lower priorities, too", ranged(policy.PriorityRange{Min: number(3)}, policy.PriorityRange{Min: number(2)}), ""},
		{"priorities without a lower limit", ranged(policy.PriorityRange{Min: number(3)}, policy.PriorityRange{Max: number(9)}), ""},
		{"higher priorities, too", ranged(policy.PriorityRange{Max: number(9)}, policy.PriorityRange{Max: number(10)}), ""},
		{"priorities without an upper limit", ranged(policy.PriorityRange{Max: number(9)}, policy.PriorityRange{Min: number(3)}), ""},
		{"CronJob", []policy.Policy{named("a", of("m", "CronJob"))}, "never applies: no pod is controlled by a CronJob; use Job"},
		{"a plural", []policy.Policy{named("a", of("m", "StatefulSets"))}, "never applies: no pod is controlled by a StatefulSets; use StatefulSet"},
		{"other capitals", []policy.Policy{named("a", of("m", "Replicaset.apps"))}, "never applies: no pod is controlled by a Replicaset.apps; use ReplicaSet"},
		{"swapped letters", []policy.Policy{named("a", of("m", "DeamonSet"))}, "never applies: no pod is controlled by a DeamonSet; use DaemonSet"},
		{"a letter too many", []policy.Policy{named("a", of("m", "StatefullSet"))}, "never applies: no pod is controlled by a StatefullSet; use StatefulSet"},
		{"two letters missing", []policy.Policy{named("a", of("m", "RepliaSt"))}, "never applies: no pod is controlled by a RepliaSt; use ReplicaSet"},
		{"another letter", []policy.Policy{named("a", of("m", "Jop"))}, "never applies: no pod is controlled by a Jop; use Job"},
		{"a misspelt owner of owners", []policy.Policy{named("a", of("m", "CronJobs"))}, "never applies: no pod is controlled by a CronJobs; use Job"},
		{"kinds of other APIs that are nearly known", []policy.Policy{named("a", of("m", "TFJob", "CronTab", "Pod", "JobSet"))}, ""},
		{"a kind of another API", []policy.Policy{named("a", of("m", "VirtualMachineInstance", "RayCluster"))}, ""},
		{"a kind that another API has too", []policy.Policy{named("a", of("m", "CronJob.batch.example.com"))}, ""},
		{"Node of another API", []policy.Policy{named("a", of("m", "Node.example.com"))}, ""},
		{"a kind with its group", []policy.Policy{named("a", of("m", "Job.batch"))}, ""},
		{"kinds with other groups of Kubernetes", []policy.Policy{named("a", of("m", "Job.apps", "StatefulSet.batch"))}, "never applies: no pod is controlled by a Job.apps; use Job.batch; no pod is controlled by a StatefulSet.batch; use StatefulSet.apps"},
		{"a kind without a group", []policy.Policy{named("a", of("m", "ReplicationController.apps"))}, "never applies: no pod is controlled by a ReplicationController.apps; use ReplicationController"},
		{"Node", []policy.Policy{named("a", of("m", "Node"))}, "never applies: a Node controls mirror pods only, which are never evicted"},
		{"CronJob and Job", []policy.Policy{named("a", of("m", "CronJob", "Job"))}, ""},
		{"a candidate of the autoscaler", []policy.Policy{named("a", of("DeletionCandidateOfClusterAutoscaler"))}, "never applies: taint DeletionCandidateOfClusterAutoscaler is set with PreferNoSchedule only, which evicts no pod"},
	} {
		c := policy.Config{Policies: test.policies}
		if got := c.Never(len(c.Policies) - 1); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAPolicyForATaintThatIsSetWithNoScheduleOnlyNamesThatEffect(t *testing.T) {
	for _, key := range []string{
		v1.TaintNodeUnschedulable, v1.TaintNodeMemoryPressure, v1.TaintNodeDiskPressure, v1.TaintNodePIDPressure, v1.TaintNodeNetworkUnavailable,
		"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown", "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted",
	} {
		for effect, want := range map[v1.TaintEffect]string{
			v1.TaintEffectNoSchedule: "",
			v1.TaintEffectNoExecute:  "never applies: taint " + key + " is set with NoSchedule only; use effects: [NoSchedule]",
		} {
			c := policies(policy.Policy{Match: taints(policy.Taint{Key: key, Effects: []v1.TaintEffect{effect}})})
			if got := c.Never(0); got != want {
				t.Errorf("%s with %s: got %q, want %q", key, effect, got, want)
			}
		}
	}
}

// That no pod has an owner of these kinds, and no node a taint with these effects, is a fact about Kubernetes. The twin's
// pods and nodes assume it, and so can't refute it.
func TestAPolicyThatNeverDecidesDecidesNoPairOfItsTwin(t *testing.T) {
	seen := false
	checkTwins(t, func(rt *rapid.T, w *twin) {
		never := map[string]string{}
		for i := range w.config.Policies {
			if why := w.config.Never(i); why != "" {
				never[w.config.Policies[i].Name], seen = why, true
			}
		}
		for _, h := range slices.Concat(w.node.Taints, w.node.Triggers) {
			for i := range h {
				if p, _ := w.first(h[i].Taint); p != nil && never[p.Name] != "" {
					rt.Fatalf("policy %s decides %s, but %s", p.Name, h[i].Taint.ToString(), never[p.Name])
				}
			}
		}
	})
	if !seen {
		t.Error("no policy was drawn that never applies")
	}
}

func TestAPolicyThatIsNarrowerThanOneBeforeNeverDecides(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		wide := drawMatch(rt, true)
		c := policies(policy.Policy{Match: wide}, policy.Policy{Match: narrowed(rt, wide)})
		if c.Never(1) == "" {
			rt.Fatalf("%+v after %+v may decide", c.Policies[1].Match, c.Policies[0].Match)
		}
	})
}

// narrowed returns a match of pairs that the match includes.
func narrowed(t *rapid.T, m policy.Match) policy.Match {
	m.Taints = []policy.Taint{narrowedTaint(t, m.Taints)}
	m.PodSelector, m.NodeSelector = narrowedSelector(t, m.PodSelector), narrowedSelector(t, m.NodeSelector)
	if len(m.OwnerKinds) > 0 {
		m.OwnerKinds = m.OwnerKinds[:1]
	} else if rapid.Bool().Draw(t, "of a kind") {
		m.OwnerKinds = []string{"StatefulSet", "Job.batch"}
	}
	if len(m.Namespaces) > 0 {
		all := m.Namespaces[0] == "*"
		m.Namespaces = []string{strings.ReplaceAll(m.Namespaces[0], "*", rapid.SampledFrom([]string{"", "x", "x*y"}).Draw(t, "for *"))}
		if all && rapid.Bool().Draw(t, "in any namespace") {
			m.Namespaces = nil
		}
	}
	if m.NamespaceSelector == nil && rapid.Bool().Draw(t, "in a tier") {
		m.NamespaceSelector = labelled("tier", "prod")
	}
	if m.Priority == nil && rapid.Bool().Draw(t, "of a priority") {
		m.Priority = &policy.PriorityRange{Min: number(3)}
	}
	return m
}

func narrowedTaint(t *rapid.T, list []policy.Taint) policy.Taint {
	if len(list) == 0 {
		return policy.Taint{Key: "x"}
	}
	of := rapid.SampledFrom(list).Draw(t, "taint")
	if of.KeyPrefix != "" {
		of.Key, of.KeyPrefix = of.KeyPrefix+"x", ""
	}
	if len(of.Values) == 0 && rapid.Bool().Draw(t, "of one value") {
		of.Values = []string{"v"}
	}
	return of
}

func narrowedSelector(t *rapid.T, s *metav1.LabelSelector) *metav1.LabelSelector {
	more := drawSelector(t)
	if s == nil {
		return more
	}
	more.MatchExpressions = slices.Concat(more.MatchExpressions, s.MatchExpressions)
	for key, value := range s.MatchLabels {
		more.MatchExpressions = append(more.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
	}
	return more
}
