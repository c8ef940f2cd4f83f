package run

import (
	"fmt"
	"slices"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/policy"
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

// needed returns the permissions that the configuration and its policies require.
func needed(c config.Configuration, policies []policy.Policy) []permission {
	return slices.Concat(toWatch(policies), toEvict(c, policies), toLead(c))
}

func toWatch(policies []policy.Policy) []permission {
	all := []permission{
		{verb: "list", resource: "nodes", why: "to see their taints"},
		{verb: "watch", resource: "nodes", why: "to see their taints change"},
		{verb: "list", resource: "pods", why: "to see their tolerations"},
		{verb: "watch", resource: "pods", why: "to see them come and go"},
	}
	for i := range policies {
		if policies[i].Match.NamespaceSelector != nil {
			return append(all,
				permission{verb: "list", resource: "namespaces", why: "to see their labels (namespaceSelector)"},
				permission{
					verb: "watch", resource: "namespaces",
					why: "to see their labels change (namespaceSelector)",
				})
		}
	}
	return all
}

// toEvict returns the permissions to evict by the configured method and by those of the policies. A policy in mode
// Audit evicts nothing.
func toEvict(c config.Configuration, policies []policy.Policy) []permission {
	if c.DryRun {
		return nil
	}
	deletes, evicts := c.EvictionMethod == config.MethodDelete, c.EvictionMethod == config.MethodEvict
	for i := range policies {
		if policies[i].Mode == policy.Audit {
			continue
		}
		deletes = deletes || policies[i].Method == policy.Delete || policies[i].DeleteAfter != nil
		evicts = evicts || policies[i].Method == policy.Evict
	}
	all := []permission{{verb: "get", resource: "nodes", why: "to confirm a node's taints right before an eviction"}}
	if evicts {
		all = append(all, permission{
			verb: "create", resource: "pods", subresource: "eviction",
			why: "to evict (method Evict)",
		})
	}
	if deletes {
		all = append(all,
			permission{
				verb: "patch", resource: "pods", subresource: "status",
				why: "to set the condition DisruptionTarget",
			},
			permission{verb: "delete", resource: "pods", why: "to evict (method Delete, or deleteAfter)"})
	}
	return append(all, permission{verb: "create", resource: "events", why: "to tell on each pod why it goes"})
}

// toLead returns the permissions to lead. The one to create the lease can't be restricted to its name.
func toLead(c config.Configuration) []permission {
	e := c.LeaderElection
	if !e.LeaderElect {
		return nil
	}
	lease := permission{
		group: "coordination.k8s.io", resource: "leases", namespace: e.ResourceNamespace,
		name: e.ResourceName,
	}
	get, update, create := lease, lease, lease
	get.verb, get.why = "get", "to see the leader"
	update.verb, update.why = "update", "to take and renew the lease"
	create.verb, create.name, create.why = "create", "", "to create the lease if it does not exist"
	return []permission{get, update, create}
}

// toServe returns the permissions without which all requests for metrics are refused. Nothing else needs them.
func toServe() []permission {
	const reader, delegator = "extension-apiserver-authentication-reader", "system:auth-delegator"
	ca := permission{
		resource: "configmaps", namespace: "kube-system", name: "extension-apiserver-authentication",
		role: reader,
	}
	get, list, watch := ca, ca, ca
	get.verb, get.why = "get", "to know the CA of client certificates"
	list.verb, list.why = "list", "to know the CA of client certificates"
	watch.verb, watch.why = "watch", "to see that CA change"
	return []permission{
		get, list, watch,
		{
			verb: "create", group: "authentication.k8s.io", resource: "tokenreviews", role: delegator,
			why: "to authenticate requests for metrics",
		},
		{
			verb: "create", group: "authorization.k8s.io", resource: "subjectaccessreviews", role: delegator,
			why: "to authorize requests for metrics",
		},
	}
}
