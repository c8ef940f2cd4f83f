package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns every error of policies and guards, in their order.
func Validate(policies []Policy, guards Guards) field.ErrorList {
	var all field.ErrorList
	root := problems{all: &all}
	if len(policies) > MaxPolicies {
		all = append(all, field.TooMany(field.NewPath("policies"), len(policies), MaxPolicies))
		policies = nil
	}
	names := map[string]bool{}
	for i := range policies {
		at := root.at("policies").item(i)
		at.uniqueName(policies[i].Name, names)
		policies[i].validate(at)
	}
	guards.validate(root.at("guards"))
	return all
}

// uniqueName refuses names that are not valid in metrics and logs, and duplicates.
func (p problems) uniqueName(name string, seen map[string]bool) {
	p = p.at("name")
	if name == "" {
		p.add(field.Required(p.path, "a unique name"))
		return
	}
	p.refuseAll(name, WithoutPattern(validation.IsDNS1123Label(name)))
	if seen[name] {
		p.add(field.Duplicate(p.path, name))
	}
	seen[name] = true
}

func (p *Policy) validate(at problems) {
	oneOf(at.at("method"), p.Method, Delete, Evict, Hold, Ignore)
	if p.Mode != "" {
		oneOf(at.at("mode"), p.Mode, Enforce, Audit)
	}
	p.Match.validate(at.at("match"))
	p.validateTimes(at)
	if p.Tolerations != nil {
		p.Tolerations.validate(at.at("tolerations"))
	}
	if p.GracePeriod != nil {
		most := p.GracePeriod.Max.Duration
		at.at("gracePeriod").at("max").refuseIf(most < time.Second || most%time.Second != 0, most.String(),
			"must be whole seconds, at least 1s; omit gracePeriod to keep the pod's own")
	}
	if p.calls() && p.Match.triggersOnNoSchedule() && (p.Tolerations == nil || p.Tolerations.Absent == nil) {
		absent := at.at("tolerations").at("absent")
		absent.add(field.Required(absent.path, "nodes may have carried a NoSchedule taint for months, so set how long "+
			"pods that do not tolerate it may stay; 0s evicts them at once"))
	}
}

// oneOf refuses a word that is not among the words.
func oneOf[S ~string](p problems, word S, words ...S) {
	switch {
	case word == "":
		p.add(field.Required(p.path, "supported values: "+quoted(words)))
	case !slices.Contains(words, word):
		p.add(field.NotSupported(p.path, word, words))
	}
}

func quoted[S ~string](words []S) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = fmt.Sprintf("%q", word)
	}
	return strings.Join(list, ", ")
}

// calls reports whether the policy makes calls.
func (p *Policy) calls() bool { return p.Method == Delete || p.Method == Evict }

// validateTimes refuses fields that have no effect with the method. An unknown method is refused elsewhere.
func (p *Policy) validateTimes(at problems) {
	idle := p.Method == Hold || p.Method == Ignore
	if p.DeleteAfter != nil {
		after := at.at("deleteAfter")
		after.forbidIf(idle || p.Method == Delete, "requires method: Evict")
		after.refuseIf(p.DeleteAfter.Duration < time.Second, p.DeleteAfter.Duration.String(),
			"must be at least 1s; use method: Delete to ignore budgets")
	}
	const without = "requires method: Delete or method: Evict"
	at.at("tolerations").forbidIf(p.Tolerations != nil && idle, without)
	at.at("gracePeriod").forbidIf(p.GracePeriod != nil && idle, without)
}

func (t *Tolerations) validate(at problems) {
	at.at("absent").notNegative(t.Absent)
	at.at("min").notNegative(t.Min)
	at.at("max").notNegative(t.Max)
	at.at("unlimited").notNegative(t.Unlimited)
	if t.Min != nil && t.Max != nil {
		at.at("min").refuseIf(t.Min.Duration > t.Max.Duration, t.Min.Duration.String(),
			"must be at most max ("+t.Max.Duration.String()+")")
	}
}

func (p problems) notNegative(d *metav1.Duration) {
	if d != nil {
		p.refuseIf(d.Duration < 0, d.Duration.String(), "must be at least 0s")
	}
}

// problems collects the errors of one value at a path.
type problems struct {
	path *field.Path
	all  *field.ErrorList
}

// at returns the problems of a field of the value.
func (p problems) at(name string) problems { return problems{p.path.Child(name), p.all} }

// item returns the problems of an item of the value.
func (p problems) item(i int) problems { return problems{p.path.Index(i), p.all} }

func (p problems) add(errs ...*field.Error) { *p.all = append(*p.all, errs...) }

// refuseIf refuses the value if the condition holds.
func (p problems) refuseIf(condition bool, value any, message string) {
	if condition {
		p.add(field.Invalid(p.path, value, message))
	}
}

// refuseAll refuses the value for each of the messages.
func (p problems) refuseAll(value any, messages []string) {
	for _, m := range messages {
		p.refuseIf(true, value, m)
	}
}

