package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MissingError says that the ConfigMap of a partition does not exist, and that this client may not create it.
type MissingError struct {
	Namespace, Name string

	cause error // the API server's answer, if it was tried
}

// Error names the command that creates the ConfigMap.
func (m *MissingError) Error() string {
	text := fmt.Sprintf("the ConfigMap %s/%s does not exist, and this process may not create it; create it with '%s'", m.Namespace, m.Name, creating(m.Namespace, m.Name))
	if m.cause != nil {
		text += ": " + m.cause.Error()
	}
	return text
}

// Unwrap returns the API server's answer.
func (m *MissingError) Unwrap() error { return m.cause }

// creating returns the command that creates these ConfigMaps without data.
func creating(namespace string, names ...string) string {
	if len(names) == 1 {
		return fmt.Sprintf("kubectl -n %s create configmap %s", namespace, names[0])
	}
	return fmt.Sprintf("for name in %s; do kubectl -n %s create configmap $name; done", strings.Join(names, " "), namespace)
}

// reportMissing calls tell with a MissingError if the ConfigMap was not there when it was read last and this client may
// not create it. If the API server does not say whether it may, the next write shows it.
func (c *ConfigMaps) reportMissing(ctx context.Context, partition int, tell func(error)) {
	if !c.ReportMissing || c.seen[partition].Load() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: c.namespace, Verb: "create", Resource: "configmaps"},
	}}
	answer, err := c.reviews.Create(ctx, review, metav1.CreateOptions{})
	if err == nil && !answer.Status.Allowed {
		tell(&MissingError{Namespace: c.namespace, Name: c.names[partition]})
	}
}

// lacks notes whether the partition is missing, and reports whether the error says so.
func (p *partition) lacks(err error) bool {
	missed, is := errors.AsType[*MissingError](err)
	p.keeper.troubles.lack(p.number, missed)
	if !is {
		p.problem(missing, "")
		return false
	}
	p.fail(missing, err)
	return true
}

// lack notes that a partition is missing, or is not.
func (t *troubles) lack(partition int, err *MissingError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missing[partition] = err
}

// howToCreate returns the command that creates what is missing; it returns "" if nothing is.
func (t *troubles) howToCreate() string {
	var names []string
	namespace := ""
	for _, m := range t.missing {
		if m != nil {
			names, namespace = append(names, m.Name), m.Namespace
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "create them with '" + creating(namespace, names...) + "'"
}
