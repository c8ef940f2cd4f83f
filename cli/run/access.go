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

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/transport"
	"github.com/taint-manager/taint-manager/policy"
)

// rule is a rule of a role. This process needs it for one purpose.
type rule struct {
	verbs     []string
	resource  string   // as kubectl writes it, such as pods/eviction or leases.coordination.k8s.io
	namespace string   // empty: all
	names     []string // empty: all
	role      string   // that has the rule: a Role if there is a namespace, otherwise a ClusterRole
	purpose   string   // says to operators for what the rule is needed
	required  bool     // nothing works without the rule
}

// ofCluster returns a rule of a ClusterRole.
func ofCluster(role, verb, resource, purpose string) rule {
	return rule{verbs: strings.Split(verb, ","), resource: resource, role: role, purpose: purpose}
}

// rules returns the rules that the settings need.
func (s *settings) rules() (all []rule) {
	add := func(needed bool, r rule) {
		if needed {
			all = append(all, r)
		}
	}
	const watch, watcher, evictor = "list,watch", "taint-manager", "taint-manager-evictions"
	writes, deletes, evicts, selects := s.usesOfPods()
	add(true, ofCluster(watcher, watch, "nodes", "to see their taints"))
	add(true, ofCluster(watcher, watch, "pods", "to see their tolerations"))
	add(selects, ofCluster(watcher, watch, "namespaces", "to see their labels (namespaceSelector)"))
	for i := range all {
		all[i].required = true
	}
	add(writes, ofCluster(watcher, "get", "nodes", "to confirm a node's taints right before an eviction"))
	add(evicts, ofCluster(evictor, "create", "pods/eviction", "to evict (method Evict)"))
	add(deletes, ofCluster(evictor, "patch", "pods/status", "to set the condition DisruptionTarget"))
	add(deletes, ofCluster(evictor, "delete", "pods", "to evict (method Delete, or deleteAfter)"))
	add(writes, ofCluster(watcher, "create", "events", "to tell on each pod why it goes"))
	lease, journal := s.leaseRule(), s.journalRule()
	add(s.LeaderElection.LeaderElect, lease)
	add(s.LeaderElection.LeaderElect, lease.toCreate("to create the lease if it does not exist"))
	add(true, journal)
	add(writes, journal.toCreate("to create the journal if it does not exist"))
	// this process cannot review the permissions of another user, as which it may authenticate and authorize clients
	own := s.authentication.RemoteKubeConfigFile == s.ClientConnection.Kubeconfig && s.authorization.RemoteKubeConfigFile == s.ClientConnection.Kubeconfig
	if own && s.serving.BindPort != 0 {
		return append(all, toServe()...)
	}
	return all
}

// usesOfPods reports whether evictions are written, whether they delete or evict by the configured method or by the
// method of a policy, and whether a policy selects namespaces. A policy in mode Audit evicts nothing.
func (s *settings) usesOfPods() (writes, deletes, evicts, selects bool) {
	deletes, evicts = s.Eviction.Method == policy.Delete, s.Eviction.Method == policy.Evict
	for i := range s.Policies {
		p := &s.Policies[i]
		selects = selects || p.Match.NamespaceSelector != nil
		if p.Mode != policy.Audit {
			deletes = deletes || p.Method == policy.Delete || p.DeleteAfter != nil
			evicts = evicts || p.Method == policy.Evict
		}
	}
	writes = !s.DryRun
	return writes, writes && deletes, writes && evicts, selects
}

// journalName returns the name of the journal's ConfigMaps, without their numbers. The candidates of one lease share a
// journal.
func journalName(c config.Configuration) string { return store.NameFor(c.LeaderElection.ResourceName) }

func (s *settings) leaseRule() rule {
	e := s.LeaderElection
	return rule{
		verbs: []string{"get", "update"}, resource: "leases.coordination.k8s.io", namespace: e.ResourceNamespace,
		names: []string{e.ResourceName}, role: e.ResourceName + "-lease", purpose: "to take and renew the lease",
		required: true,
	}
}

func (s *settings) journalRule() rule {
	r := rule{
		verbs: []string{"get"}, resource: "configmaps", namespace: s.LeaderElection.ResourceNamespace,
		names: store.Names(journalName(s.Configuration)), role: journalName(s.Configuration),
		purpose: "to know since when taints are there; without it, a restart may restart countdowns",
	}
	if !s.DryRun {
		r.verbs = append(r.verbs, "update")
	}
	return r
}

