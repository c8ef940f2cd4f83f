package differential

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/devicetainteviction"

	"github.com/taint-manager/taint-manager/device"
)

var deviceClusters = flag.Uint64("device-clusters", 3000, "how many clusters with devices to compare")

// originalVersion is the version of Kubernetes in go.mod.
const originalVersion device.Version = 37002

const (
	editedAfter = 10 * time.Second // from the beginning
	observed    = 90 * time.Second
)

// TestDeviceTaintsAgainstTheOriginal compares when the original evicts the pods of random clusters because of taints of
// their devices with what package device decides. A part of the objects is edited after some time.
func TestDeviceTaintsAgainstTheOriginal(t *testing.T) {
	evicted, stayed, edited := 0, 0, 0
	for i := range *deviceClusters {
		before, after := generateDevices(*first + i)
		got := playDevices(t, before, after)
		want := outcome{}
		for _, p := range before.pods {
			at, ok := before.deadline(p)
			if !ok || at >= editedAfter {
				if at, ok = after.deadline(p); ok {
					at = max(at, editedAfter)
					edited++
				}
			}
			if ok && at < observed {
				want[p.UID] = max(0, at)
			}
		}
		evicted, stayed = evicted+len(want), stayed+len(before.pods)-len(want)
		if !maps.Equal(want, got) {
			t.Fatalf("seed %d: decided %v, done by the original %v\nbefore %s\nafter %s", *first+i, want, got, before, after)
		}
	}
	t.Logf("%d pods were evicted, %d of them after the edit, and %d stayed", evicted, edited, stayed)
	if *deviceClusters > 1000 && (evicted < int(*deviceClusters)/2 || stayed < int(*deviceClusters)/2 || edited < int(*deviceClusters)/10) {
		t.Error("too few of one kind")
	}
}

// deviceObjects are the objects of a cluster.
type deviceObjects struct {
	pods   []*v1.Pod
	claims []*resourcev1.ResourceClaim
	parts  []*resourcev1.ResourceSlice
	rules  []*resourcev1.DeviceTaintRule
}

func (o *deviceObjects) String() string {
	text, _ := json.MarshalIndent([]any{o.pods, o.claims, o.parts, o.rules}, "", " ")
	return string(text)
}

// deadline returns when a pod is to be evicted, after the beginning; false if it stays.
func (o *deviceObjects) deadline(p *v1.Pod) (time.Duration, bool) {
	var all []any
	for _, c := range o.claims {
		all = append(all, device.Of(c))
	}
	for _, s := range o.parts {
		all = append(all, device.Of(s))
	}
	for _, r := range o.rules {
		all = append(all, device.Of(r))
	}
	pairs := device.NewCluster(all).Pairs(p.UID, originalVersion, begin)
	if p.Spec.NodeName == "" || len(pairs) == 0 || !pairs[0].Evict {
		return 0, false
	}
	return pairs[0].At.Sub(begin), true
}

