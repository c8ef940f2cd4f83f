package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// deployedCase is a manifest, and what makes the program use its permissions.
type deployedCase struct {
	file, namespace string
	flags           []string // of the API server
	unused          []string // verbs that this API server needs not, and that another case uses
	evicted, next   string   // taints that evict, the second after a change of leader
	guarded         bool     // a budget keeps the pod from being evicted by the second
}

// streamed are the verbs that are needed only where the API server does not stream lists.
var streamed = []string{"list configmaps extension-apiserver-authentication"}

// TestEveryGrantedVerbIsUsedAndNoOtherIsNeeded runs two replicas as a manifest deploys them, through a change of leader,
// evictions, a record in each partition and a scrape of the metrics, and compares the audit log with the roles. Each
// manifest alone uses what it grants, except what this API server needs not; all of them use all that any grants.
func TestEveryGrantedVerbIsUsedAndNoOtherIsNeeded(t *testing.T) {
	t.Parallel()
	granted, used := map[string]bool{}, map[string]bool{}
	for name, c := range map[string]deployedCase{
		"delete": {file: installed, namespace: "kube-system", unused: streamed, evicted: "one", next: "two"},
		"evict": {
			file: elsewhere, namespace: "taint-manager-system", flags: []string{"--feature-gates=WatchList=false"},
			evicted: "one", next: "two",
		},
		"deleteAfter and namespaceSelector": {
			file: soonDeleted(t), namespace: "kube-system", flags: []string{"--feature-gates=WatchList=false"},
			evicted: "maintenance=a", next: "maintenance=b", guarded: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, testcluster.Options{AuditLevel: "Metadata", APIServerArgs: c.flags})
			w.waitForNoPods(t)
			w.comparesRoles(t, c, granted, used)
		})
	}
	compareVerbs(t, "all manifests", granted, used)
}

// compareVerbs requires that what is used is what is granted.
func compareVerbs(t *testing.T, of string, granted, used map[string]bool) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(granted)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("%s (-granted +used):\n%s", of, diff)
	}
}

// soonDeleted returns the manifests with policies, with a shorter deleteAfter.
func soonDeleted(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../release/chart/testdata/policies.golden.yaml")
	must(t, err)
	path := filepath.Join(t.TempDir(), "policies.yaml")
	must(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "deleteAfter: 1h", "deleteAfter: 2s")), 0o600))
	return path
}

// comparesRoles compares what the manifest grants with what is used, and adds both to those of all manifests.
func (w *world) comparesRoles(t *testing.T, c deployedCase, allGranted, allUsed map[string]bool) {
	if c.namespace != "kube-system" {
		w.kubectl(t, "create", "namespace", c.namespace)
	}
	w.kubectl(t, "label", "namespace", "default", "tier=prod")
	w.kubectl(t, "apply", "-f", c.file)
	granted := w.granted(t, c.namespace)
	begin := time.Now()
	first, second := w.replica(t, c.namespace, election...), w.replica(t, c.namespace, election...)
	w.evictsByBoth(t, c, first, second)
	for deadline := time.Now().Add(40 * time.Second); len(difference(granted, w.used(t, c.namespace, begin))) > len(c.unused) && time.Now().Before(deadline); {
		pause(t, time.Second)
	}
	if err := second.Stop(); err != nil {
		t.Error(err)
	}
	used := w.used(t, c.namespace, begin)
	maps.Copy(allGranted, granted)
	maps.Copy(allUsed, used)
	for _, verb := range c.unused {
		delete(granted, verb)
		delete(used, verb)
	}
	compareVerbs(t, c.file, granted, used)
}

// evictsByBoth lets the first replica evict a pod, and the second another one after the first has ended. Each records
// taints in every partition; a replica that is stopped writes what it has not written yet.
func (w *world) evictsByBoth(t *testing.T, c deployedCase, first, second *testcluster.Manager) {
	t.Helper()
	s := w.scene(t)
	s.goes(s.pod("first"), s.taint(c.evicted), 0)
	s.taint()
	w.scrape(t, second)
	w.taintEachPartition(t, "recorded") // creates the partitions
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	w.taintEachPartition(t, "recorded-later") // updates them
	if c.guarded {
		w.kubectl(t, "-n", "default", "create", "poddisruptionbudget", "guard", "--selector=app=guarded", "--min-available=1")
	}
	pod := s.podWith("second", func(p *v1.Pod) { p.Labels = map[string]string{"app": "guarded"} })
	s.taint(c.next)
	until(s, "the next leader evicts", func() bool { _, gone := w.deletion(t, pod.UID, time.Now()); return gone })
}

func difference(of, without map[string]bool) (list []string) {
	for key := range of {
		if !without[key] {
			list = append(list, key)
		}
	}
	return list
}

// replica runs the program as the Deployment does, with these additional flags.
func (w *world) replica(t *testing.T, namespace string, flags ...string) *testcluster.Manager {
	t.Helper()
	d := w.deployment(t, namespace)
	if got := d.Spec.Template.Spec.Containers[0].Command; !slices.Equal(got, []string{"/taint-manager"}) {
		t.Fatalf("the Deployment runs %v", got)
	}
	m, err := w.Launch(t.Context(), w.binary(t), w.kubeconfigOf(t, namespace, "taint-manager"), append(w.argsOnThisMachine(t, d), flags...)...)
	must(t, err)
	w.seesALeader(t, m)
	return m
}

