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
		value, label := s.MatchLabels[key], p.at(".matchLabels.%s", key)
		label.refuseIf(len(validation.IsQualifiedName(key)) > 0, "it takes the key of a label",
			"write it as in the object's labels")
		label.refuseIf(len(validation.IsValidLabelValue(value)) > 0, "it takes the value of a label",
			"write it as in the object's labels")
	}
	for i, e := range s.MatchExpressions {
		p.at(".matchExpressions[%d]", i).expression(e)
	}
}

func (p problems) expression(e metav1.LabelSelectorRequirement) {
	p.at(".key").refuseIf(len(validation.IsQualifiedName(e.Key)) > 0, "it takes the key of a label",
		"write it as in the object's labels")
	p.at(".operator").oneOf(string(e.Operator), "In", "NotIn", "Exists", "DoesNotExist")
	needed := e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn
	useless := e.Operator == metav1.LabelSelectorOpExists || e.Operator == metav1.LabelSelectorOpDoesNotExist
	p.at(".values").refuseIf(needed && len(e.Values) == 0, "it is required with the operators In and NotIn",
		"write the values, or choose Exists or DoesNotExist")
	p.at(".values").refuseIf(useless && len(e.Values) > 0, "it goes with the operators In and NotIn", "leave it out")
	for i, value := range e.Values {
		p.at(".values[%d]", i).refuseIf(len(validation.IsValidLabelValue(value)) > 0, "it takes the value of a label",
			"write it as in the object's labels")
	}
}