// forbidIf refuses the field if the condition holds.
func (p problems) forbidIf(condition bool, message string) {
	if condition {
		p.add(field.Forbidden(p.path, message))
	}
}

func (m *Match) validate(at problems) {
	for i := range m.Taints {
		m.Taints[i].validate(at.at("taints").item(i))
	}
	at.at("nodeSelector").selector(m.NodeSelector)
	for i, name := range m.Namespaces {
		at.at("namespaces").item(i).refuseIf(!isNamespacePattern(name), name,
			"must be the name of a namespace, in which * matches any text, such as team-a or team-*")
	}
	at.at("namespaceSelector").selector(m.NamespaceSelector)
	at.at("podSelector").selector(m.PodSelector)
	for i, kind := range m.OwnerKinds {
		at.at("ownerKinds").item(i).ownerKind(kind)
	}
	unique(at.at("ownerKinds"), m.OwnerKinds)
	unique(at.at("namespaces"), m.Namespaces)
	if p := m.Priority; p != nil && p.Min != nil && p.Max != nil {
		at.at("priority").at("min").refuseIf(*p.Min > *p.Max, *p.Min, fmt.Sprintf("must be at most max (%d)", *p.Max))
	}
}

// triggersOnNoSchedule reports whether NoSchedule taints are among the triggers.
func (m *Match) triggersOnNoSchedule() bool {
	return slices.ContainsFunc(m.Taints, func(t Taint) bool {
		return t.hasEffect(v1.TaintEffectNoSchedule)
	})
}

func (t *Taint) validate(at problems) {
	if t.Key == "" && t.KeyPrefix == "" {
		at.add(field.Required(at.path.Child("key"), "set key or keyPrefix"))
	}
	at.at("keyPrefix").forbidIf(t.Key != "" && t.KeyPrefix != "", "may not be set together with key")
	if t.Key != "" {
		at.at("key").refuseAll(t.Key, qualifiedName(t.Key))
	}
	at.at("keyPrefix").refuseIf(t.KeyPrefix != "" && !isKeyPrefix(t.KeyPrefix), t.KeyPrefix,
		"must be the beginning of the key of a taint, such as example.com/")
	for i, value := range t.Values {
		at.at("values").item(i).refuseAll(value, WithoutPattern(validation.IsValidLabelValue(value)))
	}
	unique(at.at("values"), t.Values)
	noSchedule := t.hasEffect(v1.TaintEffectNoSchedule)
	at.at("keyPrefix").forbidIf(noSchedule && t.KeyPrefix != "", "NoSchedule requires an exact key")
	for i, effect := range t.Effects {
		// Schedulers may ignore PreferNoSchedule, so it evicts no pod.
		oneOf(at.at("effects").item(i), effect, v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule)
	}
	unique(at.at("effects"), t.Effects)
}

// qualifiedName returns why a text is not the key of a taint or label.
func qualifiedName(key string) []string { return WithoutPattern(validation.IsQualifiedName(key)) }

// WithoutPattern removes examples and regular expressions from messages of Kubernetes.
func WithoutPattern(messages []string) []string {
	for i, m := range messages {
		m, _, _ = strings.Cut(m, " (e.g.")
		messages[i], _, _ = strings.Cut(m, " (regex")
	}
	return messages
}

var keyCharacters = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9._-]*)?$`)

func isKeyPrefix(prefix string) bool { return len(prefix) <= 253 && keyCharacters.MatchString(prefix) }

// isNamespacePattern reports whether the pattern is a valid name if each * is replaced by a letter.
func isNamespacePattern(pattern string) bool {
	return len(validation.IsDNS1123Label(strings.ReplaceAll(pattern, "*", "x"))) == 0
}

var ownerKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}(\.[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$`)

func (p problems) ownerKind(kind string) {
	p.refuseIf(kind == "Deployment" || kind == "Deployment.apps", kind,
		"must be the kind of the owner that controls the pod: ReplicaSet for a Deployment")
	p.refuseIf(!ownerKind.MatchString(kind), kind, "must be the kind of the owner that controls the pod, such as "+
		"StatefulSet or Job.batch, or None for pods without one")
}

// unique refuses duplicates in a list.
func unique[S ~string](p problems, list []S) {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			p.add(field.Duplicate(p.path.Index(i), s))
		}
	}
}

// selector refuses selectors that Kubernetes rejects.
func (p problems) selector(s *metav1.LabelSelector) {
	refused := metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, p.path)
	// The order of labels, which are a map, is random.
	slices.SortFunc(refused, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	for _, e := range refused {
		e.Detail, _, _ = strings.Cut(e.Detail, " (e.g.") // a regular expression follows
		if strings.HasSuffix(e.Field, ".operator") {
			e.Detail = "must be In, NotIn, Exists or DoesNotExist"
		}
	}
	p.add(refused...)
}
