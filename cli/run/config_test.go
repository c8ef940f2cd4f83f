package run

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/internal/config"
)

var update = flag.Bool("update", false, "write the schema anew")

// schemaFile is in the repository for editors.
var schemaFile = filepath.Join("..", "..", "docs", "schema", "taintmanagerconfiguration.json")

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

func TestTheSchemaOfTheRepositoryIsThatOfTheProgram(t *testing.T) {
	got := printed(t, "schema")
	if *update {
		if err := os.WriteFile(schemaFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not current, run make golden (-want +got):\n%s", schemaFile, diff)
	}
}

// The printed defaults set everything that has a default, and change nothing.
func TestTheDefaultsThatArePrintedChangeNothing(t *testing.T) {
	text := printed(t, "defaults")
	s, err := decodeConfig("defaults", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plain := newSettings()
	was, is := plain.fileSettings(), s.fileSettings()
	for i := range is {
		if is[i].Value.String() != was[i].Value.String() {
			t.Errorf("%s: got %s, want %s", is[i].Field, is[i].Value.String(), was[i].Value.String())
		}
		if s.Set[is[i].Flag] == 0 && strings.Trim(is[i].Value.String(), "[]") != "" {
			t.Errorf("%s is missing", is[i].Field)
		}
	}
}

// Each flag of "run" that is a setting has a field.
func TestEachFlagOfRunHasItsField(t *testing.T) {
	s := newSettings()
	fields := map[string]string{"help": "-", "config": "-", "tls-sni-cert-key": "-"} // the last one holds pairs of files
	names := map[string]bool{}
	for _, setting := range s.fileSettings() {
		if names[setting.Field] || !regexp.MustCompile(`^[a-z][A-Za-z0-9.]+$`).MatchString(setting.Field) {
			t.Errorf("--%s: the field %q is another's, or misnamed", setting.Flag, setting.Field)
		}
		fields[setting.Flag], names[setting.Field] = setting.Field, true
	}
	for _, section := range s.sections.FlagSets {
		section.VisitAll(func(f *pflag.Flag) {
			if fields[f.Name] == "" && !f.Hidden {
				t.Errorf("--%s has no field", f.Name)
			}
		})
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
	if err != nil {
		t.Fatal(err)
	}
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
	s.given, s.Shards = func(flag string) bool { return flag == "shards" }, 3
	text := "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\nshards: 4\neviction: {workers: 5}\n"
	s.configFile = "-"
	s, err := s.load(strings.NewReader(text))
	if err != nil || s.Shards != 3 || s.EvictionWorkers != 5 || s.Set["shards"] != 3 {
		t.Errorf("got %d shards, %d workers, %v, refused: %v", s.Shards, s.EvictionWorkers, s.Set, err)
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
