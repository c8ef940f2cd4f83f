package e2e

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// What plan says about taints of devices is what device-taint-eviction-controller does. The scheduler allocates devices
// that the tests publish. test/differential compares random clusters with it in virtual time.
func TestDeviceTaints(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.since(t, 36, "taints of devices by default")
	t.Run("a taint in a slice, and tolerations with seconds", func(t *testing.T) { goAsADriverTaints(w.gpus(t, 4)) })
	t.Run("a rule without effect that is edited", func(t *testing.T) { goByAnEditedRule(w.gpus(t, 2)) })
	t.Run("extended resources", func(t *testing.T) { goByExtendedResources(w.gpus(t, 1)) })
}

// gpus are the devices of a node, in a pool and of a driver of its own.
type gpus struct {
	*scene
	driver string
}

// gpus makes a node with devices gpu-0 and so on, and their class, which is named like the node.
func (w *world) gpus(t *testing.T, devices int) *gpus {
	t.Helper()
	g := &gpus{w.scene(t), ""}
	g.driver = g.node + ".example.com"
	extended := g.driver + "/gpu"
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: g.node}, Spec: resourcev1.DeviceClassSpec{
		Selectors:            []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", g.driver)}}},
		ExtendedResourceName: &extended,
	}}
	_, err := w.admin.ResourceV1().DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{})
	must(t, err)
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: g.node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: g.driver, NodeName: &g.node, Pool: resourcev1.ResourcePool{Name: g.node, Generation: 1, ResourceSliceCount: 1},
	}}
	for i := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i)})
	}
	_, err = w.admin.ResourceV1().ResourceSlices().Create(t.Context(), slice, metav1.CreateOptions{})
	must(t, err)
	return g
}

// claim creates a claim of one device, with these tolerations.
func (g *gpus) claim(name string, tolerations ...resourcev1.DeviceToleration) string {
	g.Helper()
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: g.node + "-" + name}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{
		Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: g.node, Tolerations: tolerations},
	}}
	_, err := g.admin.ResourceV1().ResourceClaims("default").Create(g.Context(), claim, metav1.CreateOptions{})
	must(g, err)
	return claim.Name
}

// user creates a pod that uses a claim, and waits until it runs.
func (g *gpus) user(name, claim string) *v1.Pod {
	g.Helper()
	return g.scheduled(name, func(p *v1.Pod) {
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
		p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
	})
}

// scheduled creates a pod that the scheduler binds, and waits until it runs.
func (g *gpus) scheduled(name string, change func(*v1.Pod)) *v1.Pod {
	g.Helper()
	pod := g.podWith(name, func(p *v1.Pod) {
		p.Spec.NodeName, p.Spec.NodeSelector = "", map[string]string{"kubernetes.io/hostname": g.node}
		change(p)
	})
	until(g, pod.Name+" runs", func() bool {
		now, err := g.admin.CoreV1().Pods("default").Get(g.Context(), pod.Name, metav1.GetOptions{})
		return err == nil && now.Status.Phase == v1.PodRunning
	})
	return pod
}

// require requires the pods to go as foretold, within a second, and the others to stay. The API server cuts timeAdded
// off to the second.
func (g *gpus) require(said map[types.UID]foretold, changed moment, pods ...*v1.Pod) {
	g.Helper()
	last := 0.0
	for _, p := range pods {
		last = max(last, said[p.UID].seconds)
	}
	changed.before = changed.before.Truncate(time.Second)
	for _, p := range pods {
		if f, goes := said[p.UID]; goes {
			g.goesWithin(time.Second, p, changed, f.seconds)
		} else {
			g.stays(p, changed, last+2)
		}
	}
}

// taintDevices makes the driver taint all devices.
func (g *gpus) taintDevices(key string) moment {
	g.Helper()
	m := moment{before: time.Now()}
	until(g, "the slice is updated", func() bool {
		slice, err := g.admin.ResourceV1().ResourceSlices().Get(g.Context(), g.node, metav1.GetOptions{})
		if err != nil {
			return false
		}
		for i := range slice.Spec.Devices {
			slice.Spec.Devices[i].Taints = []resourcev1.DeviceTaint{{Key: key, Effect: resourcev1.DeviceTaintEffectNoExecute}}
		}
		_, err = g.admin.ResourceV1().ResourceSlices().Update(g.Context(), slice, metav1.UpdateOptions{})
		return err == nil
	})
	m.after = time.Now()
	return m
}

