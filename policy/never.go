package policy

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/taint-manager/taint-manager/internal/spelling"
)

// Never returns why the policy with this index decides no pair, whatever pods and nodes there are: "never applies:
// policy all-others matches the same pods and taints first; move it after this policy". It returns "" if the policy may
// decide, and for a policy in mode Audit.
func (c *Config) Never(i int) string {
	if c.Policies[i].Mode == Audit {
		return ""
	}
	var reasons []string
	for part := range c.Policies[i].Match.parts() {
		reason := cmp.Or(part.matchesNothing(), c.shadowed(&part, i))
		if reason == "" {
			return ""
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return "never applies: " + strings.Join(reasons, "; ")
}

// parts yields matches that together match what m matches. Each has one taint with one effect and at most one value,
// and at most one owner kind.
func (m *Match) parts() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		part := *m
		for _, t := range m.taints() {
			if len(t.Effects) == 0 {
				t.Effects = []v1.TaintEffect{v1.TaintEffectNoExecute}
			}
			for effect := range slices.Chunk(t.Effects, 1) {
				for _, value := range oneEach(t.Values) {
					part.Taints = []Taint{{t.Key, t.KeyPrefix, value, effect}}
					for _, part.OwnerKinds = range oneEach(m.OwnerKinds) {
						if !yield(part) {
							return
						}
					}
				}
			}
		}
	}
}

// oneEach splits a list into lists of one element each. An empty list matches all, so it becomes one empty list.
func oneEach(list []string) [][]string {
	if len(list) == 0 {
		return [][]string{nil}
	}
	return slices.Collect(slices.Chunk(list, 1))
}

// matchesNothing returns why no pair matches the part; "" if one may.
func (m *Match) matchesNothing() string {
	for _, kind := range m.OwnerKinds {
		if why := ownsNothing(kind); why != "" {
			return why
		}
	}
	t := &m.Taints[0]
	switch only := setWith(t.Key); {
	case only == "" || t.hasEffect(only):
		return ""
	case only == v1.TaintEffectNoSchedule:
		return "taint " + t.Key + " is set with NoSchedule only; use effects: [NoSchedule]"
	default:
		return "taint " + t.Key + " is set with " + string(only) + " only, which evicts no pod"
	}
}

// ownsNothing returns why no pod that may be evicted has a controller of this kind; "" if one may.
func ownsNothing(kind string) string {
	if kind == "Node" {
		return "a Node controls mirror pods only, which are never evicted"
	}
	if meant := meantKind(kind); meant != "" {
		return "no pod is controlled by a " + kind + "; use " + meant
	}
	return ""
}

// meantKind returns the kind to use instead of a kind that controls no pods. A kind controls no pods if it owns the
// owners of pods, is misspelled, or has the wrong group. meantKind returns "" for all other kinds, such as those of
// other APIs, whose groups have a dot.
func meantKind(kind string) string {
	name, group, grouped := strings.Cut(kind, ".")
	known := map[string]string{
		"ReplicaSet": "apps", "StatefulSet": "apps", daemonSet: "apps", "ReplicationController": "", "Job": "batch",
		noOwner: "",
	}
	in, builtIn := known[name]
	switch {
	case strings.Contains(group, "."), builtIn && (!grouped || group == in), name == "Node",
		name == "CronTab": // the kind of another API, and of many examples
		return ""
	case builtIn:
		return strings.TrimSuffix(name+"."+in, ".")
	}
	for _, right := range append(slices.Sorted(maps.Keys(known)), "CronJob", "Deployment") {
		most := min(2, len(right)/3) // short words are near to many others
		switch {
		case spelling.Edits(strings.ToLower(name), strings.ToLower(right)) > most:
		case right == "CronJob":
			return "Job"
		case right == "Deployment":
			return "ReplicaSet"
		default:
			return right
		}
	}
	return ""
}

// setWith returns the only effect with which Kubernetes and the usual tools set a taint; "" if there may be others.
func setWith(key string) v1.TaintEffect {
	switch key {
	case v1.TaintNodeUnschedulable, v1.TaintNodeMemoryPressure, v1.TaintNodeDiskPressure, v1.TaintNodePIDPressure,
		v1.TaintNodeNetworkUnavailable, "node.cloudprovider.kubernetes.io/uninitialized",
		"node.cloudprovider.kubernetes.io/shutdown", "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted":
		return v1.TaintEffectNoSchedule
	case "DeletionCandidateOfClusterAutoscaler":
		return v1.TaintEffectPreferNoSchedule
	}
	return ""
}

