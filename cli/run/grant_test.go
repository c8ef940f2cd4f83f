package run

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

const (
	mayListNamespaces = `kubectl patch clusterrole taint-manager --type=json -p '[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["namespaces"],"verbs":["list","watch"]}}]'`
	mayEvict          = `kubectl patch clusterrole taint-manager-evictions --type=json -p '[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["pods/eviction"],"verbs":["create"]}}]'`
)

// The test on a real control plane runs such commands.
func TestTheCommandsGrantWhatIsMissingAndKeepTheRest(t *testing.T) {
	method := func(m policy.Method) func(*settings) { return func(s *settings) { s.Eviction.Method = m } }
	lease := func(s *settings) { s.LeaderElection.ResourceNamespace, s.LeaderElection.ResourceName = "ours", "mine" }
	policies := func(list ...policy.Policy) func(*settings) { return func(s *settings) { s.Policies = list } }
	selecting := policies(policy.Policy{Method: policy.Delete, Match: policy.Match{NamespaceSelector: &metav1.LabelSelector{}}})
	for name, c := range map[string]struct {
		change func(*settings)
		denied string // parts of the permissions that are denied
		want   []string
	}{
		"all, by default":       {func(*settings) {}, "", []string{applyRoles}},
		"deletions, by default": {func(*settings) {}, "pods/status|delete pods", []string{applyRoles}},
		"namespaces":            {selecting, "namespaces", []string{applyRoles, mayListNamespaces}},
		"pods, beside namespaces that may be listed": {selecting, "list pods", []string{applyRoles, mayListNamespaces}},
		"evictions beside deletions":                 {policies(policy.Policy{Method: policy.Evict}), "pods/eviction", []string{applyRoles, mayEvict}},
		"evictions":                                  {method(policy.Evict), "pods/eviction", []string{applyRoles, mayEvict}},
		"deleteAfter": {
			func(s *settings) {
				s.Eviction.Method = policy.Evict
				s.Policies = []policy.Policy{{Method: policy.Evict, DeleteAfter: new(metav1.Duration)}}
			}, "pods/|delete pods", []string{applyRoles, mayEvict},
		},
		"the lease, which is there": {func(*settings) {}, "create leases", []string{applyRoles}},
		"another lease": {lease, "leases", []string{
			applyRoles,
			"kubectl -n ours create role mine-lease --verb=get,update --resource=leases.coordination.k8s.io --resource-name=mine",
			"kubectl -n ours create rolebinding mine-lease --role=mine-lease --serviceaccount=kube-system:taint-manager",
			"kubectl -n ours create role mine-lease-create --verb=create --resource=leases.coordination.k8s.io",
			"kubectl -n ours create rolebinding mine-lease-create --role=mine-lease-create --serviceaccount=kube-system:taint-manager",
		}},
		"another journal": {lease, "configmaps", []string{
			applyRoles,
			"kubectl -n ours create role mine-journal --verb=get,update --resource=configmaps --resource-name=" + strings.Join(strings.Fields("mine-journal-0 mine-journal-1 mine-journal-2 mine-journal-3 mine-journal-4 mine-journal-5 mine-journal-6 mine-journal-7 mine-journal-state"), " --resource-name="),
			"kubectl -n ours create rolebinding mine-journal --role=mine-journal --serviceaccount=kube-system:taint-manager",
			"kubectl -n ours create role mine-journal-create --verb=create --resource=configmaps",
			"kubectl -n ours create rolebinding mine-journal-create --role=mine-journal-create --serviceaccount=kube-system:taint-manager",
		}},
	} {
		s := newSettings()
		c.change(s)
		denied := deniedOf(s.rules(), strings.Split(c.denied, "|"))
		if diff := cmp.Diff(c.want, s.granting(denied)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// deniedOf returns the rules with the verbs whose notation contains one of the parts.
func deniedOf(rules []rule, parts []string) (denied []rule) {
	for _, r := range rules {
		one, all := r, r.verbs
		r.verbs = nil
		for _, verb := range all {
			one.verbs = []string{verb}
			if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(one.String(), part) }) {
				r.verbs = append(r.verbs, verb)
			}
		}
		if len(r.verbs) > 0 {
			denied = append(denied, r)
		}
	}
	return denied
}

func TestARefusalEndsWithTheCommands(t *testing.T) {
	s := newSettings()
	err := s.grants([]rule{{verbs: []string{"list"}, resource: "nodes", purpose: "to see"}}, "https://a:1")
	if want := "missing are:\n  list nodes  to see\n" + howToGrant + ":\n  " + applyRoles; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got:\n%v\nwant at its end:\n%s", err, want)
	}
}

func TestTheDocumentationHasTheSameCommands(t *testing.T) {
	text, err := os.ReadFile("../../docs/install.md")
	must(t, err)
	for _, command := range []string{mayListNamespaces, mayEvict} {
		if !strings.Contains(strings.ReplaceAll(string(text), "\\\n  ", ""), command) {
			t.Errorf("docs/install.md lacks %s", command)
		}
	}
}
