package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The file of alerts is not for the Prometheus operator alone, so nothing else compares it with the operator's API.
func TestThePrometheusRuleHasTheAlertsAndNothingElse(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(dir, "files", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want monitoringv1.PrometheusRuleSpec
	renamed := strings.ReplaceAll(string(text), `job="taint-manager"`, `job="another"`)
	if err := yaml.UnmarshalStrict([]byte(renamed), &want); err != nil {
		t.Fatal(err)
	}
	const values = "metrics: {job: another, prometheusRule: {enabled: true, labels: {release: prometheus}}}"
	got := only[monitoringv1.PrometheusRule](t, "kube-system", values, "PrometheusRule")
	if diff := cmp.Diff(want, got.Spec); diff != "" || len(want.Groups) != 1 || len(want.Groups[0].Rules) < 12 || got.Labels["release"] != "prometheus" {
		t.Errorf("the labels are %v, and the rules (-want +got):\n%s", got.Labels, diff)
	}
}

func secret(name, key string) *v1.SecretKeySelector {
	return &v1.SecretKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: name}, Key: key}
}

func TestTheServiceMonitorTakesCredentialsAndCAFromSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		values      string
		interval    monitoringv1.Duration
		credentials *v1.SecretKeySelector
		tokenFile   bool
		ca          *v1.SecretKeySelector
		serverName  string
	}{
		"nothing given": {"metrics: {serviceMonitor: {enabled: true}}", "", nil, true, nil, ""},
		"all from Secrets": {
			"metrics: {serviceMonitor: {enabled: true, interval: 15s, credentials: {name: scraper}, ca: {name: our-ca, key: root.crt}, serverName: a.example.com}}",
			"15s", secret("scraper", "token"), false, secret("our-ca", "root.crt"), "a.example.com",
		},
		"the certificate's own CA": {
			"metrics: {certificate: {secretName: mine}, serviceMonitor: {enabled: true, credentials: {name: scraper, key: t}}}",
			"", secret("scraper", "t"), false, secret("mine", "ca.crt"), "taint-manager-metrics.kube-system.svc",
		},
		"everybody may read": {"metrics: {anonymous: true, serviceMonitor: {enabled: true}}", "", nil, false, nil, ""},
	} {
		service := only[v1.Service](t, "kube-system", test.values, "Service")
		monitor := only[monitoringv1.ServiceMonitor](t, "kube-system", test.values, "ServiceMonitor")
		if service.Spec.ClusterIP != v1.ClusterIPNone || len(service.Spec.Ports) != 1 || len(monitor.Spec.Endpoints) != 1 {
			t.Errorf("%s: got the Service %+v and the ServiceMonitor %+v; want a headless one with one port", name, service, monitor)
			continue
		}
		endpoint := monitor.Spec.Endpoints[0]
		var credentials *v1.SecretKeySelector
		if endpoint.Authorization != nil {
			credentials = endpoint.Authorization.Credentials
		}
		tls := endpoint.TLSConfig
		var serverName string
		if tls.ServerName != nil {
			serverName = *tls.ServerName
		}
		unverified := tls.InsecureSkipVerify != nil && *tls.InsecureSkipVerify
		byFile := endpoint.BearerTokenFile != "" //nolint:staticcheck // what remains without a Secret that has the token
		got := []any{endpoint.Port, endpoint.Path, endpoint.Interval, credentials, byFile, tls.CA.Secret, serverName, unverified}
		want := []any{service.Spec.Ports[0].Name, "/metrics", test.interval, test.credentials, test.tokenFile, test.ca, test.serverName, test.ca == nil}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(service.Spec.Selector, monitor.Spec.Selector.MatchLabels); diff != "" || service.Labels["app.kubernetes.io/name"] != service.Spec.Selector["app.kubernetes.io/name"] {
			t.Errorf("%s: the ServiceMonitor does not select the Service:\n%s", name, diff)
		}
	}
}
