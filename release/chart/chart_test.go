package chart

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/engine"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var dir = filepath.Join("..", "..", "deploy", "chart")

// releases returns the releases of testdata by name. The first line of each values file names the namespace.
func releases(t *testing.T) map[string]Release {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.values.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no values files: %v", err)
	}
	all := map[string]Release{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		namespace := regexp.MustCompile(`^# namespace: (\S+)\n`).FindSubmatch(text)
		if namespace == nil {
			t.Fatalf("%s names no namespace in its first line", path)
		}
		r := Release{Namespace: string(namespace[1])}
		if err := yaml.UnmarshalStrict(text, &r.Values); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".values.yaml")] = r
	}
	return all
}

// release returns a release with these values.
func release(t *testing.T, namespace, values string) Release {
	t.Helper()
	r := Release{Namespace: namespace}
	if err := yaml.Unmarshal([]byte(values), &r.Values); err != nil {
		t.Fatalf("%s: %v", values, err)
	}
	return r
}

// manifests returns what the chart renders for a release.
func manifests(t *testing.T, r Release) string {
	t.Helper()
	files, err := Render(dir, r)
	if err != nil {
		t.Fatalf("%v: %v", r.Values, err)
	}
	return Join(files)
}

func TestTheChartRendersAsTheGoldenFilesSay(t *testing.T) {
	for name, r := range releases(t) {
		said, err := notesBy(dir, r, engine.Render)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, name+".golden.yaml", manifests(t, r))
		golden(t, name+".notes.txt", said)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant, run 'make golden':\n%s", name, diff)
	}
}

func TestHelmsLinterFindsNothing(t *testing.T) {
	for _, version := range []string{"v1.32.0", "v1.37.0"} {
		kube, err := common.ParseKubeVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range releases(t) {
			result := lint.RunAll(dir, r.Values, r.Namespace, lint.WithKubeVersion(kube))
			for _, message := range result.Messages {
				if !strings.Contains(message.Error(), "icon is recommended") || message.Severity != support.InfoSev {
					t.Errorf("%s on %s: %v", name, version, message)
				}
			}
		}
	}
}

