package device_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/device"
)

const (
	v36  device.Version = 36000
	v371 device.Version = 37001
	v372 device.Version = 37002
	v38  device.Version = 38000
)

// zero is the time from which the tests count seconds.
var zero = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int64) *metav1.Time {
	t := metav1.NewTime(zero.Add(time.Duration(seconds) * time.Second))
	return &t
}

// taint returns the taint "key=value:effect" of this second.
func taint(s string, since int64) resourcev1.DeviceTaint {
	keyAndValue, effect, _ := strings.Cut(s, ":")
	key, value, _ := strings.Cut(keyAndValue, "=")
	return resourcev1.DeviceTaint{Key: key, Value: value, Effect: resourcev1.DeviceTaintEffect(effect), TimeAdded: at(since)}
}

// slice returns the slice of a pool with devices a and b, of which a has these taints.
func slice(name, pool string, generation int64, taints ...resourcev1.DeviceTaint) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Driver, s.Spec.Pool = "gpu", resourcev1.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: 1}
	s.Spec.Devices = []resourcev1.Device{{Name: "a", Taints: taints}, {Name: "b"}}
	return s
}

// claim returns a claim of these devices, "pool/name", that is reserved for the pod, with these tolerations for each.
func claim(name string, devices []string, tolerations ...resourcev1.DeviceToleration) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p", UID: "uid"}}
	c.Status.Allocation = &resourcev1.AllocationResult{}
	for _, d := range devices {
		pool, device, _ := strings.Cut(d, "/")
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Driver: "gpu", Pool: pool, Device: device, Tolerations: tolerations,
		})
	}
	return c
}

// tolerates returns a toleration of NoExecute taints with this key; negative seconds mean no limit.
func tolerates(key string, seconds int64) resourcev1.DeviceToleration {
	t := resourcev1.DeviceToleration{Key: key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds}
	if seconds < 0 {
		t.TolerationSeconds = nil
	}
	return t
}

func rule(name string, selector *resourcev1.DeviceTaintSelector, t resourcev1.DeviceTaint) *resourcev1.DeviceTaintRule {
	return &resourcev1.DeviceTaintRule{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceTaintRuleSpec{DeviceSelector: selector, Taint: t},
	}
}

func selecting(driver, pool, name string) *resourcev1.DeviceTaintSelector {
	s := &resourcev1.DeviceTaintSelector{}
	for text, field := range map[*string]**string{&driver: &s.Driver, &pool: &s.Pool, &name: &s.Device} {
		if *text != "" {
			*field = text
		}
	}
	return s
}

func clusterOf(objects ...any) *device.Cluster {
	var parts []any
	for _, o := range objects {
		parts = append(parts, device.Of(o))
	}
	return device.NewCluster(parts)
}

// decided returns the deadline of the pod with the UID uid, as "stays" or "goes at 5s", and the first reason.
func decided(c *device.Cluster, v device.Version) (deadline, reason string) {
	pairs := c.Pairs("uid", v, zero)
	switch {
	case len(pairs) == 0:
		return "stays", ""
	case !pairs[0].Evict:
		return "stays", pairs[0].Because()
	}
	return "goes at " + pairs[0].At.Sub(zero).String(), pairs[0].Because()
}

