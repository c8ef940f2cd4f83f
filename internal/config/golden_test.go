package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/internal/config"
)

func TestTheGoldenFileHoldsEveryRefusal(t *testing.T) {
	golden, d := refusals(), config.Default()
	for _, setting := range d.Settings() {
		if _, refusable := config.Unreadable(setting.Flag, ""); refusable && !strings.Contains(golden, "\t--"+setting.Flag+"=") {
			t.Errorf("no line of the golden file refuses --%s: add a change to the list that does", setting.Flag)
		}
	}
}

func TestEachSettingHasItsFlagItsHelpAndItsField(t *testing.T) {
	c := config.Default()
	flags, fields, values := map[string]bool{}, map[string]bool{}, map[any]bool{}
	for _, s := range c.Settings() {
		if s.Usage == "" || s.Field == "" || flags[s.Flag] || values[s.Value] || fields[s.Field] {
			t.Errorf("--%s: no help or no field of the file, or a flag or field that another setting has", s.Flag)
		}
		fields[s.Field] = true
		flags[s.Flag], values[s.Value] = true, true
		if err := s.Value.Set(s.Value.String()); err != nil {
			t.Errorf("--%s: its default is refused: %v", s.Flag, err)
		}
	}
	const others = 6 // LeaderElection is one field with seven settings
	if inStruct := reflect.TypeFor[config.Configuration]().NumField(); len(flags) != inStruct+others {
		t.Errorf("%d settings of %d fields", len(flags), inStruct)
	}
}

func TestATextThatIsNoNumberIsRefusedAsAWrongNumberIs(t *testing.T) {
	for flag, want := range map[string]string{
		"eviction-workers":            "it takes 1 to 1000",
		"max-evictions-per-second":    "it takes 0 for no limit, or 0.001 to 1000000",
		"shards":                      "it takes 1 to 256",
		"kube-api-qps":                "it takes -1 or 0 for no limit, or 1 to 100000",
		"kube-api-burst":              "it takes 0 to 1000000",
		"leader-elect-lease-duration": "it takes whole seconds from 1s to 1h0m0s",
		"leader-elect-renew-deadline": "it takes less than --leader-elect-lease-duration=15s and more than 1.2 times --leader-elect-retry-period=2s",
		"leader-elect-retry-period":   "it takes 10ms or more",
	} {
		got, known := config.Unreadable(flag, "many")
		if !known || got.Flag != flag || got.Value != "many" || got.Allowed != want || got.Next == "" {
			t.Errorf("%s: got %+v, %t; want %s", flag, got, known, want)
		}
	}
	if got, known := config.Unreadable("kubeconfig", "x"); known {
		t.Errorf("a flag that takes any text: got %+v", got)
	}
}
