package run

import (
	"bytes"
	"encoding/json"
	"flag"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	componentbaseconfig "k8s.io/component-base/config"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/leader"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func printed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout bytes.Buffer
	cmd := ConfigCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	if err := cmd.Execute(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return stdout.String()
}

func TestTheSchemaAndTheDefaultsAreThoseOfTheConfiguration(t *testing.T) {
	if printed(t, "schema") != config.Schema || printed(t, "defaults") != config.Defaults {
		t.Error("the printed schema or defaults differ from those of package config")
	}
}

// The defaults of the file are those of the options that every component of Kubernetes has, except for the port and the
// certificate.
func TestTheDefaultsOfComponentsAreUnchanged(t *testing.T) {
	s := newSettings()
	serving, authentication := apiserveroptions.NewSecureServingOptions(), apiserveroptions.NewDelegatingAuthenticationOptions()
	serving.BindPort, serving.ServerCert.PairName, serving.ServerCert.CertDirectory = config.Port, "taint-manager", ""
	authentication.RemoteKubeConfigFileOptional, authentication.TolerateInClusterLookupFailure = true, true
	authorization := apiserveroptions.NewDelegatingAuthorizationOptions()
	authorization.RemoteKubeConfigFileOptional = true
	options := cmp.Options{cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true }), cmp.FilterPath(func(p cmp.Path) bool {
		return strings.Contains(p.String(), "Backoff") || strings.Contains(p.String(), "CustomRoundTripperFn")
	}, cmp.Ignore())}
	if diff := cmp.Diff([]any{serving, authentication, authorization}, []any{s.serving, s.authentication, s.authorization}, options); diff != "" {
		t.Errorf("(-Kubernetes +taint-manager):\n%s", diff)
	}
	if diff := cmp.Diff(logsapi.NewLoggingConfiguration().FlushFrequency.Duration, s.logging.FlushFrequency.Duration); diff != "" {
		t.Error(diff)
	}
}

func TestEachOwnFlagOfRunHasItsField(t *testing.T) {
	var known struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	must(t, json.Unmarshal([]byte(config.Schema), &known))
	flags := map[string]bool{}
	for object, property := range known.Properties {
		flags[config.FlagOf(object)] = true
		for name := range property.Properties {
			flags[config.FlagOf(object+"."+name)] = true
		}
	}
	for _, section := range []string{"eviction", "API server", "leader election"} {
		newSettings().sections.FlagSet(section).VisitAll(func(f *pflag.Flag) {
			if !flags[f.Name] {
				t.Errorf("--%s has no field", f.Name)
			}
		})
	}
}

// A running process applies exactly the fields whose description says so.
func TestAFieldNeedsARestartUnlessItsDescriptionSaysOtherwise(t *testing.T) {
	for text, want := range map[string][]string{
		"policies: [{name: a, method: Hold}]": nil, "guards: {rates: [{name: a, evictionsPerSecond: 1, burst: 1}]}": nil, "paused: true": nil,
		"eviction: {method: Evict, workers: 5, comparisonOperators: false}": nil,
		"eviction: {maxEvictionsPerSecond: 5}":                              {"eviction"}, "shards: 4": {"shards"}, "logging: {verbosity: 2}": {"logging"},
		"leaderElection: {leaseDuration: 30s}\nserving: {securePort: 0}": {"leaderElection", "serving"},
	} {
		next, err := decodeConfig("config.yaml", []byte(header+text+"\n"))
		must(t, err)
		if diff := cmp.Diff(want, newSettings().needRestart(next)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", text, diff)
		}
	}
}

func TestTheLeaseIsThatOfTheLibrary(t *testing.T) {
	if diff := cmp.Diff(leader.Defaults(), componentbaseconfig.LeaderElectionConfiguration(config.Default().LeaderElection)); diff != "" {
		t.Errorf("(-library +configuration):\n%s", diff)
	}
}

func TestFieldsOfComponentsAreTakenIn(t *testing.T) {
	const text = `apiVersion: taint-manager/v1alpha1
kind: TaintManagerConfiguration
serving: {securePort: 1234, bindAddress: 127.0.0.1, tlsMinVersion: VersionTLS13, tlsCurvePreferences: [29, 23]}
authentication: {kubeconfig: a, requestheaderAllowedNames: [x, y], tokenWebhookCacheTTL: 1m}
authorization: {alwaysAllowPaths: [/metrics]}
logging: {format: json, verbosity: 3, flushFrequency: 1s}
`
	s, err := decodeConfig("config.yaml", []byte(text))
	must(t, err)
	got := []any{
		s.serving.BindPort, s.serving.BindAddress.String(), s.serving.MinTLSVersion, s.serving.CurvePreferences,
		s.authentication.RemoteKubeConfigFile, s.authentication.RequestHeader.AllowedNames, s.authentication.CacheTTL.String(),
		s.authorization.AlwaysAllowPaths, s.logging.Format, int(s.logging.Verbosity), s.logging.FlushFrequency.Duration.Duration.String(),
	}
	want := []any{1234, "127.0.0.1", "VersionTLS13", []int32{29, 23}, "a", []string{"x", "y"}, "1m0s", []string{"/metrics"}, "json", 3, "1s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCertificatesByNameAreOnlyInFlagsAndStayBesideAFile(t *testing.T) {
	s := newSettings()
	flag := s.sections.FlagSet("secure serving").Lookup("tls-sni-cert-key")
	must(t, flag.Value.Set("a.crt,a.key:example.com"))
	next, err := s.withFile([]byte("apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\nshards: 4\n"))
	must(t, err)
	if got := next.serving.SNICertKeys; len(got) != 1 || got[0].CertFile != "a.crt" || next.Shards != 4 {
		t.Errorf("got %+v and %d shards", got, next.Shards)
	}
}

// A value of vmodule adds to the one before.
func TestAFlagThatIsGivenTakesNothingFromTheFile(t *testing.T) {
	s := newSettings()
	must(t, s.sections.FlagSet("logging").Set("vmodule", "pool=4"))
	s.given = s.sections.FlagSet("logging").Changed
	next, err := s.withFile([]byte(header + "logging: {vmodule: api=2}\n"))
	must(t, err)
	if got := next.logging.VModule; len(got) != 1 || got[0].FilePattern != "pool" {
		t.Errorf("got %v, want pool=4", got)
	}
}

func TestFlagsThatAreGivenAreNotOverwritten(t *testing.T) {
	s := newSettings()
	s.given = func(flag string) bool { return flag == "shards" }
	must(t, s.sections.FlagSet("eviction").Set("shards", "3"))
	text := "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\nshards: 4\neviction: {workers: 5}\n"
	s.configFile = "-"
	s, err := s.load(strings.NewReader(text))
	if err != nil || s.Shards != 3 || s.Eviction.Workers != 5 {
		t.Errorf("got %d shards, %d workers, refused: %v", s.Shards, s.Eviction.Workers, err)
	}
}

// Refusing a file of any size costs no more than reading the largest allowed one.
func TestAnEndlessFileIsRefused(t *testing.T) {
	data, err := readConfigFile("-", endless{})
	if err != nil || len(data) != config.MaxFileSize+1 {
		t.Errorf("read %d bytes: %v", len(data), err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
