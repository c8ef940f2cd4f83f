package chart

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// rendered decodes the documents of a kind that the chart renders with these values, and rejects unknown fields.
func rendered[T any](t *testing.T, namespace, values, kind string) (objects []T) {
	t.Helper()
	for document := range strings.SplitSeq(manifests(t, release(t, namespace, values)), "---\n") {
		if !strings.Contains(document, "\nkind: "+kind+"\n") {
			continue
		}
		var object T
		if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		objects = append(objects, object)
	}
	return objects
}

// only decodes the only document of a kind, as rendered does.
func only[T any](t *testing.T, namespace, values, kind string) T {
	t.Helper()
	objects := rendered[T](t, namespace, values, kind)
	if len(objects) != 1 {
		t.Fatalf("%s: got %d objects of kind %s, want one", values, len(objects), kind)
	}
	return objects[0]
}

func pods(t *testing.T, namespace, values string) (replica, hook v1.PodSpec) {
	t.Helper()
	return only[appsv1.Deployment](t, namespace, values, "Deployment").Spec.Template.Spec,
		only[batchv1.Job](t, namespace, values, "Job").Spec.Template.Spec
}

func TestTheTokenIsMountedAsTheValuesSayWhoeverCreatesTheAccount(t *testing.T) {
	for values, want := range map[string]bool{
		"{}":                          true,
		"{automount: false}":          false,
		"{create: false, name: mine}": true,
		"{create: false, name: mine, automount: false}": false,
	} {
		replica, hook := pods(t, "kube-system", "{config: {shards: 4}, serviceAccount: "+values+"}")
		if got := replica.AutomountServiceAccountToken; got == nil || *got != want {
			t.Errorf("%s: got %v, want %t", values, got, want)
		}
		if got := hook.AutomountServiceAccountToken; got == nil || *got {
			t.Errorf("%s: the hook, which asks nobody, gets a token", values)
		}
	}
}

// The account that the chart creates is not there before the first installation.
func TestTheHookUsesAnAccountThatIsThereAndTheSameNetwork(t *testing.T) {
	for _, test := range []struct{ values, account, network string }{
		{"config: {shards: 4}", "", "pods"},
		{"{config: {shards: 4}, serviceAccount: {name: mine}}", "", "pods"},
		{"{config: {shards: 4}, hostNetwork: true, serviceAccount: {create: false, name: mine}}", "mine", "node"},
	} {
		replica, hook := pods(t, "kube-system", test.values)
		network := map[bool]string{false: "pods", true: "node"}
		if hook.ServiceAccountName != test.account || network[hook.HostNetwork] != test.network {
			t.Errorf("%s: the hook uses account %q and the network of %s, want %q and %s",
				test.values, hook.ServiceAccountName, network[hook.HostNetwork], test.account, test.network)
		}
		if network[replica.HostNetwork] != test.network {
			t.Errorf("%s: the replicas use the network of %s, want %s", test.values, network[replica.HostNetwork], test.network)
		}
	}
}

func TestThePodsNameAndUIDAreInItsEnvironment(t *testing.T) {
	replica, _ := pods(t, "kube-system", "config: {shards: 4}")
	for name, field := range map[string]string{"POD_UID": "metadata.uid", "POD_NAME": "metadata.name"} {
		if !slices.ContainsFunc(replica.Containers[0].Env, func(e v1.EnvVar) bool {
			return e.Name == name && e.ValueFrom != nil && e.ValueFrom.FieldRef.FieldPath == field
		}) {
			t.Errorf("%s is not %s", name, field)
		}
	}
}

func TestNamesOfDigitsStayText(t *testing.T) {
	replica, hook := pods(t, "123", `{config: {shards: 4, leaderElection: {resourceName: "789"}}, priorityClassName: "456",
		serviceAccount: {create: false, name: "0123"}, metrics: {certificate: {secretName: "42"}}}`)
	secret := replica.Volumes[len(replica.Volumes)-1].Secret
	got := []string{replica.ServiceAccountName, hook.ServiceAccountName, replica.PriorityClassName, secret.SecretName}
	if want := []string{"0123", "0123", "456", "42"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheBudgetKeepsWhatTheValuesSay(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                    "maxUnavailable 1",
		"{maxUnavailable: 34%}": "maxUnavailable 34%",
		"{minAvailable: 1}":     "minAvailable 1",
		"{minAvailable: 50%}":   "minAvailable 50%",
		"{enabled: false}":      "",
	} {
		var got string
		for _, budget := range rendered[policyv1.PodDisruptionBudget](t, "kube-system", "podDisruptionBudget: "+values, "PodDisruptionBudget") {
			if most := budget.Spec.MaxUnavailable; most != nil {
				got += "maxUnavailable " + most.String()
			}
			if least := budget.Spec.MinAvailable; least != nil {
				got += "minAvailable " + least.String()
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", values, got, want)
		}
	}
}

func TestTheServiceForScrapersIsThereUnlessItIsSwitchedOff(t *testing.T) {
	for values, want := range map[string]int{"{}": 1, "{enabled: true, annotations: {prometheus.io/scrape: 'true'}}": 1, "{enabled: false}": 0} {
		services := rendered[v1.Service](t, "kube-system", "metrics: {service: "+values+"}", "Service")
		if len(services) != want || want == 1 && services[0].Spec.ClusterIP != v1.ClusterIPNone {
			t.Errorf("%s: got %+v, want %d headless Services", values, services, want)
		}
		if want == 1 && strings.Contains(values, "annotations") != (services[0].Annotations["prometheus.io/scrape"] == "true") {
			t.Errorf("%s: got the annotations %v", values, services[0].Annotations)
		}
	}
}
