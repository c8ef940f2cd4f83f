package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/taint-manager/taint-manager/config"
)

// grants lists the missing permissions, one line for each, and what grants them.
func (s *settings) grants(denied []permission, server string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s does not permit this user what is needed; missing are:\n", server)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, p := range denied {
		_, _ = fmt.Fprintf(table, "  %s\t%s\n", p, p.why)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("listing missing permissions: %w", err)
	}
	fmt.Fprintf(&text, "%s:\n  %s", howToGrant, strings.Join(s.granting(denied), "\n  "))
	return errors.New(text.String())
}

// howToGrant introduces the commands of granting.
const howToGrant = "Grant this with 'helm upgrade' and this configuration, or, without helm, by these commands to the ServiceAccount kube-system/taint-manager, and run as it"

// applyRoles is the command that sets the roles and bindings to those of the default configuration.
const applyRoles = "kubectl apply -f deploy/rbac.yaml"

// granting returns the commands that grant the denied permissions where helm is not used. The command that applies the
// roles of the default configuration removes all other rules, so those that this configuration needs come after it.
func (s *settings) granting(denied []permission) (commands []string) {
	all := needed(s.Configuration, s.policies)
	missing := denied
	if slices.ContainsFunc(denied, byDefault) || unbound(all, denied) {
		commands, missing = append(commands, applyRoles), slices.Concat(denied, all)
	}
	for _, role := range []string{watchRole, evictRole} {
		commands = append(commands, patches(role, slices.DeleteFunc(slices.Clone(missing), func(p permission) bool {
			return byDefault(p) || p.clusterRole() != role
		}))...)
	}
	return append(commands, s.namespaceRoles(slices.DeleteFunc(slices.Clone(denied), func(p permission) bool {
		return byDefault(p) || p.namespace == ""
	}))...)
}

// The cluster's roles of the manifests.
const (
	watchRole = "taint-manager"
	evictRole = "taint-manager-evictions"
)

// clusterRole returns the cluster's role of the manifests that has the permission; empty if it is one of a namespace.
func (p permission) clusterRole() string {
	switch {
	case p.namespace != "":
		return ""
	case p.resource == "pods" && (p.subresource != "" || p.verb == "delete"):
		return evictRole
	}
	return watchRole
}

// same reports whether both are the same permission, whatever it is needed for.
func (p permission) same(other permission) bool {
	p.why = other.why
	return p == other
}

// byDefault reports whether the default configuration needs the permission, too, so that deploy/rbac.yaml grants it.
func byDefault(p permission) bool {
	return slices.ContainsFunc(slices.Concat(needed(config.Default(), nil), toKeep(config.Default())), p.same)
}

// unbound reports whether all permissions of one of the cluster's roles are denied, as they are without its binding.
func unbound(all, denied []permission) bool {
	return slices.ContainsFunc([]string{watchRole, evictRole}, func(role string) bool {
		of := func(list []permission) (n int) {
			for _, p := range list {
				if p.clusterRole() == role {
					n++
				}
			}
			return n
		}
		return of(denied) > 0 && of(denied) == of(all)
	})
}

// patches returns a command for each resource that adds a rule to one of the cluster's roles.
func patches(role string, missing []permission) (commands []string) {
	for i, p := range missing {
		if slices.ContainsFunc(missing[:i], p.sameResource) {
			continue
		}
		rule := fmt.Sprintf(`{"apiGroups":[%q],"resources":[%q],"verbs":["%s"]}`, p.group,
			strings.Trim(p.resource+"/"+p.subresource, "/"), strings.Join(verbs(p, missing), `","`))
		commands = append(commands, fmt.Sprintf(
			`kubectl patch clusterrole %s --type=json -p '[{"op":"add","path":"/rules/-","value":%s}]'`, role, rule))
	}
	return commands
}

// sameResource reports whether both permissions concern the same kind of object in the same place, either all objects
// or named ones.
func (p permission) sameResource(other permission) bool {
	return p.group == other.group && p.resource == other.resource && p.subresource == other.subresource &&
		p.namespace == other.namespace && (p.name == "") == (other.name == "")
}

// verbs returns those of the permissions for the same resource.
func verbs(of permission, all []permission) (list []string) {
	for _, p := range all {
		if of.sameResource(p) && !slices.Contains(list, p.verb) {
			list = append(list, p.verb)
		}
	}
	return list
}

// namespaceRoles returns the commands that create and bind roles in the namespace of the lease and of the journal.
func (s *settings) namespaceRoles(missing []permission) (commands []string) {
	for i, p := range missing {
		if slices.ContainsFunc(missing[:i], p.sameResource) {
			continue
		}
		resource, role := p.resource, s.LeaderElection.ResourceName+"-lease"
		if p.group != "" {
			resource += "." + p.group
		}
		if p.resource == "configmaps" {
			role = journalName(s.Configuration)
		}
		if p.name == "" {
			role += "-create"
		}
		commands = append(commands,
			fmt.Sprintf("kubectl -n %s create role %s --verb=%s --resource=%s%s", p.namespace, role,
				strings.Join(verbs(p, missing), ","), resource, objects(p, missing)),
			fmt.Sprintf("kubectl -n %s create rolebinding %[2]s --role=%[2]s --serviceaccount=kube-system:taint-manager", p.namespace, role))
	}
	return commands
}

// objects returns the flags with the names of the objects of the same resource.
func objects(of permission, all []permission) (flags string) {
	var names []string
	for _, p := range all {
		if p.name != "" && of.sameResource(p) && !slices.Contains(names, p.name) {
			names = append(names, p.name)
			flags += " --resource-name=" + p.name
		}
	}
	return flags
}