// apply writes a rule for all devices of the driver.
func (g *gpus) apply(rule string) moment {
	g.Helper()
	return during(g, func() error { return g.Apply(g.Context(), rule) })
}

// rule returns a rule for all devices of the driver, and a file that has it.
func (g *gpus) rule(taint, effect string) (text, file string) {
	g.Helper()
	text = fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: %s}\nspec:\n  deviceSelector: {driver: %s}\n  taint: {key: %s, effect: %s}\n",
		g.node, g.driver, taint, effect)
	return text, configFile(g.T, text)
}

// bearsDevice returns a toleration with seconds or, if they are negative, without.
func bearsDevice(key string, seconds int64) resourcev1.DeviceToleration {
	t := resourcev1.DeviceToleration{Key: key, Operator: resourcev1.DeviceTolerationOpExists, Effect: resourcev1.DeviceTaintEffectNoExecute}
	if seconds >= 0 {
		t.TolerationSeconds = &seconds
	}
	return t
}

func goAsADriverTaints(g *gpus) {
	none, short, long := g.claim("none"), g.claim("short", bearsDevice("xid", 8), bearsDevice("xid", 3)), g.claim("long", bearsDevice("xid", 6))
	ever := g.claim("ever", bearsDevice("xid", -1))
	pods := []*v1.Pod{g.user("none", none), g.user("short", short), g.user("long", long), g.user("ever", ever)}
	var args []string
	for i := range 4 {
		args = append(args, "--device-taint", fmt.Sprintf("%s/%s/gpu-%d=xid:NoExecute", g.driver, g.node, i))
	}
	said, _ := g.plan(args...)
	if len(said) != 3 || said[pods[0].UID].seconds != 0 || said[pods[1].UID].seconds != 3 || said[pods[2].UID].seconds != 6 {
		g.Fatalf("plan says %v", said)
	}
	tainted := g.taintDevices("xid")
	listed, _ := g.pending(g.Kubeconfig())
	g.require(said, tainted, pods...)
	for _, p := range pods[1:3] {
		if at := listed[string(p.UID)].At; at.Sub(tainted.before.Truncate(time.Second)).Seconds() < said[p.UID].seconds || at.Sub(tainted.after).Seconds() > said[p.UID].seconds {
			g.Errorf("pending says that %s goes at %v, and its devices were tainted at %v", p.Name, at, tainted.after)
		}
	}
}

// With the effect None, no pod is evicted. With NoExecute the countdowns begin, and another key does not restart them.
func goByAnEditedRule(g *gpus) {
	g.since(g.T, 37, "DeviceTaintRule by default")
	pods := []*v1.Pod{g.user("some", g.claim("some", bearsDevice("", 6))), g.user("ever", g.claim("ever", bearsDevice("", -1)))}
	text, file := g.rule("xid", "None")
	said, _ := g.plan("--device-rule", file)
	if len(said) != 0 {
		g.Fatalf("plan says %v about the effect None", said)
	}
	g.require(said, g.apply(text), pods...)
	text, file = g.rule("xid", "NoExecute")
	said, _ = g.plan("--device-rule", file)
	began := g.apply(text)
	pause(g, 2*time.Second)
	text, file = g.rule("thermal", "NoExecute")
	later, _ := g.plan("--device-rule", file)
	if at := later[pods[0].UID].at; len(later) != 1 || at.Sub(began.after) > 6*time.Second || at.Sub(began.before) < 5*time.Second {
		g.Fatalf("plan says %v about another key, and the rule was applied at %v", later, began.after)
	}
	g.apply(text)
	g.require(said, began, pods...)
}

func goByExtendedResources(g *gpus) {
	g.since(g.T, 37, "evictions because of extended resources")
	pod := g.scheduled("extended", func(p *v1.Pod) {
		one := v1.ResourceList{v1.ResourceName(g.driver + "/gpu"): resource.MustParse("1")}
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: one, Limits: one}
	})
	said, _ := g.plan("--device-taint", fmt.Sprintf("%s/%s/gpu-0=xid:NoExecute", g.driver, g.node))
	g.require(said, g.taintDevices("xid"), pod)
}
