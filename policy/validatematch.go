package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

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
		at.at(".effects[%d]", i).refuseIf(effect == v1.TaintEffectPreferNoSchedule, "it takes NoExecute or NoSchedule",
			"PreferNoSchedule is a preference that schedulers may ignore, and evicts no pod: leave it out")
		known := effect == v1.TaintEffectNoExecute || effect == v1.TaintEffectNoSchedule ||
			effect == v1.TaintEffectPreferNoSchedule
		at.at(".effects[%d]", i).refuseIf(!known, "it takes NoExecute or NoSchedule", "choose one of them")
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