func TestDecide(t *testing.T) {
	xid := taint("xid:NoExecute", 0)
	tainted := slice("s", "n", 1, xid)
	extended := claim("c", []string{"n/a"})
	extended.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
	shared := claim("c", []string{"n/a"})
	shared.Status.ReservedFor = append(shared.Status.ReservedFor[:0:0], resourcev1.ResourceClaimConsumerReference{Resource: "pods", UID: "another"}, shared.Status.ReservedFor[0])
	others := claim("c", []string{"n/a"})
	others.Status.ReservedFor[0].UID = "another"
	group := claim("c", []string{"n/a"})
	group.Status.ReservedFor[0] = resourcev1.ResourceClaimConsumerReference{APIGroup: "scheduling.k8s.io", Resource: "podgroups", UID: "uid"}
	free := claim("c", nil)
	free.Status.Allocation = nil
	untimed := xid
	untimed.TimeAdded = nil
	anyEffect := tolerates("xid", 60)
	anyEffect.Effect = ""
	equal := func(value string) resourcev1.DeviceToleration {
		return resourcev1.DeviceToleration{Key: "xid", Value: value, Effect: "NoExecute"}
	}
	everything := resourcev1.DeviceToleration{Operator: "Exists", Effect: "NoExecute"}
	old, missing := slice("old", "n", 1, xid), slice("new", "n", 2)
	missing.Spec.Devices = missing.Spec.Devices[1:]

	for name, test := range map[string]struct {
		version device.Version
		objects []any
		want    string
	}{
		"a taint that no toleration matches evicts at once":        {v372, []any{tainted, claim("c", []string{"n/a"})}, "goes at 0s"},
		"a device without taints evicts nobody":                    {v372, []any{tainted, claim("c", []string{"n/b"})}, "stays"},
		"of a claim with several devices one tainted is enough":    {v372, []any{tainted, claim("c", []string{"n/b", "n/a"})}, "goes at 0s"},
		"a device of the same name in another pool does not count": {v372, []any{tainted, slice("t", "m", 1), claim("c", []string{"m/a"})}, "stays"},
		"NoSchedule evicts nobody":                                 {v372, []any{slice("s", "n", 1, taint("xid:NoSchedule", 0)), claim("c", []string{"n/a"})}, "stays"},
		"None evicts nobody":                                       {v372, []any{slice("s", "n", 1, taint("xid:None", 0)), claim("c", []string{"n/a"})}, "stays"},
		"a claim without an allocation has no devices":             {v372, []any{tainted, free}, "stays"},
		"a claim that is reserved for another pod does not count":  {v372, []any{tainted, others}, "stays"},
		"a shared claim counts for each pod":                       {v372, []any{tainted, shared}, "goes at 0s"},
		"a PodGroup is no pod":                                     {v372, []any{tainted, group}, "stays"},
		"a taint without timeAdded counts from now":                {v372, []any{slice("s", "n", 1, untimed), claim("c", []string{"n/a"}, tolerates("xid", 7))}, "goes at 7s"},

		"a toleration with seconds delays the eviction":               {v372, []any{slice("s", "n", 1, taint("xid:NoExecute", 5)), claim("c", []string{"n/a"}, tolerates("xid", 60))}, "goes at 1m5s"},
		"a toleration without seconds tolerates forever":              {v372, []any{tainted, claim("c", []string{"n/a"}, tolerates("xid", -1))}, "stays"},
		"the fewest seconds decide, wherever they stand":              {v372, []any{tainted, claim("c", []string{"n/a"}, tolerates("xid", 60), tolerates("", 20), tolerates("xid", 90))}, "goes at 20s"},
		"a toleration without seconds beats all others":               {v372, []any{tainted, claim("c", []string{"n/a"}, tolerates("xid", 0), tolerates("xid", -1))}, "stays"},
		"negative seconds are none":                                   {v372, []any{tainted, claim("c", []string{"n/a"}, negative("xid"))}, "goes at 0s"},
		"seconds that overflow evict at once, as in the controller":   {v372, []any{tainted, claim("c", []string{"n/a"}, tolerates("xid", 1<<34))}, "goes at -351909h41m29.709551616s"},
		"a toleration of another key does not count":                  {v372, []any{tainted, claim("c", []string{"n/a"}, tolerates("thermal", -1))}, "goes at 0s"},
		"a toleration without a key and Exists matches every taint":   {v372, []any{tainted, claim("c", []string{"n/a"}, everything)}, "stays"},
		"without an operator the value must be equal":                 {v372, []any{slice("s", "n", 1, taint("xid=79:NoExecute", 0)), claim("c", []string{"n/a"}, equal("79"))}, "stays"},
		"another value does not match":                                {v372, []any{slice("s", "n", 1, taint("xid=79:NoExecute", 0)), claim("c", []string{"n/a"}, equal("48"))}, "goes at 0s"},
		"a toleration of NoSchedule does not count":                   {v372, []any{tainted, claim("c", []string{"n/a"}, resourcev1.DeviceToleration{Operator: "Exists", Effect: "NoSchedule"})}, "goes at 0s"},
		"before 1.38 a toleration without an effect does not count":   {v372, []any{tainted, claim("c", []string{"n/a"}, anyEffect)}, "goes at 0s"},
		"from 1.38 on a toleration without an effect counts":          {v38, []any{tainted, claim("c", []string{"n/a"}, anyEffect)}, "goes at 1m0s"},
		"the earliest of several taints decides":                      {v372, []any{slice("s", "n", 1, xid, taint("thermal:NoExecute", 3)), claim("c", []string{"n/a"}, tolerates("xid", 60))}, "goes at 3s"},
		"the earliest of several claims decides":                      {v372, []any{tainted, claim("c", []string{"n/a"}, tolerates("xid", 60)), claim("d", []string{"n/a"}, tolerates("xid", 30))}, "goes at 30s"},
		"a taint that is tolerated forever does not hide another one": {v372, []any{slice("s", "n", 1, xid, taint("thermal:NoExecute", 3)), claim("c", []string{"n/a"}, tolerates("xid", -1))}, "goes at 3s"},

		"a rule taints the devices that it selects":                {v372, []any{slice("s", "n", 1), claim("c", []string{"n/a"}), rule("r", selecting("gpu", "n", "a"), xid)}, "goes at 0s"},
		"a rule taints devices that no slice has":                  {v372, []any{claim("c", []string{"n/a"}), rule("r", selecting("gpu", "", ""), xid)}, "goes at 0s"},
		"a rule for another driver does not count":                 {v372, []any{claim("c", []string{"n/a"}), rule("r", selecting("nic", "", ""), xid)}, "stays"},
		"a rule for another pool does not count":                   {v372, []any{claim("c", []string{"n/a"}), rule("r", selecting("", "m", ""), xid)}, "stays"},
		"a rule for another device does not count":                 {v372, []any{claim("c", []string{"n/a"}), rule("r", selecting("", "", "b"), xid)}, "stays"},
		"an empty selector selects all devices":                    {v372, []any{claim("c", []string{"n/a"}), rule("r", selecting("", "", ""), xid)}, "goes at 0s"},
		"a rule without a selector selects none":                   {v372, []any{claim("c", []string{"n/a"}), rule("r", nil, xid)}, "stays"},
		"a rule with the effect None evicts nobody":                {v372, []any{claim("c", []string{"n/a"}), rule("r", selecting("", "", ""), taint("xid:None", 0))}, "stays"},
		"the earlier of a rule and a slice decides":                {v372, []any{slice("s", "n", 1, taint("xid:NoExecute", 9)), claim("c", []string{"n/a"}), rule("r", selecting("", "", ""), taint("xid:NoExecute", 4))}, "goes at 4s"},
		"only the newest generation of a pool counts":              {v372, []any{slice("new", "n", 2), old, claim("c", []string{"n/a"})}, "stays"},
		"an older slice does not stand in for one that is missing": {v372, []any{old, missing, claim("c", []string{"n/a"})}, "stays"},
		"all slices of the newest generation count":                {v372, []any{slice("s", "n", 2), slice("t", "n", 2, xid), claim("c", []string{"n/a"})}, "goes at 0s"},

		"before 1.37.2 claims for extended resources do not count": {v371, []any{tainted, extended}, "stays"},
		"from 1.37.2 on claims for extended resources count":       {v372, []any{tainted, extended}, "goes at 0s"},
		"other claims counted before":                              {v36, []any{tainted, claim("c", []string{"n/a"})}, "goes at 0s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, reason := decided(clusterOf(test.objects...), test.version); got != test.want {
				t.Errorf("got %s (%s), want %s", got, reason, test.want)
			}
		})
	}
}

