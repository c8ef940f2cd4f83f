package policy

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// selector refuses selectors that Kubernetes rejects.
func (p problems) selector(s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		label := p.at(".matchLabels.%s", key)
		label.labelPart("key", validation.IsQualifiedName(key))
		label.labelPart("value", validation.IsValidLabelValue(s.MatchLabels[key]))
	}
	for i, e := range s.MatchExpressions {
		p.at(".matchExpressions[%d]", i).expression(e)
	}
}

func (p problems) expression(e metav1.LabelSelectorRequirement) {
	p.at(".key").labelPart("key", validation.IsQualifiedName(e.Key))
	p.at(".operator").oneOf(string(e.Operator), "In", "NotIn", "Exists", "DoesNotExist")
	needed := e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn
	useless := e.Operator == metav1.LabelSelectorOpExists || e.Operator == metav1.LabelSelectorOpDoesNotExist
	p.at(".values").refuseIf(needed && len(e.Values) == 0, "it is required with the operators In and NotIn",
		"write the values, or choose Exists or DoesNotExist")
	p.at(".values").refuseIf(useless && len(e.Values) > 0, "it goes with the operators In and NotIn", "leave it out")
	for i, value := range e.Values {
		p.at(".values[%d]", i).labelPart("value", validation.IsValidLabelValue(value))
	}
}

// labelPart refuses the key or the value of a label that has any errors.
func (p problems) labelPart(part string, errors []string) {
	p.refuseIf(len(errors) > 0, "it takes the "+part+" of a label", "write it as in the object's labels")
}