// playDevices runs the original, in virtual time, and returns its evictions.
func playDevices(t *testing.T, before, after *deviceObjects) outcome {
	evicted := outcome{}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(begin))
		var objects []runtime.Object
		for _, p := range before.pods {
			objects = append(objects, p.DeepCopy())
		}
		for _, c := range before.claims {
			objects = append(objects, c.DeepCopy())
		}
		for _, s := range before.parts {
			objects = append(objects, s.DeepCopy())
		}
		for _, r := range before.rules {
			objects = append(objects, r.DeepCopy())
		}
		client := fake.NewSimpleClientset(objects...)
		var mu sync.Mutex
		client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
			mu.Lock()
			defer mu.Unlock()
			evicted[types.UID("uid-"+action.(clienttesting.DeleteAction).GetName())] = time.Since(begin)
			return false, nil, nil
		})
		client.PrependReactor("patch", "devicetaintrules", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, &resourcev1.DeviceTaintRule{}, nil // its status, which the fake server can't apply
		})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		shared := informers.NewSharedInformerFactory(client, 0)
		r := shared.Resource().V1()
		controller := devicetainteviction.New(client, shared.Core().V1().Pods(), r.ResourceClaims(), r.ResourceSlices(),
			r.DeviceTaintRules(), r.DeviceClasses(), device.Controller)
		shared.Start(ctx.Done())
		var running sync.WaitGroup
		running.Go(func() {
			if err := controller.Run(ctx, 2); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(editedAfter)
		for i, s := range after.parts {
			if s == before.parts[i] {
				continue
			}
			if _, err := client.ResourceV1().ResourceSlices().Update(ctx, s.DeepCopy(), metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
		for i, rule := range after.rules {
			if rule == before.rules[i] {
				continue
			}
			if _, err := client.ResourceV1().DeviceTaintRules().Update(ctx, rule.DeepCopy(), metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(observed - editedAfter)
		cancel()
		running.Wait()
		shared.Shutdown()
	})
	return evicted
}

// deviceGenerator generates objects that an API server would accept.
type deviceGenerator struct{ *rand.Rand }

// generateDevices returns the cluster of a seed, which is always the same, and the cluster after the edit.
func generateDevices(seed uint64) (before, after *deviceObjects) {
	g := deviceGenerator{rand.New(rand.NewPCG(seed, 2))}
	before = &deviceObjects{}
	for i := range 1 + g.IntN(4) {
		g.addPod(before, "p"+strconv.Itoa(i))
	}
	for _, pool := range []string{"n1", "n2"} {
		newest := int64(1 + g.IntN(2))
		for i := range g.IntN(3) {
			s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(pool, "-", i), UID: types.UID(fmt.Sprint(pool, i))}}
			s.Spec.Driver = g.driver()
			s.Spec.Pool = resourcev1.ResourcePool{Name: pool, Generation: newest - int64(g.IntN(4)/3), ResourceSliceCount: 2}
			s.Spec.Devices = []resourcev1.Device{{Name: "d" + strconv.Itoa(i), Taints: g.taints()}}
			before.parts = append(before.parts, s)
		}
	}
	for i := range g.IntN(3) {
		name := "r" + strconv.Itoa(i)
		before.rules = append(before.rules, &resourcev1.DeviceTaintRule{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: resourcev1.DeviceTaintRuleSpec{DeviceSelector: g.selector(), Taint: g.taint()},
		})
	}
	after = &deviceObjects{pods: before.pods, claims: before.claims, parts: slices.Clone(before.parts), rules: slices.Clone(before.rules)}
	for i := range after.parts {
		if g.IntN(3) == 0 {
			after.parts[i] = after.parts[i].DeepCopy()
			after.parts[i].Spec.Devices[0].Taints = g.taints()
		}
	}
	for i := range after.rules {
		if g.IntN(3) == 0 {
			after.rules[i] = after.rules[i].DeepCopy()
			after.rules[i].Spec = resourcev1.DeviceTaintRuleSpec{DeviceSelector: g.selector(), Taint: g.taint()}
		}
	}
	return before, after
}

// addPod adds a pod with up to three claims: its own, generated, shared with other pods, or for extended resources.
func (g deviceGenerator) addPod(o *deviceObjects, name string) {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)},
		Spec:       v1.PodSpec{NodeName: "n1"}, Status: v1.PodStatus{Phase: v1.PodRunning},
	}
	if g.IntN(10) == 0 {
		p.Spec.NodeName = ""
	}
	for i := range g.IntN(3) {
		entry, claimName := "c"+strconv.Itoa(i), name+"-c"+strconv.Itoa(i)
		claim, yes := g.claim(claimName), true
		owned := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: name, UID: p.UID, Controller: &yes}}
		switch g.IntN(4) {
		case 0: // generated
			template := "t"
			claim.OwnerReferences = owned
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: entry, ResourceClaimTemplateName: &template})
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: entry, ResourceClaimName: &claimName})
		case 1: // shared
			if len(o.claims) > 0 && o.claims[0].Annotations == nil && len(o.claims[0].OwnerReferences) == 0 {
				claim = o.claims[0]
			}
			used := claim.Name
			if !slices.ContainsFunc(p.Spec.ResourceClaims, func(c v1.PodResourceClaim) bool {
				return c.ResourceClaimName != nil && *c.ResourceClaimName == used
			}) {
				p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: entry, ResourceClaimName: &used})
			}
		case 2:
			if p.Status.ExtendedResourceClaimStatus == nil {
				claim.Annotations, claim.OwnerReferences = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}, owned
				p.Status.ExtendedResourceClaimStatus = &v1.PodExtendedResourceClaimStatus{ResourceClaimName: claimName}
				break
			}
			fallthrough
		default:
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: entry, ResourceClaimName: &claimName})
		}
		user := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: p.UID}
		if g.IntN(10) == 0 {
			user.UID += "-former"
		}
		if !slices.Contains(claim.Status.ReservedFor, user) {
			claim.Status.ReservedFor = append(claim.Status.ReservedFor, user)
		}
		if !slices.Contains(o.claims, claim) {
			o.claims = append(o.claims, claim)
		}
	}
	o.pods = append(o.pods, p)
}

