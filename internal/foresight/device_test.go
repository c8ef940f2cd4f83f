package foresight_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// using makes a pod use devices by claims.
func using(p *v1.Pod) {
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu"}}
}

// gpus returns the slice of the pool n1 with the devices a and b, of which a has these taints, "key=value:effect",
// since noon.
func gpus(taints ...string) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}}
	s.Spec.Driver, s.Spec.Pool = "gpu", resourcev1.ResourcePool{Name: "n1", Generation: 1, ResourceSliceCount: 1}
	s.Spec.Devices = []resourcev1.Device{{Name: "a"}, {Name: "b"}}
	for _, t := range taints {
		s.Spec.Devices[0].Taints = append(s.Spec.Devices[0].Taints, deviceTaint(t))
	}
	return s
}

func deviceTaint(s string) resourcev1.DeviceTaint {
	t, added := parsed(s), metav1.NewTime(noon)
	return resourcev1.DeviceTaint{Key: t.Key, Value: t.Value, Effect: resourcev1.DeviceTaintEffect(t.Effect), TimeAdded: &added}
}

// uses returns a claim of the device that is reserved for the pod shop/NAME, and tolerates the key xid for these
// seconds; negative seconds mean no limit, and 0 no toleration.
func uses(pod, name string, seconds int64) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: pod + "-gpu"}}
	c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod, UID: types.UID("uid-" + pod)}}
	result := resourcev1.DeviceRequestAllocationResult{Driver: "gpu", Pool: "n1", Device: name}
	if seconds != 0 {
		t := resourcev1.DeviceToleration{Key: "xid", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds}
		if seconds < 0 {
			t.TolerationSeconds = nil
		}
		result.Tolerations = []resourcev1.DeviceToleration{t}
	}
	c.Status.Allocation = &resourcev1.AllocationResult{}
	c.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{result}
	return c
}

// onDevices is a question about a rule that taints all devices.
func onDevices(taint string) foresight.Question {
	return foresight.Question{At: noon, Devices: []*device.Rule{{
		Name: "r", Selector: &resourcev1.DeviceTaintSelector{}, Taint: parsed(taint),
	}}}
}

// asked loads the objects as those of a cluster of this version, and returns the plan.
func asked(q foresight.Question, r foresight.Reading, objects ...any) *foresight.Plan {
	return must(must(load(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection}, r, objects...)).Plan(q))
}

var kubernetes = foresight.Reading{Kubernetes: 37002}

func TestAPlanOfDevicesHasTheirUsersAndWhoLosesAllReplicas(t *testing.T) {
	p := asked(onDevices("xid:NoExecute"), kubernetes, node("n1"), node("n2"), gpus(),
		pod("a", using, ownedBy("StatefulSet/s")), uses("a", "a", 0),
		pod("b", using, ownedBy("StatefulSet/s")), uses("b", "a", 30),
		pod("c", using, ownedBy("StatefulSet/t")), uses("c", "b", -1),
		pod("d", ownedBy("StatefulSet/t")), pod("e", on("n2")))
	var got []string
	for _, p := range p.Pods {
		got = append(got, p.Name+" "+p.Effect+" "+told(&p.Prediction)+" "+p.DeletedBy)
	}
	want := []string{
		"a evicted goes at 0s device-taint-eviction-controller", "b evicted goes at 30s device-taint-eviction-controller", "c stays stays ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := p.Pods[2]; !strings.Contains(c.Reason, "tolerated forever by toleration \"xid:NoExecute op=Exists\"; device gpu/n1/b of claim c-gpu has the taint by DeviceTaintRule r") {
		t.Errorf("c stays because of %q", c.Reason)
	}
	if len(p.Nodes) != 1 || p.Nodes[0].Name != "n1" || p.Nodes[0].Evict != 2 || p.Nodes[0].Stay != 1 {
		t.Errorf("the nodes are %+v", p.Nodes)
	}
	if !p.Owners[0].LosesAll || p.Owners[1].LosesAll || p.Owners[1].Replicas != 2 {
		t.Errorf("the owners are %+v", p.Owners)
	}
	if d := p.Devices; d.All != 2 || len(d.Selected) != 2 || d.Rule != "r" || len(p.Incomplete)+len(p.Notes) > 0 {
		t.Errorf("the devices are %+v, with the notes %q and %q", d, p.Notes, p.Incomplete)
	}
}

