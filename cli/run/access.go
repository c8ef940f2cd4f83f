package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/transport"
)

// checkAccess makes the first requests to the API server. It returns an error if the server cannot be reached, or
// denies a permission to watch or to lead. Other permissions may be missing: operators stop evictions by removing
// permissions, and evictions that are due wait for them. The roles of version 0.1 do not permit creating the lease.
func (s *settings) checkAccess(ctx context.Context, reviews reviewer, server string) error {
	var denied []rule
	err := transport.Contact(ctx, func(ctx context.Context) (err error) {
		denied, err = missing(ctx, reviews, s.needed())
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("reaching the API server: %w", ctx.Err())
	case apierrors.IsForbidden(err):
		klog.FromContext(ctx).Error(err, "Could not ask for permissions, going on without: what is missing will show in refused calls")
		return nil
	case err != nil:
		return transport.Unreachable(server, s.origin(), err)
	}
	bounded, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	optional, err := missing(bounded, reviews, s.optional())
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not ask for the permissions to keep the journal and to serve metrics")
	}
	denied = append(denied, optional...)
	switch {
	case slices.ContainsFunc(denied, func(r rule) bool { return r.required }):
		return s.grants(denied, server)
	case len(denied) > 0:
		klog.FromContext(ctx).Error(s.grants(denied, server), "Permissions are missing, going on without: what needs them is refused until they are granted")
	}
	return nil
}

// origin returns where the server's address comes from.
func (s *settings) origin() string {
	if s.Kubeconfig == "" {
		return "the pod's service account"
	}
	return "--kubeconfig=" + s.Kubeconfig
}

// reviewTimeout is how long a change of the configuration file waits for reviews. It also bounds the reviews at the
// start whose permissions are not required.
const reviewTimeout = 5 * time.Second

// reviewer asks the API server whether this process has a permission.
type reviewer = authorizationclient.SelfSubjectAccessReviewInterface

// missing returns the rules of which the API server denies verbs, with the denied verbs only, and an error if a review
// fails. It makes all reviews in parallel, because the start waits for them.
func missing(ctx context.Context, reviews reviewer, rules []rule) (denied []rule, err error) {
	answers := make([][]string, len(rules)) // the denied verbs, and "" for the others
	var asking errgroup.Group
	for i, r := range rules {
		answers[i] = make([]string, len(r.verbs))
		for k, verb := range r.verbs {
			asking.Go(func() error {
				answer, err := reviews.Create(ctx, r.review(verb), metav1.CreateOptions{})
				if err != nil {
					return fmt.Errorf("asking for permission to %s: %w", r, err)
				}
				if !answer.Status.Allowed {
					answers[i][k] = verb
				}
				return nil
			})
		}
	}
	err = asking.Wait()
	for i, r := range rules {
		r.verbs = slices.DeleteFunc(answers[i], func(verb string) bool { return verb == "" })
		if len(r.verbs) > 0 {
			denied = append(denied, r)
		}
	}
	return denied, err
}

// review asks for one verb. The first name stands for all.
func (r rule) review(verb string) *authorizationv1.SelfSubjectAccessReview {
	of := schema.ParseGroupResource(r.resource)
	resource, subresource, _ := strings.Cut(of.Resource, "/")
	asked := authorizationv1.ResourceAttributes{
		Namespace: r.namespace, Verb: verb, Group: of.Group, Resource: resource, Subresource: subresource,
	}
	if len(r.names) > 0 {
		asked.Name = r.names[0]
	}
	return &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked},
	}
}

// howToGrant introduces the commands of granting.
const howToGrant = "Grant this with 'helm upgrade' and this configuration, or, without helm, by these commands to the ServiceAccount kube-system/taint-manager, and run as it"

// grants returns an error that lists the denied rules, one line for each, and the commands that grant them.
func (s *settings) grants(denied []rule, server string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s does not permit this user what is needed; missing are:\n", server)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, r := range denied {
		_, _ = fmt.Fprintf(table, "  %s\t%s\n", r, r.purpose)
	}
	_ = table.Flush() // to memory
	fmt.Fprintf(&text, "%s:\n  %s", howToGrant, strings.Join(s.granting(denied), "\n  "))
	return errors.New(text.String())
}

// applyRoles is the command that applies the roles and bindings of the default configuration.
const applyRoles = "kubectl apply -f deploy/rbac.yaml"

// granting returns the commands that grant the denied rules where helm is not used. applyRoles removes all other rules
// of the cluster's roles, so all that this configuration needs of those comes after it.
func (s *settings) granting(denied []rule) []string {
	commands, byDefault := []string{applyRoles}, newSettings()
	applied := append(byDefault.needed(), byDefault.optional()...)
	for _, r := range s.needed() {
		if r.namespace == "" && !slices.ContainsFunc(applied, r.within) {
			commands = append(commands, r.patch())
		}
	}
	for _, r := range denied {
		if r.namespace != "" && !slices.ContainsFunc(applied, r.within) {
			commands = append(commands, r.createRole()...)
		}
	}
	return commands
}

// patch returns the command that adds the rule to its ClusterRole.
func (r rule) patch() string {
	of := schema.ParseGroupResource(r.resource)
	return fmt.Sprintf(`kubectl patch clusterrole %s --type=json -p '[{"op":"add","path":"/rules/-",`+
		`"value":{"apiGroups":[%q],"resources":[%q],"verbs":["%s"]}}]'`,
		r.role, of.Group, of.Resource, strings.Join(r.verbs, `","`))
}

// createRole returns the commands that create and bind the Role of the rule.
func (r rule) createRole() []string {
	create := fmt.Sprintf("kubectl -n %s create role %s --verb=%s --resource=%s", r.namespace, r.role,
		strings.Join(r.verbs, ","), r.resource)
	for _, name := range r.names {
		create += " --resource-name=" + name
	}
	bind := fmt.Sprintf("kubectl -n %s create rolebinding %[2]s --role=%[2]s --serviceaccount=kube-system:taint-manager",
		r.namespace, r.role)
	return []string{create, bind}
}