func (g deviceGenerator) claim(name string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
	if g.IntN(10) == 0 {
		return c
	}
	c.Status.Allocation = &resourcev1.AllocationResult{}
	for range 1 + g.IntN(2) {
		result := resourcev1.DeviceRequestAllocationResult{
			Driver: g.driver(), Pool: []string{"n1", "n2"}[g.IntN(2)], Device: "d" + strconv.Itoa(g.IntN(2)),
		}
		for range g.IntN(4) {
			result.Tolerations = append(result.Tolerations, g.toleration())
		}
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, result)
	}
	return c
}

func (g deviceGenerator) driver() string { return []string{"gpu", "gpu", "gpu", "nic"}[g.IntN(4)] }

func (g deviceGenerator) taints() (list []resourcev1.DeviceTaint) {
	for range g.IntN(3) {
		list = append(list, g.taint())
	}
	return list
}

// taint returns a taint that was added before or after the beginning, at a whole second.
func (g deviceGenerator) taint() resourcev1.DeviceTaint {
	added := metav1.NewTime(begin.Truncate(time.Second).Add(time.Duration(g.IntN(60)-40) * time.Second))
	return resourcev1.DeviceTaint{
		Key: []string{"a", "b"}[g.IntN(2)], Value: []string{"", "1"}[g.IntN(2)], TimeAdded: &added,
		Effect: []resourcev1.DeviceTaintEffect{"NoExecute", "NoExecute", "NoExecute", "NoSchedule", "None"}[g.IntN(5)],
	}
}

func (g deviceGenerator) toleration() resourcev1.DeviceToleration {
	t := resourcev1.DeviceToleration{
		Key: []string{"a", "b", "b", ""}[g.IntN(4)], Operator: "Exists",
		Effect: []resourcev1.DeviceTaintEffect{"NoExecute", "NoExecute", "", "NoSchedule"}[g.IntN(4)],
	}
	if t.Key != "" && g.IntN(2) == 0 {
		t.Operator, t.Value = []resourcev1.DeviceTolerationOperator{"Equal", ""}[g.IntN(2)], []string{"", "1"}[g.IntN(2)]
	}
	if g.IntN(4) > 0 {
		seconds := []int64{-3, 0, 15, 30, 45, 60, 1 << 34}[g.IntN(7)]
		t.TolerationSeconds = &seconds
	}
	return t
}

func (g deviceGenerator) selector() *resourcev1.DeviceTaintSelector {
	if g.IntN(8) == 0 {
		return nil
	}
	s := &resourcev1.DeviceTaintSelector{}
	some := func(field **string, values ...string) {
		if g.IntN(2) == 0 {
			*field = &values[g.IntN(len(values))]
		}
	}
	some(&s.Driver, "gpu", "gpu", "nic")
	some(&s.Pool, "n1", "n2")
	some(&s.Device, "d0", "d1")
	return s
}
