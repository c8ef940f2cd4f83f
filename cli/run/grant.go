package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

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

// howToGrant introduces the commands of granting.
const howToGrant = "Grant this with 'helm upgrade' and this configuration, or, without helm, by these commands to the ServiceAccount kube-system/taint-manager, and run as it"

// applyRoles is the command that applies the roles and bindings of the default configuration.
const applyRoles = "kubectl apply -f deploy/rbac.yaml"

// granting returns the commands that grant the denied rules where helm is not used. applyRoles removes all other rules
// of the cluster's roles, so the rules that this configuration needs come after it.
func (s *settings) granting(denied []rule) (commands []string) {
	added := denied
	if slices.ContainsFunc(denied, byDefault) || s.unbound(denied, watchRole) || s.unbound(denied, evictRole) {
		commands, added = append(commands, applyRoles), s.needed()
	}
	for _, r := range added {
		if r.namespace == "" && !byDefault(r) {
			commands = append(commands, r.patch())
		}
	}
	for _, r := range denied {
		if r.namespace != "" && !byDefault(r) {
			commands = append(commands, r.createRole()...)
		}
	}
	return commands
}

// byDefault reports whether deploy/rbac.yaml, which has the rules of the default configuration, grants the rule.
func byDefault(r rule) bool {
	s := newSettings()
	return slices.ContainsFunc(append(s.needed(), s.optional()...), r.within)
}

// unbound reports whether everything that one of the cluster's roles has is denied, as it is without its binding.
func (s *settings) unbound(denied []rule, role string) bool {
	verbsOf := func(rules []rule) (n int) {
		for _, r := range rules {
			if r.role == role {
				n += len(r.verbs)
			}
		}
		return n
	}
	n := verbsOf(denied)
	return n > 0 && n == verbsOf(s.needed())
}

// patch returns the command that adds the rule to its ClusterRole.
func (r rule) patch() string {
	return fmt.Sprintf(`kubectl patch clusterrole %s --type=json -p '[{"op":"add","path":"/rules/-",`+
		`"value":{"apiGroups":[%q],"resources":[%q],"verbs":["%s"]}}]'`,
		r.role, r.group, r.resource, strings.Join(r.verbs, `","`))
}

// createRole returns the commands that create and bind the Role of the rule.
func (r rule) createRole() []string {
	create := fmt.Sprintf("kubectl -n %s create role %s --verb=%s --resource=%s", r.namespace, r.role,
		strings.Join(r.verbs, ","), r.qualified())
	for _, name := range r.names {
		create += " --resource-name=" + name
	}
	bind := fmt.Sprintf("kubectl -n %s create rolebinding %[2]s --role=%[2]s --serviceaccount=kube-system:taint-manager",
		r.namespace, r.role)
	return []string{create, bind}
}
