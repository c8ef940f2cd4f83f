package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
)

const (
	nodes      = 40
	pods       = 400
	namespaces = 8
	rest       = 8 * time.Second // how long, at least, a node's taints stay unchanged
	heldKey    = "c"
	label      = "soak"
)

var keys = []string{"a", "b", heldKey}

// users taint nodes, and replace pods that are gone with new ones that have the same tolerations.
type users struct {
	*soak
	rand        *rand.Rand
	taints      [nodes][]v1.Taint
	changed     [nodes]time.Time
	tolerations [pods][]v1.Toleration
	made        int // pods so far
	changes     int // of taints
}

func newUsers(s *soak, r *rand.Rand) *users {
	u := &users{soak: s, rand: r}
	for i := range u.tolerations {
		u.tolerations[i] = u.someTolerations()
	}
	return u
}

// act lets them act until the time is up.
func (u *users) act(ctx context.Context, until time.Time) error {
	for next := time.Now(); next.Before(until); next = next.Add(500 * time.Millisecond) {
		if err := load.Pause(ctx, time.Until(next)); err != nil {
			return err
		}
		err := u.retaint(ctx, u.rand.IntN(nodes))
		if err == nil {
			err = u.replace(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// retaint sets each of the taints with a probability of a fifth, half of them without timeAdded.
func (u *users) retaint(ctx context.Context, node int) error {
	if time.Since(u.changed[node]) < rest {
		return nil
	}
	var taints []v1.Taint
	now := metav1.Now()
	for _, key := range keys {
		if u.rand.IntN(5) > 0 {
			continue
		}
		taint := v1.Taint{Key: key, Value: "on", Effect: v1.TaintEffectNoExecute}
		if u.rand.IntN(2) > 0 {
			taint.TimeAdded = &now
		}
		before := slices.IndexFunc(u.taints[node], func(t v1.Taint) bool { return t.Key == key })
		if before >= 0 {
			taint = u.taints[node][before]
		}
		taints = append(taints, taint)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{triedAnnotation: now.Format(time.RFC3339Nano)}},
		"spec":     map[string]any{"taints": taints},
	})
	if err != nil {
		return err
	}
	err = persist(ctx, func(ctx context.Context) error {
		nodes := u.admin.CoreV1().Nodes()
		_, err := nodes.Patch(ctx, nodeName(node), types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	u.taints[node], u.changed[node] = taints, time.Now()
	u.changes++
	return err
}

// replace makes the pods that are missing. Most are put on nodes without taints, as a scheduler does.
func (u *users) replace(ctx context.Context) error {
	var list *v1.PodList
	err := persist(ctx, func(ctx context.Context) (err error) {
		list, err = u.admin.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: label})
		return err
	})
	if err != nil {
		return err
	}
	var there [pods]bool
	for i := range list.Items {
		if n, err := strconv.Atoi(list.Items[i].Labels[label]); err == nil {
			there[n] = true
		}
	}
	for i := range there {
		if there[i] {
			continue
		}
		pod := somePod(fmt.Sprintf("pod-%d-%d", i, u.made), i%namespaces, u.someNode(), u.tolerations[i])
		pod.Labels[label] = strconv.Itoa(i)
		u.made++
		if err := u.create(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (u *users) someNode() int {
	for {
		if node := u.rand.IntN(nodes); len(u.taints[node]) == 0 || u.rand.IntN(10) == 0 {
			return node
		}
	}
}

func (s *soak) create(ctx context.Context, pod *v1.Pod) error {
	return persist(ctx, func(ctx context.Context) error {
		_, err := s.admin.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier try was lost
			return nil
		}
		return err
	})
}

// somePod returns a pod that is small, because the audit log has each of its states.
func somePod(name string, namespace, node int, tolerations []v1.Toleration) *v1.Pod {
	pod := load.Pod(name, nodeName(node), map[string]string{})
	pod.Namespace = fmt.Sprintf("ns-%d", namespace)
	if slices.Contains(hooked, pod.Namespace) {
		pod.Labels[load.HeldLabel] = "yes"
	}
	pod.Spec.Tolerations, pod.Spec.TerminationGracePeriodSeconds = tolerations, new(int64(2))
	pod.Spec.Containers[0].Env = nil
	return pod
}

// someTolerations returns up to three tolerations for a key or for all, for a while or without limit. Those for another
// value match nothing.
func (u *users) someTolerations() (list []v1.Toleration) {
	for range u.rand.IntN(4) {
		t := v1.Toleration{Key: keys[u.rand.IntN(len(keys))], Operator: v1.TolerationOpExists}
		switch u.rand.IntN(4) {
		case 0:
			t.Operator, t.Value = v1.TolerationOpEqual, []string{"on", "off"}[u.rand.IntN(2)]
		case 1:
			t.Key = ""
		case 2:
			t.Effect = v1.TaintEffectNoExecute
		}
		if u.rand.IntN(3) > 0 {
			t.Effect, t.TolerationSeconds = v1.TaintEffectNoExecute, new(u.rand.Int64N(21))
		}
		list = append(list, t)
	}
	return list
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// persist tries for a minute, until do succeeds.
func persist(ctx context.Context, do func(context.Context) error) error {
	for until := time.Now().Add(time.Minute); ; {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := do(try)
		cancel()
		if err == nil || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		_ = load.Pause(ctx, 200*time.Millisecond)
	}
}
