package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// question returns the question: about devices, or about nodes.
func (o *options) question(stdin io.Reader) (q foresight.Question, err error) {
	if q.Devices, err = o.devices(stdin); err != nil || q.Devices != nil {
		return q, err
	}
	if q.Selection, err = o.selection(); err == nil {
		q.Changes, err = o.changes()
	}
	return q, err
}

// devices returns the rules of --device-rule and --device-taint; none if nodes get taints.
func (o *options) devices(stdin io.Reader) (rules []*device.Rule, err error) {
	if o.deviceRule != "" {
		rules, err = readRule(o.deviceRule, stdin)
		err = cmp.Or(o.from.Check(o.rules.File, o.deviceRule), err)
	}
	for _, written := range o.deviceTaints {
		rule, problem := parseDeviceTaint(written)
		rules, err = append(rules, rule), cmp.Or(err, problem)
	}
	if len(rules) > 0 && (len(o.nodes)+len(o.taints) > 0 || o.allNodes || o.selector+o.compare != "") {
		err = errors.New("--device-rule and --device-taint cannot be used with --node, --selector, --all-nodes, --taint " +
			"or --compare")
	}
	return rules, err
}

// parseDeviceTaint returns a rule without a name, for one device.
func parseDeviceTaint(written string) (*device.Rule, error) {
	where, what, _ := strings.Cut(written, "=")
	driver, rest, _ := strings.Cut(where, "/")
	last := max(0, strings.LastIndex(rest, "/")) // the name of a pool may have slashes
	pool, name := rest[:last], strings.TrimPrefix(rest[last:], "/")
	change, err := foresight.ParseChange(what)
	if driver == "" || pool == "" || name == "" || change.Remove {
		err = errors.New("must be DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT")
	}
	if err != nil {
		return nil, flags.Invalid("device-taint", written, err.Error())
	}
	selector := &resourcev1.DeviceTaintSelector{Driver: &driver, Pool: &pool, Device: &name}
	return &device.Rule{Selector: selector, Taint: change.Taint}, nil
}

// readRule returns the DeviceTaintRule of a file.
func readRule(file string, stdin io.Reader) ([]*device.Rule, error) {
	text, err := os.ReadFile(file)
	if file == "-" {
		text, err = io.ReadAll(stdin)
	}
	var r resourcev1.DeviceTaintRule
	err = cmp.Or(err, yaml.UnmarshalStrict(text, &r))
	rule := device.Of(&r).(*device.Rule)
	at := field.NewPath("spec", "taint")
	problems := append(validation.IsQualifiedName(rule.Taint.Key), validation.IsValidLabelValue(rule.Taint.Value)...)
	switch effects := []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule, "None"}; {
	case err != nil:
	case r.Kind != "DeviceTaintRule" || !strings.HasPrefix(r.APIVersion, "resource.k8s.io/v1"),
		strings.Contains(string(text), "\n---"), r.Name == "":
		err = errors.New("must be a single DeviceTaintRule (resource.k8s.io/v1) with a name")
	case !slices.Contains(effects, rule.Taint.Effect):
		err = field.NotSupported(at.Child("effect"), rule.Taint.Effect, effects)
	case len(problems) > 0:
		err = field.Invalid(at, rule.Taint.ToString(), problems[0])
	default:
		return []*device.Rule{rule}, nil
	}
	return nil, fmt.Errorf("--device-rule=%s: %w", file, err)
}

// tainted names the devices, their taints and the rule.
func (t *text) tainted() string {
	d := t.Devices
	what := fmt.Sprintf("%d of %s", len(d.Selected), foresight.Count(d.All, "device"))
	if len(d.Selected) == 1 {
		what = d.Selected[0]
	}
	does := "Tainting " + what + " with " + flags.JoinWords(d.Taints, "and")
	if d.Rule != "" {
		does += " by DeviceTaintRule " + d.Rule
	}
	return does
}
