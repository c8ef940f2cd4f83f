package taint

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	effects   = []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
	operators = []v1.TolerationOperator{
		v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpLt, v1.TolerationOpGt,
	}
)

// Validate returns the errors for which an API server would reject the taints of a node. at is the path of the taints.
func Validate(taints []v1.Taint, at *field.Path) (errs field.ErrorList) {
	for i := range taints {
		t, at := &taints[i], at.Index(i)
		errs = append(errs, syntax(at.Child("key"), t.Key, validation.IsQualifiedName)...)
		errs = append(errs, syntax(at.Child("value"), t.Value, validation.IsValidLabelValue)...)
		errs = append(errs, oneOf(at.Child("effect"), t.Effect, effects)...)
		if slices.ContainsFunc(taints[:i], func(other v1.Taint) bool { return other.MatchTaint(t) }) {
			twice := field.Duplicate(at, t.Key)
			twice.Detail = "key and effect of a taint must be unique"
			errs = append(errs, twice)
		}
	}
	return errs
}

// ValidateToleration returns the errors for which an API server would reject the toleration. at is its path.
func ValidateToleration(t *v1.Toleration, at *field.Path) (errs field.ErrorList) {
	if t.Key != "" {
		errs = syntax(at.Child("key"), t.Key, validation.IsQualifiedName)
	} else if t.Operator != v1.TolerationOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "must be Exists when key is empty"))
	}
	if t.Operator != "" {
		errs = append(errs, oneOf(at.Child("operator"), t.Operator, operators)...)
	}
	switch value := at.Child("value"); {
	case t.Operator == "" || t.Operator == v1.TolerationOpEqual:
		errs = append(errs, syntax(value, t.Value, validation.IsValidLabelValue)...)
	case t.Operator == v1.TolerationOpExists && t.Value != "":
		errs = append(errs, field.Invalid(value, t.Value, "must be empty when operator is Exists"))
	case t.Operator == v1.TolerationOpLt || t.Operator == v1.TolerationOpGt:
		errs = append(errs, syntax(value, t.Value, integer)...)
	}
	if t.Effect != "" {
		errs = append(errs, oneOf(at.Child("effect"), t.Effect, effects)...)
	}
	if t.TolerationSeconds != nil && t.Effect != v1.TaintEffectNoExecute {
		const why = "must be NoExecute when tolerationSeconds is set"
		errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, why))
	}
	return errs
}

// integer returns why Lt and Gt do not accept the value.
func integer(value string) []string {
	if problems := content.IsDecimalInteger(value); len(problems) > 0 {
		return problems
	}
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		return []string{"must fit into 64 bits"}
	}
	return nil
}

func oneOf[T ~string](at *field.Path, value T, allowed []T) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, allowed)}
}

func syntax(at *field.Path, value string, check func(string) []string) (errs field.ErrorList) {
	for _, problem := range check(value) {
		errs = append(errs, field.Invalid(at, value, problem))
	}
	return errs
}
