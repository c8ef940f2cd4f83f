package run

import (
	"context"
	"slices"
	"strings"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/journal/store"
)

// journalName returns the name of the journal's ConfigMaps, without their numbers. The candidates of one lease share a
// journal.
func journalName(c config.Configuration) string { return store.NameFor(c.LeaderElection.ResourceName) }

// toKeep returns the permissions that only the journal needs. The one to create its ConfigMaps can't be restricted to
// their names.
func toKeep(c config.Configuration) []permission {
	var all []permission
	for _, name := range store.PartitionNames(journalName(c)) {
		one := permission{resource: "configmaps", namespace: c.LeaderElection.ResourceNamespace, name: name}
		list, watch, update := one, one, one
		list.verb, list.why = "list", "to know since when taints are there"
		watch.verb, watch.why = "watch", "to know what the leader records"
		update.verb, update.why = "update", "to record since when taints are there"
		all = append(all, list, watch, update)
	}
	all = append(all, permission{
		verb: "create", resource: "configmaps", namespace: c.LeaderElection.ResourceNamespace,
		why: "to create the journal if it does not exist",
	})
	if c.DryRun {
		all = slices.DeleteFunc(all, func(p permission) bool { return p.verb != "list" && p.verb != "watch" })
	}
	return all
}

// warnOfJournal logs missing permissions for the journal, which do not prevent running. It reviews one partition, which
// stands for all.
func (s *settings) warnOfJournal(ctx context.Context, reviews reviewer) {
	first := store.PartitionNames(journalName(s.Configuration))[0]
	asked := slices.DeleteFunc(toKeep(s.Configuration), func(p permission) bool {
		return p.name != "" && p.name != first
	})
	denied, err := missing(ctx, reviews, asked)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not ask for the permissions to keep the journal")
	}
	commands := strings.Join(s.granting(toKeep(s.Configuration)), "\n") + "\n"
	for _, p := range denied {
		klog.FromContext(ctx).Info("A permission for the journal is missing: a restart may restart countdowns. "+
			howToGrant,
			"permission", p.String(), "why", p.why, "commands", commands)
	}
}
