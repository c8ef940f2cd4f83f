package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Problem is the reason why a policy or a guard is refused.
type Problem struct {
	// Path of the field, such as policies[2].match.taints[0].key.
	Path string

	// Allowed describes the allowed values, and Next is the next step.
	Allowed, Next string
}

// Validate returns all problems of policies and guards, in their order.
func Validate(policies []Policy, guards Guards) []Problem {
	var all []Problem
	root := problems{all: &all}
	if len(policies) > MaxPolicies {
		root.at("policies").refuse("it takes 100 policies at most", "join policies that do the same")
		policies = nil
	}
	names := map[string]bool{}
	for i := range policies {
		at := root.at("policies[%d]", i)
		at.at(".name").uniqueName(policies[i].Name, names)
		policies[i].validate(at)
	}
	guards.validate(root.at("guards"))
	return all
}

// uniqueName refuses names that are not valid in metrics and logs, and duplicates.
func (p problems) uniqueName(name string, seen map[string]bool) {
	p.refuseIf(len(validation.IsDNS1123Label(name)) > 0,
		"it takes lower case letters, digits and '-', 63 at most, with a letter or digit at both ends",
		"choose such a name")
	p.refuseIf(seen[name], "another one has this name", "choose a name of its own")
	seen[name] = true
}

func (p *Policy) validate(at problems) {
	at.at(".method").oneOf(string(p.Method), Methods()...)
	at.at(".mode").oneOf(string(p.Mode), "", string(Enforce), string(Audit))
	p.Match.validate(at.at(".match"))
	p.validateTimes(at)
	if p.Tolerations != nil {
		p.Tolerations.validate(at.at(".tolerations"))
	}
	if p.GracePeriod != nil {
		max := p.GracePeriod.Max.Duration
		at.at(".gracePeriod.max").refuseIf(max < time.Second || max%time.Second != 0,
			"it takes whole seconds of at least 1s", "leave gracePeriod out for the pod's own")
	}
	if p.calls() && p.Match.triggersOnNoSchedule() && (p.Tolerations == nil || p.Tolerations.Absent == nil) {
		at.at(".tolerations").refuse("tolerations.absent is required with a NoSchedule taint, which nodes may have carried for months",
			"write how long pods may stay that do not tolerate the taint, such as absent: 60s, or absent: 0s for none")
	}
}

// oneOf refuses other words.
func (p problems) oneOf(word string, words ...string) {
	if !slices.Contains(words, word) {
		p.refuse("it takes "+strings.TrimPrefix(strings.Join(words, ", "), ", "), "choose one of them")
	}
}

// calls reports whether the policy makes calls.
func (p *Policy) calls() bool { return p.Method == Delete || p.Method == Evict }

// validateTimes refuses fields that have no effect with the method. An unknown method is refused by itself.
func (p *Policy) validateTimes(at problems) {
	idle := p.Method == Hold || p.Method == Ignore
	if p.DeleteAfter != nil {
		after := at.at(".deleteAfter")
		after.refuseIf(idle || p.Method == Delete, "it goes with method: Evict", "leave it out")
		after.refuseIf(p.DeleteAfter.Duration < time.Second, "it takes 1s or more",
			"choose method: Delete to ask no budget at all")
	}
	const without = "it goes with method: Delete or Evict"
	at.at(".tolerations").refuseIf(p.Tolerations != nil && idle, without, "leave it out")
	at.at(".gracePeriod").refuseIf(p.GracePeriod != nil && idle, without, "leave it out")
}

func (t *Tolerations) validate(at problems) {
	at.at(".absent").notNegative(t.Absent)
	at.at(".min").notNegative(t.Min)
	at.at(".max").notNegative(t.Max)
	at.at(".unlimited").notNegative(t.Unlimited)
	at.at(".min").refuseIf(t.Min != nil && t.Max != nil && t.Min.Duration > t.Max.Duration, "it takes no more than max",
		"raise max, or lower min")
}

func (p problems) notNegative(d *metav1.Duration) {
	p.refuseIf(d != nil && d.Duration < 0, "it takes 0s or more", "write 0s for at once")
}

// problems collects the problems of one object at a path.
type problems struct {
	path string
	all  *[]Problem
}

// at returns the problems of a field of the object.
func (p problems) at(format string, args ...any) problems {
	return problems{p.path + fmt.Sprintf(format, args...), p.all}
}

func (p problems) refuse(allowed, next string) {
	*p.all = append(*p.all, Problem{p.path, allowed, next})
}

// refuseIf refuses the value if the condition holds.
func (p problems) refuseIf(condition bool, allowed, next string) {
	if condition {
		p.refuse(allowed, next)
	}
}