func negative(key string) resourcev1.DeviceToleration {
	seconds := int64(-5)
	t := tolerates(key, 0)
	t.TolerationSeconds = &seconds
	return t
}

func TestTheReasonNamesTheTaintTheTolerationTheDeviceTheClaimAndTheOrigin(t *testing.T) {
	xid := taint("xid=79:NoExecute", 0)
	for want, objects := range map[string][]any{
		"taint xid=79:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated; device gpu/n/a of claim c has the taint in ResourceSlice s": {
			slice("s", "n", 1, xid), claim("c", []string{"n/a"}),
		},
		`taint xid=79:NoExecute (countdown started at 2026-05-01T12:00:00Z) is tolerated for 1m by toleration "xid:NoExecute op=Exists"; device gpu/n/a of claim c has the taint by DeviceTaintRule r`: {
			claim("c", []string{"n/a"}, tolerates("xid", 60)), rule("r", selecting("", "", ""), xid),
		},
		`taint xid=79:NoExecute (countdown started at 2026-05-01T12:00:00Z) is tolerated forever by toleration "xid:NoExecute op=Exists"; device gpu/n/a of claim c has the taint by DeviceTaintRule r`: {
			claim("c", []string{"n/a"}, tolerates("xid", -1)), rule("r", selecting("", "", ""), xid),
		},
	} {
		if _, reason := decided(clusterOf(objects...), v372); reason != want {
			t.Errorf("got %s\nwant %s", reason, want)
		}
	}
}

