package run

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/journal/store"
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

// rbacFile has the permissions of the default configuration.
var rbacFile = filepath.Join("..", "..", "deploy", "rbac.yaml")

func manifests(t *testing.T, path string) []manifest {
	t.Helper()
	file, err := os.ReadFile(path)
	must(t, err)
	var all []manifest
	for _, document := range bytes.Split(file, []byte("\n---\n")) {
		var m manifest
		must(t, yaml.Unmarshal(document, &m))
		all = append(all, m)
	}
	return all
}

// lookers is the name of the roles for read-only users.
const lookers = "taint-manager-viewer"

// granted returns the permissions that the roles of the file grant the program.
func granted(all []manifest) []string {
	return grantedBy(all, func(role string) bool { return role != lookers })
}

// grantedBy returns the permissions that the selected roles of the file grant.
func grantedBy(all []manifest, these func(role string) bool) []string {
	var rules []rule
	for _, m := range all {
		if !these(m.Metadata.Name) {
			continue
		}
		for _, granted := range m.Rules {
			for _, group := range granted.APIGroups {
				for _, resource := range granted.Resources {
					rules = append(rules, rule{verbs: granted.Verbs, resource: schema.GroupResource{Group: group, Resource: resource}.String(), namespace: m.Metadata.Namespace, names: granted.ResourceNames})
				}
			}
		}
	}
	return single(rules)
}

// single returns the permissions that rules grant: each verb on each name, sorted.
func single(rules []rule) (permissions []string) {
	for _, r := range rules {
		for _, verb := range r.verbs {
			one := rule{verbs: []string{verb}, resource: r.resource, namespace: r.namespace}
			if len(r.names) == 0 {
				permissions = append(permissions, one.String())
			}
			for _, name := range r.names {
				one.names = []string{name}
				permissions = append(permissions, one.String())
			}
		}
	}
	slices.Sort(permissions)
	return slices.Compact(permissions)
}

func TestTheRBACFileGrantsExactlyWhatTheProgramNeedsByDefault(t *testing.T) {
	if diff := cmp.Diff(single(newSettings().rules()), granted(manifests(t, rbacFile))); diff != "" {
		t.Errorf("deploy/rbac.yaml differs (-needed +granted):\n%s", diff)
	}
}

// deployed returns the settings with which a rendered Deployment runs the program. They are valid.
func deployed(t *testing.T, file string) *settings {
	t.Helper()
	var configuration v1.ConfigMap
	decodeKind(t, file, "ConfigMap", &configuration)
	s, err := decodeConfig("config.yaml", []byte(configuration.Data["config.yaml"]))
	must(t, err)
	var d appsv1.Deployment
	decodeKind(t, file, "Deployment", &d)
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	for _, section := range s.sections.FlagSets {
		flags.AddFlagSet(section)
	}
	must(t, flags.Parse(d.Spec.Template.Spec.Containers[0].Args[1:]))
	s.given = flags.Changed
	must(t, s.complete())
	return s
}

func TestRenderedManifestsGrantExactlyWhatTheirConfigurationNeeds(t *testing.T) {
	for _, file := range rendered(t) {
		want := single(deployed(t, file).rules())
		if diff := cmp.Diff(want, granted(manifests(t, file))); diff != "" {
			t.Errorf("%s differs (-needed +granted):\n%s", file, diff)
		}
	}
}

func TestTheManifestsCreateNothingThatTheProgramCreates(t *testing.T) {
	for _, file := range append(rendered(t), rbacFile) {
		for _, m := range manifests(t, file) {
			if m.Kind == "Lease" || m.Kind == "ConfigMap" && strings.Contains(m.Metadata.Name, "-journal-") {
				t.Errorf("%s has the %s %s", file, m.Kind, m.Metadata.Name)
			}
		}
	}
}

// A test on a real control plane checks that these suffice.
func TestTheRolesOfThoseWhoLookGrantOnlyReading(t *testing.T) {
	c, read := config.Default(), []string{"get", "list", "watch"}
	want := single([]rule{
		{verbs: []string{"list"}, resource: "events"},
		{verbs: []string{"list"}, resource: "poddisruptionbudgets.policy"},
		{verbs: []string{"list"}, resource: "resourceclaims.resource.k8s.io"},
		{verbs: []string{"list"}, resource: "resourceslices.resource.k8s.io"},
		{verbs: []string{"list"}, resource: "devicetaintrules.resource.k8s.io"},
		{verbs: read, resource: "nodes"},
		{verbs: read, resource: "pods"},
		{verbs: []string{"get"}, resource: "configmaps", namespace: c.LeaderElection.ResourceNamespace, names: store.Names(journalName(c))},
		{verbs: []string{"get"}, resource: "leases.coordination.k8s.io", namespace: c.LeaderElection.ResourceNamespace, names: []string{c.LeaderElection.ResourceName}},
	})
	if diff := cmp.Diff(want, grantedBy(manifests(t, rbacFile), func(role string) bool { return role == lookers })); diff != "" {
		t.Errorf("deploy/rbac.yaml differs (-needed +granted):\n%s", diff)
	}
}

func TestTheRBACFileBindsEveryRoleToTheServiceAccountAndToNobodyElse(t *testing.T) {
	account := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "taint-manager", Namespace: "kube-system"}}
	want := map[string]bool{
		"ClusterRole taint-manager": true, "ClusterRole taint-manager-evictions": true, "Role taint-manager": true,
		"ClusterRole system:auth-delegator": true, "Role extension-apiserver-authentication-reader": true, // for metrics
	}
	bound := map[string]bool{}
	for _, m := range manifests(t, rbacFile) {
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