// shadowed returns which policy before policy i decides all that this part of its match matches; "" if none does.
func (c *Config) shadowed(part *Match, i int) string {
	p, q := &c.Policies[i], c.covering(part, i)
	switch {
	case q == nil:
		return ""
	case p.Match.coversAll(&q.Match) && q.Match.coversAll(&p.Match):
		return "policy " + q.Name + " has the same match and comes first; delete one of them"
	}
	return "policy " + q.Name + " matches the same pods and taints first; move it after this policy"
}

// covering returns the first policy in mode Enforce before that index that covers the part; nil if there is none.
func (c *Config) covering(part *Match, before int) *Policy {
	for i := range c.Policies[:before] {
		if q := &c.Policies[i]; q.Mode != Audit && q.Match.covers(part) {
			return q
		}
	}
	return nil
}

// coversAll reports whether the match includes all that the other match includes.
func (m *Match) coversAll(other *Match) bool {
	for part := range other.parts() {
		if !m.covers(&part) {
			return false
		}
	}
	return true
}

// covers reports whether the match includes all that the part of a match includes. It may return false for equivalent
// selectors that are written differently.
func (m *Match) covers(part *Match) bool {
	t := &part.Taints[0]
	return slices.ContainsFunc(m.taints(), func(of Taint) bool { return of.covers(t) }) &&
		m.coversOwner(part, t.Effects[0]) && m.coversNamespaces(part.Namespaces) &&
		m.Priority.covers(part.Priority) && implies(part.NodeSelector, m.NodeSelector) &&
		implies(part.NamespaceSelector, m.NamespaceSelector) && implies(part.PodSelector, m.PodSelector)
}

func (t *Taint) covers(part *Taint) bool {
	return KeyPattern{t.Key, t.KeyPrefix}.covers(KeyPattern{part.Key, part.KeyPrefix}) &&
		t.hasEffect(part.Effects[0]) &&
		(len(t.Values) == 0 || len(part.Values) > 0 && slices.Contains(t.Values, part.Values[0]))
}

func (k KeyPattern) covers(other KeyPattern) bool {
	if other.Key != "" {
		return k.selects(other.Key)
	}
	return k.Key == "" && strings.HasPrefix(other.Prefix, k.Prefix)
}

// coversOwner reports whether the match includes all owners that the part includes with a taint of this effect.
func (m *Match) coversOwner(part *Match, effect v1.TaintEffect) bool {
	if len(part.OwnerKinds) == 0 {
		return len(m.OwnerKinds) == 0
	}
	kind, group, _ := strings.Cut(part.OwnerKinds[0], ".")
	return m.ownsKind(kind, group, effect)
}

// coversNamespaces reports whether each pattern of the part is covered by one of the match. A pattern covers another
// pattern if it matches the other's text, in which * is an ordinary letter.
func (m *Match) coversNamespaces(part []string) bool {
	if len(part) == 0 {
		part = []string{"*"}
	}
	return len(m.Namespaces) == 0 || !slices.ContainsFunc(part, func(p string) bool {
		return !slices.ContainsFunc(m.Namespaces, func(pattern string) bool {
			matches, _ := path.Match(pattern, p)
			return matches
		})
	})
}

// covers reports whether the range includes the other range; nil includes all.
func (p *PriorityRange) covers(other *PriorityRange) bool {
	if p == nil {
		return true
	}
	return other != nil && (p.Min == nil || other.Min != nil && *p.Min <= *other.Min) &&
		(p.Max == nil || other.Max != nil && *other.Max <= *p.Max)
}

// implies reports whether the wide selector matches all labels that the narrow one matches. It compares each
// requirement of the wide selector with each of the narrow one.
func implies(narrow, wide *metav1.LabelSelector) bool {
	has, _ := newSelector(narrow).Requirements()
	needs, _ := newSelector(wide).Requirements()
	return !slices.ContainsFunc(needs, func(need labels.Requirement) bool {
		return !slices.ContainsFunc(has, func(r labels.Requirement) bool { return impliesOne(&r, &need) })
	})
}

// impliesOne reports whether all labels that meet r also meet need: the two are equal, or each value that r permits
// meets need.
func impliesOne(r, need *labels.Requirement) bool {
	if r.Key() != need.Key() {
		return false
	}
	switch r.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		return !slices.ContainsFunc(r.Values().UnsortedList(), func(value string) bool {
			return !need.Matches(labels.Set{r.Key(): value})
		})
	}
	return r.String() == need.String()
}
