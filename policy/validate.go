package policy

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

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
