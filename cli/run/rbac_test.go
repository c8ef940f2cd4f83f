package run

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/journal/store"
)

// manifest is any object of deploy/rbac.yaml.
type manifest struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Subjects []rbacv1.Subject    `json:"subjects"`
}

func manifests(t *testing.T) []manifest {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "deploy", "rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []manifest
	for _, document := range bytes.Split(file, []byte("\n---\n")) {
		var m manifest
		if err := yaml.Unmarshal(document, &m); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// lookers is the name of the roles for read-only users.
const lookers = "taint-manager-viewer"

// granted returns the permissions that the roles of the file grant the program.
func granted(all []manifest) map[permission]bool {
	return grantedBy(all, func(role string) bool { return role != lookers })
}

// grantedBy returns the permissions that the selected roles of the file grant.
func grantedBy(all []manifest, these func(role string) bool) map[permission]bool {
	set := map[permission]bool{}
	for _, m := range all {
		if !these(m.Metadata.Name) {
			continue
		}
		for _, rule := range m.Rules {
			for _, p := range spread(rule) {
				p.namespace = m.Metadata.Namespace
				set[p] = true
			}
		}
	}
	return set
}

// spread splits a rule into single permissions.
func spread(rule rbacv1.PolicyRule) []permission {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []permission
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					resource, subresource, _ := strings.Cut(resource, "/")
					all = append(all, permission{verb: verb, group: group, resource: resource, subresource: subresource, name: name})
				}
			}
		}
	}
	return all
}

// asked returns the permissions that the program reviews with any settings.
func asked() map[permission]bool {
	set := map[permission]bool{}
	for _, method := range []config.Method{config.MethodDelete, config.MethodEvict} {
		for _, dryRun := range []bool{false, true} {
			c := config.Default()
			c.EvictionMethod, c.DryRun = method, dryRun
			for _, p := range slices.Concat(needed(c), toKeep(c)) {
				p.why = ""
				set[p] = true
			}
		}
	}
	return set
}

func names(set map[permission]bool) []string {
	var all []string
	for p := range maps.Keys(set) {
		all = append(all, p.String())
	}
	slices.Sort(all)
	return all
}

func TestTheRBACFileGrantsExactlyWhatTheProgramAsksFor(t *testing.T) {
	if diff := cmp.Diff(names(asked()), names(granted(manifests(t)))); diff != "" {
		t.Errorf("deploy/rbac.yaml differs (-asked for +granted):\n%s", diff)
	}
}

// A test on a real control plane checks that these suffice.
func TestTheRolesOfThoseWhoLookGrantOnlyReading(t *testing.T) {
	want := map[permission]bool{{verb: "list", resource: "events"}: true, {verb: "list", group: "policy", resource: "poddisruptionbudgets"}: true}
	for _, verb := range []string{"get", "list", "watch"} {
		want[permission{verb: verb, resource: "nodes"}], want[permission{verb: verb, resource: "pods"}] = true, true
	}
	c := config.Default()
	for _, name := range store.PartitionNames(journalName(c)) {
		for _, verb := range []string{"list", "watch"} {
			want[permission{verb: verb, resource: "configmaps", namespace: c.LeaderElection.ResourceNamespace, name: name}] = true
		}
	}
	if diff := cmp.Diff(names(want), names(grantedBy(manifests(t), func(role string) bool { return role == lookers }))); diff != "" {
		t.Errorf("deploy/rbac.yaml differs (-needed +granted):\n%s", diff)
	}
}

func TestTheRBACFileGrantsNoSecretsNoWildcardsAndNoWriteToNodes(t *testing.T) {
	for p := range grantedBy(manifests(t), func(string) bool { return true }) {
		if p.resource == "secrets" || strings.Contains(p.verb+p.group+p.resource+p.subresource+p.name, "*") {
			t.Errorf("it grants %s", p)
		}
		if p.resource == "nodes" && !slices.Contains([]string{"get", "list", "watch"}, p.verb) {
			t.Errorf("it grants %s", p)
		}
	}
}

func TestTheRBACFileBindsEveryRoleToTheServiceAccountAndToNobodyElse(t *testing.T) {
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "taint-manager", Namespace: "kube-system"}}
	want := map[string]bool{"ClusterRole taint-manager": true, "ClusterRole taint-manager-evictions": true, "Role taint-manager": true}
	for _, p := range toServe() {
		want[map[bool]string{true: "ClusterRole ", false: "Role "}[p.namespace == ""]+p.role] = true
	}
	bound := map[string]bool{}
	for _, m := range manifests(t) {
		if !strings.HasSuffix(m.Kind, "Binding") {
			continue
		}
		bound[m.RoleRef.Kind+" "+m.RoleRef.Name] = true
		if diff := cmp.Diff(account, m.Subjects); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", m.Kind, m.Metadata.Name, diff)
		}
	}
	if diff := cmp.Diff(want, bound); diff != "" {
		t.Errorf("roles bound (-want +got):\n%s", diff)
	}
}

func TestSettingsNeedOnlyWhatTheyUse(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*config.Configuration)
		want string
	}{
		"dry run":     {func(c *config.Configuration) { c.DryRun = true }, "list watch list watch create get update"},
		"delete":      {func(*config.Configuration) {}, "list watch list watch get patch delete create create get update"},
		"evict":       {func(c *config.Configuration) { c.EvictionMethod = config.MethodEvict }, "list watch list watch get create create create get update"},
		"no election": {func(c *config.Configuration) { c.DryRun, c.LeaderElection.LeaderElect = true, false }, "list watch list watch"},
	} {
		c := config.Default()
		test.set(&c)
		var verbs []string
		for _, p := range needed(c) {
			verbs = append(verbs, p.verb)
		}
		if got := strings.Join(verbs, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}