// The rule r moves from the device a to the device b.
func TestAPodThatOnlyAReplacedRuleEvictsIsSaved(t *testing.T) {
	old := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	old.Spec.DeviceSelector, old.Spec.Taint = &resourcev1.DeviceTaintSelector{Device: new("a")}, deviceTaint("xid:NoExecute")
	q := onDevices("xid:NoExecute")
	q.Devices[0].Selector.Device = new("b")
	p := asked(q, kubernetes, node("n1"), gpus(), old, pod("a", using), uses("a", "a", 0), pod("b", using), uses("b", "b", 0))
	got := map[string]string{}
	for _, p := range p.Pods {
		got[p.Name] = p.Effect
	}
	if diff := cmp.Diff(map[string]string{"a": foresight.Saved, "b": foresight.Evicted}, got); diff != "" || p.Total.Saved != 1 {
		t.Errorf("%s, and the total is %+v", diff, p.Total)
	}
}

func TestTheEarlierOfNodeAndDeviceComesFirst(t *testing.T) {
	for name, test := range map[string]struct {
		objects   []any
		want      string
		byDevice  bool
		also      string
		scheduled int
	}{
		"the device":                          {[]any{node("n1", timed("slow:NoExecute", -1)), gpus("xid:NoExecute"), pod("a", using, tolerates("slow", 60)), uses("a", "a", 30)}, "goes at 30s", true, "goes at 1m0s", 1},
		"the node":                            {[]any{node("n1", timed("slow:NoExecute", -1)), gpus("xid:NoExecute"), pod("a", using, tolerates("slow", 60)), uses("a", "a", 90)}, "goes at 1m0s", false, "goes at 1m30s", 1},
		"the device, if not the node before":  {[]any{node("n1", parsed("slow:NoExecute")), gpus("xid:NoExecute"), pod("a", using, tolerates("slow", 60)), uses("a", "a", 30)}, "goes at -8h59m0s to 30s", true, "goes at -8h59m0s to 1m0s", 1},
		"the device alone":                    {[]any{node("n1"), gpus("xid:NoExecute"), pod("a", using), uses("a", "a", 0)}, "goes at 0s", true, "", 1},
		"the node alone":                      {[]any{node("n1", timed("slow:NoExecute", -1)), gpus("xid:NoExecute"), pod("a", using), uses("a", "a", -1)}, "goes at 0s", false, "", 1},
		"another device":                      {[]any{node("n1"), gpus("xid:NoExecute"), pod("a", using), uses("a", "b", 0)}, "stays", false, "", 0},
		"a pod that is already being deleted": {[]any{node("n1"), gpus("xid:NoExecute"), pod("a", using, deleted), uses("a", "a", 0)}, "stays", false, "", 0},
		"a pod without a node":                {[]any{node("n1"), gpus("xid:NoExecute"), pod("a", using, on(""), in(v1.PodPending)), uses("a", "a", 0)}, "stays", false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := must(load(foresight.Ruleset{}, foresight.Focus{}, kubernetes, test.objects...))
			e := explained(m, noon)
			if got := told(e.Prediction); got != test.want || (e.Prediction.Device != nil) != test.byDevice {
				t.Errorf("got %s by %v, want %s", got, e.Prediction.Device, test.want)
			}
			if e.Prediction.Also == nil && test.also != "" || e.Prediction.Also != nil && told(e.Prediction.Also) != test.also {
				t.Errorf("also %s, want %s", told(e.Prediction.Also), test.also)
			}
			if test.byDevice || test.also != "" { // neither another taint nor a toleration of the pod keeps it
				for _, c := range e.Commands {
					if !strings.HasPrefix(c.Command, "kubectl delete") {
						t.Errorf("%s does not keep the pod", c.Command)
					}
				}
			}
			pending := m.Pending(noon, nil)
			if len(pending.Pods) != test.scheduled || test.scheduled > 0 && told(&pending.Pods[0].Prediction) != test.want {
				t.Errorf("pending has %+v", pending.Pods)
			}
		})
	}
}