func TestValuesThatTheSchemaRefusesAreNotRendered(t *testing.T) {
	for name, test := range map[string]struct{ values, says string }{
		"unknown value":          {"replica: 3", "replica"},
		"no replicas":            {"replicas: 0", "replicas"},
		"half a digest":          {"image: {digest: abc}", "digest"},
		"unknown field":          {"config: {shard: 8}", "shard"},
		"unknown method":         {"config: {eviction: {method: Kill}}", "method"},
		"too many shards":        {"config: {shards: 1000}", "shards"},
		"the file's apiVersion":  {"config: {apiVersion: taint-manager/v1alpha1}", "apiVersion"},
		"a flag without dashes":  {"extraArgs: [dry-run]", "extraArgs"},
		"half a decision":        {"rbac: {create: maybe}", "create"},
		"another file":           {"extraArgs: [--config=/other.yaml]", "extraArgs has --config=/other.yaml, which would override the configuration file: set its field in config"},
		"a setting by a flag":    {"extraArgs: [--v=4]", "extraArgs has --v=4, which would override"},
		"a switch by a flag":     {"extraArgs: [--dry-run]", "extraArgs has --dry-run, which would override"},
		"the pods' name":         {"podLabels: {app.kubernetes.io/name: other}", "podLabels has app.kubernetes.io/name, which the chart sets itself"},
		"the version":            {"commonLabels: {app.kubernetes.io/version: v9}", "commonLabels has app.kubernetes.io/version, which the chart sets itself"},
		"helm's own label":       {"commonLabels: {app.kubernetes.io/managed-by: me}", "commonLabels has app.kubernetes.io/managed-by, which"},
		"a label twice":          {"{commonLabels: {team: a}, podLabels: {team: b}}", "podLabels and commonLabels have team"},
		"the monitor's name":     {"metrics: {serviceMonitor: {enabled: true, labels: {app.kubernetes.io/name: other}}}", "metrics.serviceMonitor.labels has app.kubernetes.io/name, which the chart sets itself"},
		"the rules' name":        {"metrics: {prometheusRule: {enabled: true, labels: {app.kubernetes.io/name: other}}}", "metrics.prometheusRule.labels has app.kubernetes.io/name, which the chart sets itself"},
		"the monitor's label":    {"{commonLabels: {team: a}, metrics: {serviceMonitor: {enabled: true, labels: {team: b}}}}", "metrics.serviceMonitor.labels and commonLabels have team"},
		"the rules' label":       {"{commonLabels: {team: a}, metrics: {prometheusRule: {enabled: true, labels: {team: b}}}}", "metrics.prometheusRule.labels and commonLabels have team"},
		"the dashboard's label":  {"{commonLabels: {grafana_dashboard: '1'}, metrics: {dashboard: {enabled: true}}}", "metrics.dashboard and commonLabels have grafana_dashboard"},
		"the hash":               {"podAnnotations: {taint-manager/config-sha256: abc}", "podAnnotations has taint-manager/config-sha256, which"},
		"a number as a label":    {"commonLabels: {cost-center: 42}", "cost-center"},
		"the chart's variable":   {"extraEnv: [{name: POD_UID, value: a}]", "extraEnv has POD_UID, which the chart sets itself"},
		"the chart's volume":     {"extraVolumes: [{name: config, emptyDir: {}}]", "extraVolumes has config, which the chart sets itself"},
		"the pod's name":         {"extraEnv: [{name: POD_NAME, value: a}]", "extraEnv has POD_NAME, which the chart sets itself"},
		"the certificate":        {"{extraVolumes: [{name: certificate, emptyDir: {}}], metrics: {certificate: {secretName: a}}}", "extraVolumes has certificate, which the chart sets itself"},
		"the file's folder":      {"extraVolumeMounts: [{name: a, mountPath: /etc/taint-manager/}]", "extraVolumeMounts has /etc/taint-manager/, where the chart mounts a volume itself"},
		"a folder in it":         {"extraVolumeMounts: [{name: a, mountPath: /etc/taint-manager/more}]", "extraVolumeMounts has /etc/taint-manager/more, where"},
		"the certificate's":      {"{extraVolumeMounts: [{name: a, mountPath: /etc/taint-manager-tls}], metrics: {certificate: {secretName: a}}}", "extraVolumeMounts has /etc/taint-manager-tls, where"},
		"a name without a CA":    {"metrics: {serviceMonitor: {enabled: true, serverName: a.example.com}}", "metrics.serviceMonitor.serverName is a.example.com, and without a CA no certificate is verified"},
		"no Service to monitor":  {"metrics: {service: {enabled: false}, serviceMonitor: {enabled: true}}", "metrics.serviceMonitor selects the Service"},
		"a budget of all":        {"podDisruptionBudget: {minAvailable: 2}", "podDisruptionBudget.minAvailable is 2, and of 2 replicas no drain could move any"},
		"a budget of 100 %":      {"podDisruptionBudget: {minAvailable: 100%}", "minAvailable"},
		"no service account":     {"serviceAccount: {create: false}", "set serviceAccount.name to one that is there"},
		"the page on a node":     {"{hostNetwork: true, config: {statusAddress: '127.0.0.1:8080'}}", "with hostNetwork every process of the node could read the page"},
		"names of pull secrets":  {"imagePullSecrets: [registry]", "imagePullSecrets"},
		"a budget of nothing":    {"podDisruptionBudget: {maxUnavailable: 0}", "maxUnavailable"},
		"replicas that all lead": {"config: {leaderElection: {leaderElect: false}}", "each of 2 replicas would evict"},
		"no port for the probes": {"config: {serving: {securePort: 0}}", "config.serving.securePort"},
		"a loopback address":     {"config: {serving: {bindAddress: 127.0.0.1}}", "config.serving.bindAddress"},
		"the same of IPv6":       {"config: {serving: {bindAddress: '::1'}}", "config.serving.bindAddress"},
		"a limit that is true":   {"resources: {limits: {memory: true}}", "/resources/limits/memory"},
		"a toleration's mistake": {"tolerations: [{operator: exists}]", "tolerations"},
	} {
		_, err := Render(dir, release(t, "kube-system", test.values))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want a refusal that names %q", name, err, test.says)
		}
	}
}

func TestOneReplicaNeedsNoLeaderElection(t *testing.T) {
	for values, strategy := range map[string]string{
		"{replicas: 1, config: {leaderElection: {leaderElect: false}}}": "Recreate",
		"{config: {dryRun: true}}":                                      "RollingUpdate",
	} {
		all := manifests(t, release(t, "kube-system", values))
		if strings.Contains(all, "resources: [leases]\n  verbs: [create]\n") {
			t.Errorf("%s: it may write leases", values)
		}
		if !strings.Contains(all, "\n    type: "+strategy+"\n") {
			t.Errorf("%s: the strategy is not %s", values, strategy)
		}
	}
}

