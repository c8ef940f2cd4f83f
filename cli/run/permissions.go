package run

import (
	"fmt"
	"slices"

	"github.com/taint-manager/taint-manager/config"
)

// permission is an action on the API server.
type permission struct {
	verb, group, resource, subresource string

	// namespace and name restrict it; empty means all.
	namespace, name string

	// role is the cluster's role that grants it; empty if deploy/rbac.yaml has the rule.
	role string

	// why describes what does not work without it.
	why string
}

// String returns the permission in the notation of kubectl auth can-i.
func (p permission) String() string {
	s := p.verb + " " + p.resource
	if p.group != "" {
		s += "." + p.group
	}
	if p.subresource != "" {
		s += "/" + p.subresource
	}
	if p.name != "" {
		s += " " + p.name
	}
	if p.namespace != "" {
		return fmt.Sprintf("%s in namespace %s", s, p.namespace)
	}
	return s
}

// needed returns the permissions that the configuration requires.
func needed(c config.Configuration) []permission {
	return slices.Concat(toWatch(), toEvict(c), toLead(c))
}

func toWatch() []permission {
	return []permission{
		{verb: "list", resource: "nodes", why: "to see their taints"},
		{verb: "watch", resource: "nodes", why: "to see their taints change"},
		{verb: "list", resource: "pods", why: "to see their tolerations"},
		{verb: "watch", resource: "pods", why: "to see them come and go"},
	}
}

func toEvict(c config.Configuration) []permission {
	if c.DryRun {
		return nil
	}
	confirm := permission{verb: "get", resource: "nodes", why: "to confirm a node's taints right before an eviction"}
	events := permission{verb: "create", resource: "events", why: "to tell on each pod why it goes"}
	if c.EvictionMethod == config.MethodEvict {
		return []permission{
			confirm,
			{verb: "create", resource: "pods", subresource: "eviction", why: "to evict (--eviction-method=evict)"},
			events,
		}
	}
	return []permission{
		confirm,
		{verb: "patch", resource: "pods", subresource: "status", why: "to set the condition DisruptionTarget"},
		{verb: "delete", resource: "pods", why: "to evict (--eviction-method=delete)"},
		events,
	}
}

// toLead asks to create any lease in the namespace, because a rule cannot name an object that does not exist yet.
func toLead(c config.Configuration) []permission {
	e := c.LeaderElection
	if !e.LeaderElect {
		return nil
	}
	lease := permission{group: "coordination.k8s.io", resource: "leases", namespace: e.ResourceNamespace}
	create, get, update := lease, lease, lease
	create.verb, create.why = "create", "to make the lease of the leader"
	get.verb, get.name, get.why = "get", e.ResourceName, "to see the leader"
	update.verb, update.name, update.why = "update", e.ResourceName, "to take and renew the lease"
	return []permission{create, get, update}
}

// toServe returns the permissions without which all requests for metrics are refused. Nothing else needs them.
func toServe() []permission {
	const reader, delegator = "extension-apiserver-authentication-reader", "system:auth-delegator"
	ca := permission{resource: "configmaps", namespace: "kube-system", name: "extension-apiserver-authentication", role: reader}
	get, list, watch := ca, ca, ca
	get.verb, get.why = "get", "to know the CA of client certificates"
	list.verb, list.why = "list", "to know the CA of client certificates"
	watch.verb, watch.why = "watch", "to see that CA change"
	return []permission{
		get, list, watch,
		{verb: "create", group: "authentication.k8s.io", resource: "tokenreviews", role: delegator, why: "to authenticate requests for metrics"},
		{verb: "create", group: "authorization.k8s.io", resource: "subjectaccessreviews", role: delegator, why: "to authorize requests for metrics"},
	}
}
