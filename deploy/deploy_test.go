// Package deploy_test specifies the rendered manifests. Package test/e2e applies them to a real control plane.
package deploy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/taint"
)

// object is any object of a manifest: its identity and its text.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	text []byte
}

// objects returns the objects of a file of this folder.
func objects(t *testing.T, name string) []object {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, document := range bytes.Split(file, []byte("\n---\n")) {
		o := object{text: append(slices.Clone(document), '\n')}
		if err := yaml.Unmarshal(document, &o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// deployment decodes the Deployment of install.yaml, and rejects fields that the API does not have.
func deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	for _, o := range objects(t, "install.yaml") {
		if o.Kind == "Deployment" {
			d := &appsv1.Deployment{}
			if err := yaml.UnmarshalStrict(o.text, d); err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatal("install.yaml has no Deployment")
	return nil
}

func TestKustomizeHasTheObjectsOfInstall(t *testing.T) {
	names, err := filepath.Glob("kustomize/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, name := range names {
		if filepath.Base(name) != "kustomization.yaml" {
			all = append(all, objects(t, name)...)
		}
	}
	texts := func(list []object) map[string]any {
		set := map[string]any{}
		for _, o := range list {
			var value any
			if err := yaml.Unmarshal(o.text, &value); err != nil {
				t.Fatal(err)
			}
			set[o.Kind+" "+o.Metadata.Namespace+"/"+o.Metadata.Name] = value
		}
		return set
	}
	if diff := cmp.Diff(texts(objects(t, "install.yaml")), texts(all)); diff != "" {
		t.Errorf("kustomize differs (-install +kustomize):\n%s", diff)
	}
}

// leaves returns after how many seconds a pod with these tolerations leaves a node that gets this taint; -1 for never.
func leaves(tolerations []v1.Toleration, key string) float64 {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	executes := v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}
	node := &taint.Node{Name: "n", UID: "n", Taints: []taint.History{{{Taint: executes, Since: start}}}}
	pod := &taint.Pod{UID: "p", Node: "n", Phase: v1.PodRunning, Bound: start.Add(-time.Hour), Tolerations: tolerations}
	verdict := taint.Decide(pod, node, taint.Rules{})
	if !verdict.Evict {
		return -1
	}
	return verdict.At.Sub(start).Seconds()
}

func TestAReplicaLeavesADeadNodeSoonAndAControlPlaneNodeNever(t *testing.T) {
	tolerations := deployment(t).Spec.Template.Spec.Tolerations
	for key, want := range map[string]float64{
		v1.TaintNodeNotReady: 30, v1.TaintNodeUnreachable: 30,
		"maintenance": 0, "node.kubernetes.io/out-of-service": 0,
		"node-role.kubernetes.io/control-plane": -1, "node-role.kubernetes.io/etcd": -1, "CriticalAddonsOnly": -1,
	} {
		if got := leaves(tolerations, key); got != want {
			t.Errorf("under %s:NoExecute it leaves after %v s, want %v", key, got, want)
		}
	}
}

// The scheduler ignores tolerationSeconds: a pod that tolerates a taint for a time comes back to its node.
func TestAReplicaIsScheduledToNoNodeThatItWouldLeave(t *testing.T) {
	for _, toleration := range deployment(t).Spec.Template.Spec.Tolerations {
		lifecycle := toleration.Key == v1.TaintNodeNotReady || toleration.Key == v1.TaintNodeUnreachable // with a twin of effect NoSchedule
		if toleration.TolerationSeconds != nil && !lifecycle {
			t.Errorf("%+v lets replicas come back to a node with a permanent taint", toleration)
		}
	}
}

func TestAReplicaMayRunOnControlPlaneNodesAndOnNoOtherThatIsNotToBeScheduledTo(t *testing.T) {
	tolerations := deployment(t).Spec.Template.Spec.Tolerations
	for key, want := range map[string]bool{
		"node-role.kubernetes.io/control-plane": true, "node-role.kubernetes.io/etcd": true, "CriticalAddonsOnly": true,
		v1.TaintNodeUnschedulable: false, v1.TaintNodeNotReady: false,
	} {
		got := slices.ContainsFunc(tolerations, func(t v1.Toleration) bool {
			return (t.Effect == "" || t.Effect == v1.TaintEffectNoSchedule) && (t.Key == "" || t.Key == key)
		})
		if got != want {
			t.Errorf("%s:NoSchedule is tolerated: %t, want %t", key, got, want)
		}
	}
}

func TestThePodHasNoMorePrivilegesThanItNeeds(t *testing.T) {
	spec := deployment(t).Spec.Template.Spec
	container := spec.Containers[0]
	for what, ok := range map[string]bool{
		"one container":          len(spec.Containers) == 1 && len(spec.InitContainers) == 0,
		"no network of the host": !spec.HostNetwork && !spec.HostPID && !spec.HostIPC,
		"not root, by a user that the image or the cluster chooses": *spec.SecurityContext.RunAsNonRoot && spec.SecurityContext.RunAsUser == nil && container.SecurityContext.RunAsUser == nil,
		"seccomp":                    spec.SecurityContext.SeccompProfile.Type == v1.SeccompProfileTypeRuntimeDefault,
		"a read-only root":           *container.SecurityContext.ReadOnlyRootFilesystem,
		"no escalation":              !*container.SecurityContext.AllowPrivilegeEscalation,
		"no capabilities":            slices.Equal(container.SecurityContext.Capabilities.Drop, []v1.Capability{"ALL"}),
		"memory requested, limited":  !container.Resources.Requests.Memory().IsZero() && !container.Resources.Limits.Memory().IsZero(),
		"CPU requested, not limited": !container.Resources.Requests.Cpu().IsZero() && container.Resources.Limits.Cpu().IsZero(),
		"goes after other pods":      spec.PriorityClassName == "system-cluster-critical",
	} {
		if !ok {
			t.Errorf("%s: it is not so", what)
		}
	}
}

func TestGOMEMLIMITIsNineTenthsOfTheMemoryLimit(t *testing.T) {
	container := deployment(t).Spec.Template.Spec.Containers[0]
	want := []string{fmt.Sprintf("%dB", container.Resources.Limits.Memory().Value()*9/10)}
	var got []string
	for _, variable := range container.Env {
		if variable.Name == "GOMEMLIMIT" {
			got = append(got, variable.Value)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("under a limit of %v it is %q, want %q", container.Resources.Limits.Memory(), got, want)
	}
}

func TestTheConfigurationIsMountedAsADirectorySoThatItFollowsTheConfigMap(t *testing.T) {
	spec := deployment(t).Spec.Template.Spec
	mount, volume := spec.Containers[0].VolumeMounts[0], spec.Volumes[0]
	if mount.SubPath != "" || mount.Name != volume.Name || volume.ConfigMap == nil || volume.ConfigMap.Name != "taint-manager" {
		t.Errorf("got mount %+v of volume %+v", mount, volume)
	}
	if !slices.Contains(spec.Containers[0].Args, "--config="+mount.MountPath+"/config.yaml") {
		t.Errorf("the arguments %q do not name the file in %s", spec.Containers[0].Args, mount.MountPath)
	}
}

func TestProbesAskTheSecurePortByHTTPS(t *testing.T) {
	container := deployment(t).Spec.Template.Spec.Containers[0]
	if p := container.Ports[0]; p.ContainerPort != 10270 {
		t.Errorf("got port %d", p.ContainerPort)
	}
	for _, test := range []struct {
		probe *v1.Probe
		path  string
	}{{container.StartupProbe, "/livez"}, {container.LivenessProbe, "/livez"}, {container.ReadinessProbe, "/readyz"}} {
		get := test.probe.HTTPGet
		if get.Scheme != v1.URISchemeHTTPS || get.Path != test.path || get.Port.String() != container.Ports[0].Name {
			t.Errorf("got %+v, want %s by HTTPS", get, test.path)
		}
	}
}

func TestTheValuesOfTheChartTakeWhatTheConfigurationFileTakes(t *testing.T) {
	var values, file struct {
		Properties map[string]any `json:"properties"`
	}
	for name, into := range map[string]any{"chart/values.schema.json": &values, "../docs/schema/taintmanagerconfiguration.json": &file} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	delete(file.Properties, "apiVersion")
	delete(file.Properties, "kind")
	config, _ := values.Properties["config"].(map[string]any)
	if diff := cmp.Diff(any(file.Properties), config["properties"]); diff != "" {
		t.Errorf("run 'make manifests'; the schema of config differs (-file +chart):\n%s", diff)
	}
}

// TestTheChartRestartsForNoFieldThatARunningProcessTakesIn compares the fields that the chart leaves out of the hash in
// the pods' annotation with the settings.
func TestTheChartRestartsForNoFieldThatARunningProcessTakesIn(t *testing.T) {
	helpers, err := os.ReadFile("chart/templates/_helpers.tpl")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, omitted := range regexp.MustCompile(`(get \$config "eviction"[^)]*\)|fromYaml\))((?: "\w+")+)`).FindAllStringSubmatch(string(helpers), -1) {
		for name := range strings.FieldsSeq(strings.ReplaceAll(omitted[2], `"`, "")) {
			if strings.HasPrefix(omitted[1], "get") {
				name = "eviction." + name
			}
			got = append(got, name)
		}
	}
	want := live(t)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taint-manager.restartConfig differs (-taken in +left out):\n%s", diff)
	}
}

// live returns the fields whose description says that a change needs no restart.
func live(t *testing.T) (paths []string) {
	type part struct {
		Description string
		Properties  map[string]part
	}
	var root part
	if err := yaml.Unmarshal([]byte(config.Schema), &root); err != nil {
		t.Fatal(err)
	}
	add := func(path string, p part) {
		if strings.Contains(p.Description, "without a restart") {
			paths = append(paths, path)
		}
	}
	for name, property := range root.Properties {
		add(name, property)
		for inner, p := range property.Properties {
			add(name+"."+inner, p)
		}
	}
	return paths
}
