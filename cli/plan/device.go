package plan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// devices returns the rules of --device-rule and --device-taint; nil if nodes get taints.
func (o *options) devices(stdin io.Reader) (rules []*device.Rule, err error) {
	if o.deviceRule == "" && len(o.deviceTaints) == 0 {
		return nil, nil
	}
	if len(o.nodes)+len(o.taints) > 0 || o.allNodes || o.selector+o.compare != "" {
		return nil, errors.New("--device-rule and --device-taint cannot be used with --taint, --compare or nodes")
	}
	if o.deviceRule != "" {
		rule, err := readRule(o.deviceRule, stdin)
		if err != nil {
			return nil, fmt.Errorf("--device-rule=%s: %w", o.deviceRule, err)
		}
		rules = append(rules, rule)
	}
	for _, written := range o.deviceTaints {
		rule, err := parseDeviceTaint(written)
		if err != nil {
			return nil, fmt.Errorf("invalid --device-taint=%s: %w", written, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// parseDeviceTaint returns a rule without a name, for one device.
func parseDeviceTaint(written string) (*device.Rule, error) {
	where, what, _ := strings.Cut(written, "=")
	driver, rest, _ := strings.Cut(where, "/")
	last := strings.LastIndex(rest, "/") // the name of a pool may have slashes
	change, err := foresight.ParseChange(what)
	if driver == "" || last < 1 || last == len(rest)-1 || change.Remove {
		return nil, errors.New("use DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT")
	}
	pool, name := rest[:last], rest[last+1:]
	selector := &resourcev1.DeviceTaintSelector{Driver: &driver, Pool: &pool, Device: &name}
	return &device.Rule{Selector: selector, Taint: change.Taint}, err
}

// readRule reads the DeviceTaintRule of a file, which the API server must accept.
func readRule(file string, stdin io.Reader) (*device.Rule, error) {
	text, err := []byte(nil), error(nil)
	if file == "-" {
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(file)
	}
	var r resourcev1.DeviceTaintRule
	if err == nil {
		err = yaml.UnmarshalStrict(text, &r)
	}
	effects := []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule, "None"}
	rule := device.Of(&r).(*device.Rule)
	valid := foresight.Change{Taint: v1.Taint{Key: rule.Taint.Key, Value: rule.Taint.Value, Effect: v1.TaintEffectNoExecute}}
	_, problem := foresight.ParseChange(valid.String())
	switch {
	case err != nil:
		return nil, err
	case r.Kind != "DeviceTaintRule" || !strings.HasPrefix(r.APIVersion, "resource.k8s.io/v1"), strings.Contains(string(text), "\n---\n"):
		return nil, errors.New("it must be one DeviceTaintRule of resource.k8s.io/v1")
	case r.Name == "":
		return nil, errors.New("metadata.name: Required value")
	case !slices.Contains(effects, rule.Taint.Effect):
		return nil, fmt.Errorf("spec.taint.effect: Unsupported value: %q: supported values: NoExecute, NoSchedule, None", rule.Taint.Effect)
	case problem != nil:
		return nil, fmt.Errorf("spec.taint: Invalid value: %w", problem)
	}
	return rule, nil
}

// tainted names the devices, their taints and the rule.
func (t *text) tainted() string {
	d := t.Devices
	what := fmt.Sprintf("%d of %s", len(d.Selected), foresight.Count(d.All, "device"))
	if len(d.Selected) == 1 {
		what = d.Selected[0]
	}
	does := "Tainting " + what + " with " + flags.JoinWords(d.Taints, "and")
	if len(d.Rules) > 0 {
		does += " by DeviceTaintRule " + d.Rules[0]
	}
	return does
}

// using ends a clause about pods with the devices that they use, and the nodes.
func (t *text) using(pods int) string {
	s := answer.Verb(pods, " that uses ", " that use ") + answer.Verb(len(t.Devices.Selected), "it", "them")
	if len(t.Nodes) > 0 {
		s += " on " + t.nodes()
	}
	return s
}