// binary returns the path of the program.
func (w *world) binary(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", "taint-manager"))
	must(t, err)
	return path
}

// seesALeader waits until a process has seen a leader, itself or another.
func (w *world) seesALeader(t *testing.T, m *testcluster.Manager) {
	t.Helper()
	until(t, "the replica has seen a leader", func() bool { return strings.Contains(w.logOf(t, m), "Seen a leader") })
}

// granted returns what the roles of the manifest grant: verb, resource and name, without those for people.
func (w *world) granted(t *testing.T, namespace string) map[string]bool {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, name := range []string{"taint-manager", "taint-manager-evictions"} {
		role, err := w.admin.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
		must(t, err)
		rules = append(rules, role.Rules...)
	}
	role, err := w.admin.RbacV1().Roles(namespace).Get(t.Context(), "taint-manager", metav1.GetOptions{})
	must(t, err)
	all := map[string]bool{}
	for _, rule := range append(rules, role.Rules...) {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all[strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, resource, name))] = true
				}
			}
		}
	}
	// Of the roles of Kubernetes that it is bound to, and of the one that all users have.
	for _, shared := range []string{
		"create tokenreviews", "create subjectaccessreviews",
		"get configmaps extension-apiserver-authentication", "list configmaps extension-apiserver-authentication", "watch configmaps extension-apiserver-authentication",
	} {
		all[shared] = true
	}
	return all
}

// used returns the requests of the program, in the form of granted. A request must not be forbidden.
func (w *world) used(t *testing.T, namespace string, since time.Time) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, r := range audited(t, w.AuditLog()) {
		if r.User.Username != "system:serviceaccount:"+namespace+":taint-manager" || r.RequestReceivedTimestamp.Before(since) || r.ObjectRef.Resource == "" {
			continue
		}
		if r.ResponseStatus.Code == http.StatusForbidden {
			t.Fatalf("%s %s/%s %s is forbidden", r.Verb, r.ObjectRef.Resource, r.ObjectRef.Subresource, r.ObjectRef.Name)
		}
		resource := r.ObjectRef.Resource
		if r.ObjectRef.Subresource != "" {
			resource += "/" + r.ObjectRef.Subresource
		}
		name := r.ObjectRef.Name
		if resource != "configmaps" && resource != "leases" || r.Verb == "create" {
			name = "" // rules for create can't name objects
		}
		all[strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Verb, resource, name))] = true
	}
	return all
}

// scrape reads the metrics with the token of a service account that may.
func (w *world) scrape(t *testing.T, m *testcluster.Manager) {
	t.Helper()
	token := w.scraperToken(t)
	until(t, "the metrics are served", func() bool {
		code, _ := ask(t, anyone(), "https://"+m.Address()+"/metrics", "Authorization: Bearer "+token)
		return code == http.StatusOK
	})
}

// taintEachPartition creates a tainted node for each partition of the journal.
func (w *world) taintEachPartition(t *testing.T, prefix string) {
	t.Helper()
	missing := map[int]bool{}
	for partition := range journal.Partitions {
		missing[partition] = true
	}
	for i := 0; len(missing) > 0; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		if !missing[journal.PartitionOf(name)] {
			continue
		}
		delete(missing, journal.PartitionOf(name))
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}}}
		_, err := w.admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
		must(t, err)
	}
}

// flowSchemaOf returns the name of the FlowSchema by which the API server serves a request.
func (w *world) flowSchemaOf(t *testing.T, kubeconfig string, send func(client kubernetes.Interface)) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	uid := ""
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil {
				uid = response.Header.Get("X-Kubernetes-Pf-Flowschema-Uid")
			}
			return response, err
		})
	})
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	send(client)
	schemas, err := w.admin.FlowcontrolV1().FlowSchemas().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for i := range schemas.Items {
		if string(schemas.Items[i].UID) == uid {
			return schemas.Items[i].Name + " at " + schemas.Items[i].Spec.PriorityLevelConfiguration.Name
		}
	}
	return "none of " + uid
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// classifies compares how the API server serves requests of the program in kube-system and elsewhere.
func (w *world) classifies(t *testing.T, kubeconfig, namespace, lease, other string) {
	t.Helper()
	var got [2]string
	until(t, "the API server has taken in the FlowSchemas", func() bool {
		got[0] = w.flowSchemaOf(t, kubeconfig, func(client kubernetes.Interface) {
			_, _ = client.CoordinationV1().Leases(namespace).Get(t.Context(), "taint-manager", metav1.GetOptions{})
		})
		got[1] = w.flowSchemaOf(t, kubeconfig, func(client kubernetes.Interface) {
			_, _ = client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 1})
		})
		return got == [2]string{lease, other} || t.Failed()
	})
	t.Logf("in %s: the lease by %s, pods by %s", namespace, got[0], got[1])
}