// toCreate returns the rule to create the objects of this rule. RBAC can't restrict it to names. It is not required,
// because the objects exist unless this is the first start.
func (r rule) toCreate(purpose string) rule {
	r.verbs, r.names, r.role, r.purpose, r.required = []string{"create"}, nil, r.role+"-create", purpose, false
	return r
}

// toServe returns the rules without which all requests for metrics are refused. Nothing else needs them.
func toServe() []rule {
	const delegator = "system:auth-delegator"
	return []rule{
		{
			verbs: []string{"get", "list", "watch"}, resource: "configmaps", namespace: "kube-system",
			names: []string{"extension-apiserver-authentication"}, role: "extension-apiserver-authentication-reader",
			purpose: "to know the CA of client certificates",
		},
		ofCluster(delegator, "create", "tokenreviews.authentication.k8s.io", "to authenticate requests for metrics"),
		ofCluster(delegator, "create", "subjectaccessreviews.authorization.k8s.io",
			"to authorize requests for metrics"),
	}
}

// String returns the rule in the notation of kubectl auth can-i.
func (r rule) String() string {
	s := strings.Join(r.verbs, ",") + " " + r.resource
	if len(r.names) > 0 {
		s += " " + r.names[0]
	}
	if len(r.names) > 1 {
		s += fmt.Sprintf(" and %d more", len(r.names)-1)
	}
	if r.namespace != "" {
		s += " in namespace " + r.namespace
	}
	return s
}

// within reports whether the other rule grants everything that this rule grants.
func (r rule) within(other rule) bool {
	return r.resource == other.resource && r.namespace == other.namespace && slices.Equal(r.names, other.names) &&
		!slices.ContainsFunc(r.verbs, func(verb string) bool { return !slices.Contains(other.verbs, verb) })
}

// checkAccess makes the first requests to the API server. It returns an error if the server cannot be reached, or
// denies a permission to watch or to lead. Other permissions may be missing: operators stop evictions by removing
// permissions, and evictions that are due wait for them.
func (s *settings) checkAccess(ctx context.Context, reviews reviewer, server string) error {
	required := slices.DeleteFunc(s.rules(), func(r rule) bool { return !r.required })
	others := slices.DeleteFunc(s.rules(), func(r rule) bool { return r.required })
	var denied []rule
	err := transport.Contact(ctx, func(ctx context.Context) (err error) {
		denied, err = missing(ctx, reviews, required)
		return err
	})
	logger := klog.FromContext(ctx)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("reaching the API server: %w", ctx.Err())
	case apierrors.IsForbidden(err):
		logger.Error(err, "Could not ask for permissions, going on without: what is missing will show in refused calls")
		return nil
	case err != nil:
		return transport.Unreachable(server, s.origin(), err)
	}
	bounded, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	optional, err := missing(bounded, reviews, others)
	if err != nil {
		logger.Error(err, "Could not ask for all permissions, going on without: what is missing will show in refused calls")
	}
	if len(denied) > 0 {
		return s.grants(slices.Concat(denied, optional), server)
	}
	if len(optional) > 0 {
		logger.Error(s.grants(optional, server), "Permissions are missing, going on without: what needs them is refused until they are granted")
	}
	return nil
}

// origin returns where the server's address comes from.
func (s *settings) origin() string {
	if s.ClientConnection.Kubeconfig == "" {
		return "the pod's service account"
	}
	return "--kubeconfig=" + s.ClientConnection.Kubeconfig
}

// reviewTimeout bounds the reviews of a changed configuration file, and those of the start whose permissions are not
// required.
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
	commands, applied := []string{applyRoles}, newSettings().rules()
	for _, r := range s.rules() {
		switch {
		case slices.ContainsFunc(applied, r.within):
		case r.namespace == "":
			of := schema.ParseGroupResource(r.resource)
			commands = append(commands, fmt.Sprintf(`kubectl patch clusterrole %s --type=json -p '[{"op":"add",`+
				`"path":"/rules/-","value":{"apiGroups":[%q],"resources":[%q],"verbs":["%s"]}}]'`,
				r.role, of.Group, of.Resource, strings.Join(r.verbs, `","`)))
		case slices.ContainsFunc(denied, func(d rule) bool { return d.within(r) }):
			commands = append(commands, r.createRole()...)
		}
	}
	return commands
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