func TestADigestWinsOverTheTag(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for _, test := range []struct{ image, want string }{
		{"{}", "localhost/taint-manager:v9.8.7"},
		{"{tag: v1}", "localhost/taint-manager:v1"},
		{"{repository: 'registry:5000/a/b', tag: v1, digest: '" + digest + "'}", "registry:5000/a/b@" + digest},
	} {
		r := release(t, "kube-system", "image: "+test.image)
		r.Version = "v9.8.7"
		if all := manifests(t, r); !strings.Contains(all, "image: "+test.want+"\n") {
			t.Errorf("image %s does not yield %s", test.image, test.want)
		}
	}
}

func TestProbesAndNetworkPolicyHaveThePortOfTheConfiguration(t *testing.T) {
	for config, want := range map[string]string{"{}": "10270", "{serving: {securePort: 10999}}": "10999"} {
		all := manifests(t, release(t, "kube-system", "{networkPolicy: {enabled: true}, config: "+config+"}"))
		for _, line := range []string{"- {name: https, containerPort: " + want + "}", "- {port: " + want + ", protocol: TCP}"} {
			if !strings.Contains(all, line) {
				t.Errorf("config %s does not yield %s", config, line)
			}
		}
		if n := strings.Count(all, "port: https,"); n != 3 {
			t.Errorf("config %s: %d probes ask that port, want 3", config, n)
		}
	}
}

func TestOnlyAChangeOfAFieldThatNeedsARestartRestartsThePods(t *testing.T) {
	annotation := func(values string) string {
		return regexp.MustCompile(`config-sha256: \w+`).FindString(manifests(t, release(t, "kube-system", values)))
	}
	plain := annotation("{}")
	for values, restarts := range map[string]bool{
		"replicas: 3":                                                             false,
		"config: {paused: true}":                                                  false,
		"config: {eviction: {method: Evict}}":                                     false,
		"config: {eviction: {workers: 3}}":                                        false,
		"config: {eviction: {comparisonOperators: false}}":                        false,
		"config: {policies: [{name: a, method: Hold}]}":                           false,
		"config: {guards: {rates: [{name: a, evictionsPerSecond: 1, burst: 1}]}}": false,

		"config: {shards: 4}":                               true,
		"config: {dryRun: true}":                            true,
		"config: {clusterName: a}":                          true,
		"config: {statusAddress: '127.0.0.1:8081'}":         true,
		"config: {eviction: {maxEvictionsPerSecond: 9}}":    true,
		"config: {clientConnection: {qps: 9}}":              true,
		"config: {leaderElection: {leaseDuration: 16s}}":    true,
		"config: {logging: {verbosity: 2}}":                 true,
		"config: {serving: {securePort: 10271}}":            true,
		"config: {eviction: {method: Evict}, shards: 4}":    true,
		"config: {authentication: {skipLookup: true}}":      true,
		"config: {authorization: {kubeconfig: /some/file}}": true,
	} {
		if got := annotation(values); (got != plain) != restarts || got == "" {
			t.Errorf("%s: restarts %t, want %t", values, got != plain, restarts)
		}
	}
}

// TestTheHookCarriesTheFileThatIsInstalled compares the file that the image validates with that of the ConfigMap. Package
// test/e2e runs the hook.
func TestTheHookCarriesTheFileThatIsInstalled(t *testing.T) {
	for name, r := range releases(t) {
		files, err := Render(dir, r)
		if err != nil {
			t.Fatal(err)
		}
		var job batchv1.Job
		var installed v1.ConfigMap
		for _, file := range files {
			switch file.Name {
			case "validate.yaml":
				err = yaml.UnmarshalStrict([]byte(file.Text), &job)
			case "configmap.yaml":
				err = yaml.UnmarshalStrict([]byte(file.Text), &installed)
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", name, file.Name, err)
			}
		}
		if r.Values["config"] == nil && job.Name == "" {
			continue // nothing to validate
		}
		if got, want := job.Spec.Template.Annotations["taint-manager/config"], installed.Data["config.yaml"]; got != want {
			t.Errorf("%s: the hook carries\n%s\nwant\n%s", name, got, want)
		}
		if got, want := job.Annotations["helm.sh/hook"], "pre-install,pre-upgrade"; got != want {
			t.Errorf("%s: it is a hook of %q, want %q", name, got, want)
		}
	}
}
