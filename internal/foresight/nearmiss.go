package foresight

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// NearMiss is a toleration that one difference keeps from matching a taint.
type NearMiss struct {
	Toleration string `json:"toleration"`
	Difference string `json:"difference"` // for example: its effect is NoSchedule
}

// words returns a clause about the near miss.
func (n *NearMiss) words() string {
	return "toleration " + strconv.Quote(n.Toleration) + " nearly matches, but " + n.Difference
}

// nearMiss returns the pod's first toleration that nearly matches the taint and would tolerate it for longer than
// matching, the toleration that counts (nil if none matches). It returns nil if there is no such toleration.
func nearMiss(p *taint.Pod, t *v1.Taint, matching *v1.Toleration, rules taint.Rules) *NearMiss {
	for i := range p.Tolerations {
		near := &p.Tolerations[i]
		if matching != nil && !taint.Outlasts(near, matching) {
			continue
		}
		if difference := differenceOf(near, t, rules); difference != "" {
			return &NearMiss{unquoted(near), difference}
		}
	}
	return nil
}

// differenceOf returns the only difference that keeps a toleration from matching a taint; "" if it matches, or if there
// is more than one.
func differenceOf(near *v1.Toleration, t *v1.Taint, rules taint.Rules) string {
	otherEffect, anyValue, otherKey := *near, *near, *near
	otherEffect.Effect, otherKey.Key = t.Effect, t.Key
	anyValue.Operator, anyValue.Value = v1.TolerationOpExists, ""
	matches := func(changed v1.Toleration) bool {
		return taint.Matching(&taint.Pod{Tolerations: []v1.Toleration{changed}}, t, rules) != nil
	}
	switch {
	case matches(*near):
		return ""
	case matches(otherEffect):
		return "its effect is " + string(near.Effect)
	case matches(anyValue):
		return valueDiffers(near, t, rules)
	case !matches(otherKey):
		return ""
	}
	return keyDiffers(near.Key, t.Key)
}

// valueDiffers says why the operator and value of a toleration do not match the value of a taint.
func valueDiffers(near *v1.Toleration, t *v1.Taint, rules taint.Rules) string {
	switch compares := near.Operator == v1.TolerationOpGt || near.Operator == v1.TolerationOpLt; {
	case compares && rules.NoComparison:
		return "the operators Gt and Lt are switched off"
	case compares && !decimal(t.Value):
		return fmt.Sprintf("%s compares decimal integers, and the taint's value %q is none", near.Operator, t.Value)
	case compares && !decimal(near.Value):
		return fmt.Sprintf("%s compares decimal integers, and its value %q is none", near.Operator, near.Value)
	case compares:
		words := map[v1.TolerationOperator]string{v1.TolerationOpGt: "greater than", v1.TolerationOpLt: "less than"}
		return fmt.Sprintf("the taint's value %s is not %s %s", t.Value, words[near.Operator], near.Value)
	case near.Value == "":
		return "operator Equal without a value matches only an empty value; use operator Exists"
	}
	return fmt.Sprintf("its value is %q, and the taint's %q", near.Value, t.Value)
}

// decimal reports whether Gt and Lt compare a value: it has no sign +, and no zeros in front.
func decimal(value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == value
}

// keyDiffers says how a key differs from a similar one: in case, by a prefix, or because Kubernetes has renamed it; ""
// if they are not similar.
func keyDiffers(key, wanted string) string {
	switch {
	case key == "node.alpha.kubernetes.io/notReady" && wanted == v1.TaintNodeNotReady,
		key == "node.alpha.kubernetes.io/unreachable" && wanted == v1.TaintNodeUnreachable,
		key == "node-role.kubernetes.io/master" && wanted == "node-role.kubernetes.io/control-plane":
		return "Kubernetes has renamed the key " + key + " to " + wanted
	case strings.EqualFold(path.Base(key), path.Base(wanted)), key == path.Dir(wanted), path.Dir(key) == wanted:
		return fmt.Sprintf("its key is %s, and the taint's %s", key, wanted)
	}
	return ""
}
