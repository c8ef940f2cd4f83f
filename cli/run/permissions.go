package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// rule is a rule of a role. This process needs it for one purpose.
type rule struct {
	verbs           []string
	group, resource string // the resource with its subresource, such as pods/eviction

	// namespace and names restrict the rule; empty means all.
	namespace string
	names     []string

	// role is the name of the role that has the rule. A namespace means a Role, otherwise it is a ClusterRole.
	role string

	// purpose says to operators for what the rule is needed.
	purpose string

	// required means that nothing works without the rule.
	required bool
}

// The cluster's roles of the manifests.
const (
	watchRole = "taint-manager"
	evictRole = "taint-manager-evictions"
)

// String returns the rule in the notation of kubectl auth can-i.
func (r rule) String() string {
	s := strings.Join(r.verbs, ",") + " " + r.qualified()
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

// qualified returns the resource with its group.
func (r rule) qualified() string { return strings.TrimSuffix(r.resource+"."+r.group, ".") }

// within reports whether the other rule grants everything that this rule grants.
func (r rule) within(other rule) bool {
	return r.group == other.group && r.resource == other.resource && r.namespace == other.namespace &&
		slices.Equal(r.names, other.names) &&
		!slices.ContainsFunc(r.verbs, func(verb string) bool { return !slices.Contains(other.verbs, verb) })
}

func verbs(list ...string) []string { return list }

// needed returns the rules that the configuration and its policies require.
func (s *settings) needed() []rule {
	return slices.Concat(toWatch(s.Policies), toEvict(s.Configuration, s.Policies), toLead(s.Configuration))
}

func toWatch(policies []policy.Policy) []rule {
	watch := rule{verbs: verbs("list", "watch"), role: watchRole, required: true}
	nodes, pods, namespaces := watch, watch, watch
	nodes.resource, nodes.purpose = "nodes", "to see their taints"
	pods.resource, pods.purpose = "pods", "to see their tolerations"
	namespaces.resource, namespaces.purpose = "namespaces", "to see their labels (namespaceSelector)"
	for i := range policies {
		if policies[i].Match.NamespaceSelector != nil {
			return []rule{nodes, pods, namespaces}
		}
	}
	return []rule{nodes, pods}
}

// toEvict returns the rules to evict by the configured method and by the methods of the policies. A policy in mode
// Audit evicts nothing.
func toEvict(c config.Configuration, policies []policy.Policy) []rule {
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
	all := []rule{{
		verbs: verbs("get"), resource: "nodes", role: watchRole,
		purpose: "to confirm a node's taints right before an eviction",
	}}
	if evicts {
		all = append(all, rule{
			verbs: verbs("create"), resource: "pods/eviction", role: evictRole, purpose: "to evict (method Evict)",
		})
	}
	if deletes {
		all = append(all, rule{
			verbs: verbs("patch"), resource: "pods/status", role: evictRole,
			purpose: "to set the condition DisruptionTarget",
		}, rule{
			verbs: verbs("delete"), resource: "pods", role: evictRole,
			purpose: "to evict (method Delete, or deleteAfter)",
		})
	}
	return append(all, rule{
		verbs: verbs("create"), resource: "events", role: watchRole, purpose: "to tell on each pod why it goes",
	})
}

// toLead returns the rules to lead. RBAC can't restrict the rule to create the lease to its name. Leading does not
// require that rule, because the lease exists unless this is the first start.
func toLead(c config.Configuration) []rule {
	e := c.LeaderElection
	if !e.LeaderElect {
		return nil
	}
	use := rule{
		verbs: verbs("get", "update"), group: "coordination.k8s.io", resource: "leases", namespace: e.ResourceNamespace,
		names: []string{e.ResourceName}, role: e.ResourceName + "-lease", purpose: "to take and renew the lease",
		required: true,
	}
	return []rule{use, use.toCreate("to create the lease if it does not exist")}
}

// toCreate returns the rule to create the objects of this rule.
func (r rule) toCreate(purpose string) rule {
	r.verbs, r.names, r.role, r.purpose, r.required = verbs("create"), nil, r.role+"-create", purpose, false
	return r
}

// journalName returns the name of the journal's ConfigMaps, without their numbers. The candidates of one lease share a
// journal.
func journalName(c config.Configuration) string { return store.NameFor(c.LeaderElection.ResourceName) }

// toKeep returns the rules that only the journal needs.
func toKeep(c config.Configuration) []rule {
	read := rule{
		verbs: verbs("list", "watch"), resource: "configmaps", namespace: c.LeaderElection.ResourceNamespace,
		names: store.PartitionNames(journalName(c)), role: journalName(c),
		purpose: "to know since when taints are there; without it, a restart may restart countdowns",
	}
	if c.DryRun {
		return []rule{read}
	}
	read.verbs = append(read.verbs, "update")
	return []rule{read, read.toCreate("to create the journal if it does not exist")}
}

// toServe returns the rules without which all requests for metrics are refused. Nothing else needs them.
func toServe() []rule {
	const delegator = "system:auth-delegator"
	return []rule{{
		verbs: verbs("get", "list", "watch"), resource: "configmaps", namespace: "kube-system",
		names: []string{"extension-apiserver-authentication"}, role: "extension-apiserver-authentication-reader",
		purpose: "to know the CA of client certificates",
	}, {
		verbs: verbs("create"), group: "authentication.k8s.io", resource: "tokenreviews", role: delegator,
		purpose: "to authenticate requests for metrics",
	}, {
		verbs: verbs("create"), group: "authorization.k8s.io", resource: "subjectaccessreviews", role: delegator,
		purpose: "to authorize requests for metrics",
	}}
}
