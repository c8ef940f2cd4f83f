package foresight_test

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

func TestAChangeIsWrittenAsKubectlTaintTakesIt(t *testing.T) {
	for _, c := range []struct {
		text   string
		taint  v1.Taint
		remove bool
	}{
		{"gpu=a100:NoExecute", v1.Taint{Key: "gpu", Value: "a100", Effect: v1.TaintEffectNoExecute}, false},
		{"gpu:NoExecute", v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}, false},
		{"gpu=:NoExecute", v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}, false},
		{"example.com/gpu:PreferNoSchedule", v1.Taint{Key: "example.com/gpu", Effect: v1.TaintEffectPreferNoSchedule}, false},
		{"gpu:NoSchedule-", v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoSchedule}, true},
		{"gpu=a100:NoExecute-", v1.Taint{Key: "gpu", Value: "a100", Effect: v1.TaintEffectNoExecute}, true},
		{"gpu-", v1.Taint{Key: "gpu"}, true},
	} {
		got, err := foresight.ParseChange(c.text)
		if err != nil || got.Taint != c.taint || got.Remove != c.remove {
			t.Errorf("%s: got %+v, %v", c.text, got, err)
		}
	}
}

func TestAChangeThatCanNotBeMadeIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "the KEY is missing",
		"gpu":               "the EFFECT is missing",
		"network=slow-":     "the EFFECT is missing",
		"gpu:NoExcute":      `invalid effect "NoExcute": must be NoExecute, NoSchedule or PreferNoSchedule`,
		"gpu:":              `invalid effect "": must be NoExecute, NoSchedule or PreferNoSchedule`,
		"gpu=a:b:NoExecute": `invalid effect "b:NoExecute": must be NoExecute, NoSchedule or PreferNoSchedule`,
		"g pu:NoExecute":    `invalid key "g pu": `,
		"gpu=a b:NoExecute": `invalid value "a b": `,
		"a/b/gpu:NoExecute": `invalid key "a/b/gpu": `,
		"-":                 "the KEY is missing",
	} {
		if _, err := foresight.ParseChange(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestChangesThatContradictEachOtherAreRefused(t *testing.T) {
	for _, c := range []struct{ changes, want string }{
		{"", "no taint specified"},
		{"gpu=a:NoExecute gpu=b:NoExecute", "cannot set both gpu=a:NoExecute and gpu=b:NoExecute: "},
		{"gpu:NoExecute gpu:NoExecute", "cannot set both gpu:NoExecute and gpu:NoExecute: "},
		{"gpu:NoExecute gpu:NoExecute-", "cannot both set and remove a taint: gpu:NoExecute and gpu:NoExecute-"},
		{"gpu- gpu=a:NoExecute", "cannot both set and remove a taint: gpu- and gpu=a:NoExecute"},
		{"gpu=a:NoExecute gpu-", "cannot both set and remove a taint: gpu=a:NoExecute and gpu-"},
		{"gpu:NoExecute gpu:NoSchedule", ""},
		{"gpu:NoExecute gpu:NoSchedule-", ""},
		{"gpu:NoExecute disk:NoExecute old-", ""},
	} {
		var changes []foresight.Change
		for text := range strings.FieldsSeq(c.changes) {
			change := must(foresight.ParseChange(text))
			changes = append(changes, change)
		}
		err := foresight.Contradiction(changes)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.changes, err, c.want)
		}
	}
}