func (m *Match) validate(at problems) {
	for i := range m.Taints {
		m.Taints[i].validate(at.at(".taints[%d]", i))
	}
	at.at(".nodeSelector").selector(m.NodeSelector)
	for i, name := range m.Namespaces {
		at.at(".namespaces[%d]", i).refuseIf(!isNamespacePattern(name),
			"it takes names of namespaces, in which * stands for anything", "write it as team-a or team-*")
	}
	at.at(".namespaceSelector").selector(m.NamespaceSelector)
	at.at(".podSelector").selector(m.PodSelector)
	for i, kind := range m.OwnerKinds {
		at.at(".ownerKinds[%d]", i).ownerKind(kind)
	}
	at.at(".ownerKinds").unique(m.OwnerKinds)
	at.at(".namespaces").unique(m.Namespaces)
	if p := m.Priority; p != nil {
		at.at(".priority.min").refuseIf(p.Min != nil && p.Max != nil && *p.Min > *p.Max, "it takes no more than max",
			"raise max, or lower min")
	}
}

// triggersOnNoSchedule reports whether NoSchedule taints are among the triggers.
func (m *Match) triggersOnNoSchedule() bool {
	return slices.ContainsFunc(m.Taints, func(t Taint) bool {
		return t.hasEffect(v1.TaintEffectNoSchedule)
	})
}

func (t *Taint) validate(at problems) {
	at.refuseIf((t.Key == "") == (t.KeyPrefix == ""), "it takes either key or keyPrefix", "write the key of the taint")
	at.at(".key").refuseIf(t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0,
		"it takes the key of a taint, such as example.com/maintenance", "write it as 'kubectl describe node' shows it")
	at.at(".keyPrefix").refuseIf(t.KeyPrefix != "" && !isKeyPrefix(t.KeyPrefix),
		"it takes the beginning of the key of a taint, such as example.com/",
		"write it as 'kubectl describe node' shows it")
	for i, value := range t.Values {
		at.at(".values[%d]", i).refuseIf(len(validation.IsValidLabelValue(value)) > 0, "it takes the value of a taint",
			"write it as 'kubectl describe node' shows it, or leave values out for any")
	}
	at.at(".values").unique(t.Values)
	noSchedule := t.hasEffect(v1.TaintEffectNoSchedule)
	at.at(".keyPrefix").refuseIf(noSchedule && t.KeyPrefix != "", "NoSchedule goes with an exact key",
		"write key instead")
	for i, effect := range t.Effects {
		known := effect == v1.TaintEffectNoExecute || effect == v1.TaintEffectNoSchedule
		at.at(".effects[%d]", i).refuseIf(!known, "it takes NoExecute or NoSchedule",
			"choose one of them: PreferNoSchedule is a preference that schedulers may ignore, and evicts no pod")
		at.at(".effects[%d]", i).refuseIf(slices.Contains(t.Effects[:i], effect), "it is there twice", "leave one out")
	}
}

var keyCharacters = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]*)?$`)

func isKeyPrefix(prefix string) bool { return len(prefix) <= 253 && keyCharacters.MatchString(prefix) }

// isNamespacePattern reports whether the pattern is a valid name if each * is replaced by a letter.
func isNamespacePattern(pattern string) bool {
	return len(validation.IsDNS1123Label(strings.ReplaceAll(pattern, "*", "x"))) == 0
}

var ownerKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

func (p problems) ownerKind(kind string) {
	p.refuseIf(kind == "Deployment", "it takes the kind of the owner that controls the pod, which of a Deployment is its ReplicaSet", "write ReplicaSet")
	p.refuseIf(!ownerKind.MatchString(kind),
		"it takes the kind of the owner that controls the pod, such as StatefulSet, or None for pods without one",
		"write it as in the pod's ownerReferences")
}

// unique refuses duplicates in a list.
func (p problems) unique(list []string) {
	for i, s := range list {
		twice := slices.Contains(list[:i], s)
		p.at("[%d]", i).refuseIf(twice, "it is there twice ("+strconv.Quote(s)+")", "leave one out")
	}
}

// selector refuses selectors that Kubernetes rejects.
func (p problems) selector(s *metav1.LabelSelector) {
	options := metav1validation.LabelSelectorValidationOptions{}
	refused := metav1validation.ValidateLabelSelector(s, options, field.NewPath(p.path))
	// The order of labels, which are a map, is random.
	slices.SortFunc(refused, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	for _, e := range refused {
		cause, _, _ := strings.Cut(e.ErrorBody(), " (e.g.") // a regular expression follows
		problems{e.Field, p.all}.refuse("it takes selectors of labels ("+cause+")",
			"write keys and values as in the object's labels")
	}
}