func TestExplainShowsTheTaintsOfTheNodeAndOfTheDevices(t *testing.T) {
	m := must(load(foresight.Ruleset{}, foresight.Focus{}, kubernetes, node("n1", timed("slow:NoExecute", -1)),
		gpus("xid:NoExecute", "hot:NoSchedule"), pod("a", using, tolerates("slow", 60)), uses("a", "a", 30)))
	e := explained(m, noon)
	var got []string
	for _, taint := range e.Taints {
		name := "node"
		if taint.Device != nil {
			name = taint.Device.Name + " of " + taint.Device.Claim + " in " + taint.Device.Slice
		}
		got = append(got, taint.Taint+" on "+name+" "+taint.Granted()+" "+told(taint.Prediction))
	}
	want := []string{
		"slow:NoExecute on node slow op=Exists for 60s goes at 1m0s",
		"xid:NoExecute on gpu/n1/a of a-gpu in gpus xid:NoExecute op=Exists for 30s goes at 30s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPlanOfNodesCountsPodsThatTaintsOfDevicesEvict(t *testing.T) {
	p := asked(ask("slow:NoExecute"), kubernetes, node("n1"), node("n2"), gpus("xid:NoExecute"),
		pod("a", using, tolerates("slow", 60)), uses("a", "a", 0), pod("b", using), uses("b", "a", 30), pod("c", using, on("n2")), uses("c", "a", 0),
		pod("d", using), uses("d", "a", 0))
	var got []string
	for _, p := range p.Pods {
		got = append(got, p.Name+" "+p.Effect)
		if p.Also != nil {
			got = append(got, "also since "+p.Also.SinceFrom)
		}
	}
	if diff := cmp.Diff([]string{"a anyway", "also since plan", "b sooner", "also since timeAdded", "c anyway", "d anyway", "also since timeAdded"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsUnknownAboutDevicesIsSaid(t *testing.T) {
	dumped := foresight.Reading{Dumped: true, From: "the dump", Kubernetes: 37002, Journal: foresight.NewJournal("", "", "")}
	refused := foresight.Reading{Kubernetes: 37002, DevicesUnknown: "this user may not list resourceslices"}
	for name, test := range map[string]struct {
		read    foresight.Reading
		objects []any
		want    string
	}{
		"nothing if no pod uses claims":         {refused, []any{node("n1"), pod("a")}, ""},
		"nothing if all is there":               {dumped, []any{node("n1"), gpus(), pod("a", using), uses("a", "a", 0)}, ""},
		"a refusal":                             {refused, []any{node("n1"), pod("a", using)}, "1 pod may use devices by claims, but this user may not list resourceslices, so the taints of these devices are unknown"},
		"a dump without slices":                 {dumped, []any{node("n1"), pod("a", using), uses("a", "a", 0)}, "1 pod may use devices by claims, but the dump has no ResourceSlices, so the taints of these devices are unknown"},
		"a claim that is missing":               {dumped, []any{node("n1"), gpus(), pod("a", using), pod("b", using), uses("b", "a", 0)}, "2 pods may use devices by claims, but no ResourceClaim is reserved for 1 of them, so the taints of these devices are unknown"},
		"a claim that is missing in a cluster":  {kubernetes, []any{node("n1"), pod("a", using)}, "1 pod may use devices by claims, but no ResourceClaim is reserved for 1 of them, so the taints of these devices are unknown"},
		"nothing if devices were not asked for": {foresight.Reading{}, []any{node("n1"), pod("a", using)}, ""},
		"nothing about a cluster's last slices": {kubernetes, []any{node("n1"), pod("a", using), uses("a", "a", 0)}, ""},
		"nothing about a pod that has finished": {dumped, []any{node("n1"), gpus(), pod("a", using, in(v1.PodSucceeded))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := must(load(foresight.Ruleset{}, foresight.Focus{}, test.read, test.objects...))
			if got := strings.Join(m.Pending(noon, nil).Incomplete, "; "); got != test.want {
				t.Errorf("pending: got %q, want %q", got, test.want)
			}
			ofNodes, err := m.Plan(ask("slow:NoExecute"))
			if err != nil || len(ofNodes.Incomplete) > 0 || (test.want != "") != noted(ofNodes.Notes, "so the taints of these devices are unknown") {
				t.Errorf("the plan of a node: %v, %q, %q", err, ofNodes.Incomplete, ofNodes.Notes)
			}
			ofDevices, err := m.Plan(onDevices("xid:NoExecute"))
			if err != nil || strings.Join(ofDevices.Incomplete, "; ") != test.want {
				t.Errorf("the plan of devices: %v, %q", err, ofDevices.Incomplete)
			}
		})
	}
}

func TestWhatVersionsDecideDifferentlyIsSaid(t *testing.T) {
	anyEffect, extended := uses("a", "a", 60), uses("a", "a", 0)
	anyEffect.Status.Allocation.Devices.Results[0].Tolerations[0].Effect = ""
	extended.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
	for name, test := range map[string]struct {
		version          device.Version
		claim            any
		want             string
		note, incomplete string
	}{
		"a toleration without an effect in 1.37": {37002, anyEffect, "goes at 0s", "versions of Kubernetes differ about shop/a: from 1.38 on, a toleration without an effect counts; this answer is for 1.37.2", ""},
		"a toleration without an effect in 1.38": {38000, anyEffect, "goes at 1m0s", "from 1.38 on, a toleration without an effect counts; this answer is for 1.38", ""},
		"a toleration without an effect":         {0, anyEffect, "goes at 0s", "", "from 1.38 on, a toleration without an effect counts; set --kubernetes-version"},
		"extended resources in 1.37.2":           {37002, extended, "goes at 0s", "from 1.37.2 on, claims for extended resources evict pods; this answer is for 1.37.2", ""},
		"extended resources in 1.36":             {36000, extended, "stays", "from 1.37.2 on, claims for extended resources evict pods; this answer is for 1.36", ""},
		"another claim in 1.36":                  {36000, uses("a", "a", 0), "goes at 0s", "before Kubernetes 1.37, these evictions need the feature gates DRADeviceTaints (on by default since 1.36) and, for rules, DRADeviceTaintRules", ""},
		"another claim in an unknown version":    {0, uses("a", "a", 0), "goes at 0s", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := foresight.Reading{Dumped: true, From: "the dump", Kubernetes: test.version, Journal: foresight.NewJournal("", "", "")}
			p := asked(onDevices("xid:NoExecute"), r, node("n1"), gpus(), pod("a", using), test.claim)
			if got := told(&p.Pods[0].Prediction); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if !noted(p.Notes, test.note) || test.note == "" && noted(p.Notes, "Kubernetes") {
				t.Errorf("the notes are %q, want %q", p.Notes, test.note)
			}
			if got := strings.Join(p.Incomplete, "; "); !strings.HasSuffix(got, test.incomplete) || (got == "") != (test.incomplete == "") {
				t.Errorf("the answer lacks %q, want %q", got, test.incomplete)
			}
		})
	}
}

func TestARuleThatEvictsNobodyIsNoted(t *testing.T) {
	other := "nic"
	for name, test := range map[string]struct {
		selector *resourcev1.DeviceTaintSelector
		taint    string
		want     string
	}{
		"without a selector":   {nil, "xid:NoExecute", "DeviceTaintRule r selects none of 2 devices, because it has no deviceSelector, which only the scheduler of versions before 1.37.1 takes for all devices; an empty one selects all"},
		"for another driver":   {&resourcev1.DeviceTaintSelector{Driver: &other}, "xid:NoExecute", "DeviceTaintRule r selects none of 2 devices"},
		"with the effect None": {&resourcev1.DeviceTaintSelector{}, "xid:None", "xid:None evicts no pod; plan NoExecute to see what would go"},
	} {
		t.Run(name, func(t *testing.T) {
			q := onDevices(test.taint)
			q.Devices[0].Selector = test.selector
			p := asked(q, kubernetes, node("n1"), gpus(), pod("a", using), uses("a", "a", 0))
			if diff := cmp.Diff([]string{test.want}, p.Notes); diff != "" || p.Total.Evict > 0 {
				t.Errorf("%d pods go: %s", p.Total.Evict, diff)
			}
		})
	}
}

func TestATaintOfADeviceThatDoesNotExistIsRefused(t *testing.T) {
	driver, pool, name := "gpu", "n1", "c"
	q := foresight.Question{At: noon, Devices: []*device.Rule{{
		Selector: &resourcev1.DeviceTaintSelector{Driver: &driver, Pool: &pool, Device: &name}, Taint: parsed("xid:NoExecute"),
	}}}
	_, err := planned(q, node("n1"), gpus())
	if err == nil || err.Error() != "device gpu/n1/c not found" {
		t.Errorf("got %v", err)
	}
	if p, err := planned(q, node("n1")); err != nil || p.Notes != nil {
		t.Errorf("no device is known: %v, %q", err, p.Notes)
	}
}

func TestAPoolThatLacksSlicesIsNoted(t *testing.T) {
	half := gpus()
	half.Spec.Pool.ResourceSliceCount = 3
	p := asked(onDevices("xid:NoExecute"), kubernetes, node("n1"), half, pod("a", using), uses("a", "a", 0), pod("b", using), uses("b", "a", 0))
	if len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "pool gpu/n1 has 1 of 3 ResourceSlices of generation 1, ") {
		t.Errorf("the notes are %q", p.Notes)
	}
}
