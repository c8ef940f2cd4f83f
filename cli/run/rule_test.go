package run

import (
	"fmt"
	"strings"

	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// rule is a rule of a role that the program needs. The tests of the manifests compare with it, and a test on a real
// control plane compares the manifests with what the program uses.
type rule struct {
	verbs     []string
	resource  string   // as kubectl writes it, such as pods/eviction or leases.coordination.k8s.io
	namespace string   // empty: all
	names     []string // empty: all
}

// ofCluster returns a rule of a ClusterRole.
func ofCluster(verb, resource string) rule {
	return rule{verbs: strings.Split(verb, ","), resource: resource}
}

// rules returns the rules that the settings need.
func (s *settings) rules() (all []rule) {
	add := func(needed bool, r rule) {
		if needed {
			all = append(all, r)
		}
	}
	writes, deletes, evicts, selects := s.usesOfPods()
	add(true, ofCluster("list,watch", "nodes"))
	add(true, ofCluster("list,watch", "pods"))
	add(selects, ofCluster("list,watch", "namespaces"))
	add(writes, ofCluster("get", "nodes"))
	add(evicts, ofCluster("create", "pods/eviction"))
	add(deletes, ofCluster("patch", "pods/status"))
	add(deletes, ofCluster("delete", "pods"))
	add(writes, ofCluster("create", "events"))
	lease, journal := s.leaseRule(), s.journalRule()
	add(s.LeaderElection.LeaderElect, lease)
	add(s.LeaderElection.LeaderElect, lease.toCreate())
	add(true, journal)
	add(writes, journal.toCreate())
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

func (s *settings) leaseRule() rule {
	e := s.LeaderElection
	return rule{
		verbs: []string{"get", "update"}, resource: "leases.coordination.k8s.io", namespace: e.ResourceNamespace,
		names: []string{e.ResourceName},
	}
}

func (s *settings) journalRule() rule {
	r := rule{
		verbs: []string{"get"}, resource: "configmaps", namespace: s.LeaderElection.ResourceNamespace,
		names: store.Names(journalName(s.Configuration)),
	}
	if !s.DryRun {
		r.verbs = append(r.verbs, "update")
	}
	return r
}

// toCreate returns the rule to create the objects of this rule, which RBAC cannot restrict to names.
func (r rule) toCreate() rule {
	r.verbs, r.names = []string{"create"}, nil
	return r
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