func TestRulesThatAreAppliedGetTheTimeAddedThatTheAPIServerGives(t *testing.T) {
	now := zero.Add(time.Hour)
	untimed := func(s string) resourcev1.DeviceTaint {
		t := taint(s, 0)
		t.TimeAdded = nil
		return t
	}
	all := selecting("", "", "")
	for name, test := range map[string]struct {
		old, applied *resourcev1.DeviceTaintRule
		want         string
	}{
		"a new rule counts from now":                      {nil, rule("r", all, untimed("xid:NoExecute")), "goes at 1h0m0s"},
		"a new rule may have a timeAdded":                 {nil, rule("r", all, taint("xid:NoExecute", 9)), "goes at 9s"},
		"with the same effect a rule keeps its timeAdded": {rule("r", all, taint("xid:NoExecute", 3)), rule("r", all, untimed("thermal:NoExecute")), "goes at 3s"},
		"with another effect a rule counts from now":      {rule("r", all, taint("xid:None", 3)), rule("r", all, untimed("xid:NoExecute")), "goes at 1h0m0s"},
		"with another effect the same timeAdded is void":  {rule("r", all, taint("xid:None", 3)), rule("r", all, taint("xid:NoExecute", 3)), "goes at 1h0m0s"},
		"a rule of another name stays":                    {rule("q", all, taint("xid:NoExecute", 3)), rule("r", all, untimed("xid:None")), "goes at 3s"},
		"a rule that is edited replaces itself":           {rule("r", all, taint("xid:NoExecute", 3)), rule("r", selecting("", "m", ""), untimed("xid:NoExecute")), "stays"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []any{claim("c", []string{"n/a"})}
			if test.old != nil {
				objects = append(objects, test.old)
			}
			before := clusterOf(objects...)
			was, _ := decided(before, v372)
			with := before.With([]*device.Rule{device.Of(test.applied).(*device.Rule)}, now)
			if got, _ := decided(with, v372); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if is, _ := decided(before, v372); is != was {
				t.Errorf("the cluster itself has changed: it %s, and now %s", was, is)
			}
		})
	}
}

func TestThePairsHaveTheEarliestDeadlineFirstAndTheToleratedLast(t *testing.T) {
	c := clusterOf(slice("s", "n", 1, taint("a:NoExecute", 0), taint("b:NoExecute", 5), taint("c:NoExecute", 2)),
		claim("c", []string{"n/a"}, tolerates("a", -1)))
	var keys []string
	for _, p := range c.Pairs("uid", v372, zero) {
		keys = append(keys, p.Taint.Key)
	}
	if diff := cmp.Diff([]string{"c", "b", "a"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestAPoolLacksTheSlicesThatItCountsAndDoesNotHave(t *testing.T) {
	half, whole := slice("s", "n", 2), slice("t", "m", 1)
	half.Spec.Pool.ResourceSliceCount = 2
	c := clusterOf(half, slice("old", "n", 1), whole, claim("c", []string{"n/a", "m/a", "x/a"}))
	want := []string{"pool gpu/n has 1 of 2 ResourceSlices of generation 2, and only taints in these count"}
	if diff := cmp.Diff(want, c.Lacking("uid")); diff != "" {
		t.Error(diff)
	}
}

func TestTheDevicesOfAClusterAreThoseOfTheNewestGenerations(t *testing.T) {
	one := slice("old", "n", 1)
	one.Spec.Devices[0].Name = "gone"
	c := clusterOf(one, slice("s", "n", 2), slice("t", "m", 1), claim("c", []string{"n/a"}))
	want := []device.ID{{Driver: "gpu", Pool: "m", Name: "a"}, {Driver: "gpu", Pool: "m", Name: "b"}, {Driver: "gpu", Pool: "n", Name: "a"}, {Driver: "gpu", Pool: "n", Name: "b"}}
	if diff := cmp.Diff(want, c.Devices()); diff != "" {
		t.Error(diff)
	}
	for pool, uses := range map[string]bool{"n": true, "m": false} {
		rules := []*device.Rule{{Name: "r", Selector: selecting("", pool, "")}}
		if c.Uses("uid", rules) != uses || c.Uses(types.UID("other"), rules) {
			t.Errorf("the pod uses a device of pool %s: %v, want %v", pool, !uses, uses)
		}
	}
}

func TestAVersionIsWrittenWithoutAPatchThatIsZero(t *testing.T) {
	for v, want := range map[device.Version]string{37000: "1.37", 37002: "1.37.2", 38000: "1.38", 37010: "1.37.10"} {
		if v.String() != want {
			t.Errorf("got %s, want %s", v, want)
		}
	}
}
