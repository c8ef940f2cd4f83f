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
	verbs     []string
	resource  string   // as kubectl writes it, such as pods/eviction or leases.coordination.k8s.io
	namespace string   // empty: all
	names     []string // empty: all
	role      string   // that has the rule: a Role if there is a namespace, otherwise a ClusterRole
	purpose   string   // says to operators for what the rule is needed
	required  bool     // nothing works without the rule
}

// The cluster's roles of the manifests.
const (
	watchRole = "taint-manager"
	evictRole = "taint-manager-evictions"
)

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

func verbs(list ...string) []string { return list }

// needed returns the rules that the configuration and its policies require.
func (s *settings) needed() (all []rule) {
	add := func(needed bool, role, verb, resource, purpose string) {
		if needed {
			all = append(all, rule{verbs: strings.Split(verb, ","), resource: resource, role: role, purpose: purpose})
		}
	}
	writes, deletes, evicts, selects := s.usesOfPods()
	add(true, watchRole, "list,watch", "nodes", "to see their taints")
	add(true, watchRole, "list,watch", "pods", "to see their tolerations")
	add(selects, watchRole, "list,watch", "namespaces", "to see their labels (namespaceSelector)")
	for i := range all {
		all[i].required = true
	}
	add(writes, watchRole, "get", "nodes", "to confirm a node's taints right before an eviction")
	add(evicts, evictRole, "create", "pods/eviction", "to evict (method Evict)")
	add(deletes, evictRole, "patch", "pods/status", "to set the condition DisruptionTarget")
	add(deletes, evictRole, "delete", "pods", "to evict (method Delete, or deleteAfter)")
	add(writes, watchRole, "create", "events", "to tell on each pod why it goes")
	return append(all, toLead(s.Configuration)...)
}

// usesOfPods reports whether evictions are written, whether they delete or evict by the configured method or by the
// method of a policy, and whether a policy selects namespaces. A policy in mode Audit evicts nothing.
func (s *settings) usesOfPods() (writes, deletes, evicts, selects bool) {
	deletes, evicts = s.EvictionMethod == config.MethodDelete, s.EvictionMethod == config.MethodEvict
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

// toLead returns the rules to lead. RBAC can't restrict the rule to create the lease to its name. Leading does not
// require that rule, because the lease exists unless this is the first start.
func toLead(c config.Configuration) []rule {
	e := c.LeaderElection
	if !e.LeaderElect {
		return nil
	}
	use := rule{
		verbs: verbs("get", "update"), resource: "leases.coordination.k8s.io", namespace: e.ResourceNamespace,
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
		verbs: verbs("create"), resource: "tokenreviews.authentication.k8s.io", role: delegator,
		purpose: "to authenticate requests for metrics",
	}, {
		verbs: verbs("create"), resource: "subjectaccessreviews.authorization.k8s.io", role: delegator,
		purpose: "to authorize requests for metrics",
	}}
}

// optional returns the rules that only the journal and clients of the metrics need. This process cannot review the
// permissions of another user, as which it may authenticate and authorize such clients.
func (s *settings) optional() []rule {
	rules := toKeep(s.Configuration)
	own := s.authentication.RemoteKubeConfigFile == s.Kubeconfig && s.authorization.RemoteKubeConfigFile == s.Kubeconfig
	if own && s.serving.BindPort != 0 {
		return append(rules, toServe()...)
	}
	return rules
}
