package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// podsExpected is the number of pods that the manifest creates.
const podsExpected = 8 + 6*4

// stage is the cluster on which the story is played, with the observations of its pods.
type stage struct {
	cluster *testcluster.Cluster
	client  kubernetes.Interface
	out     io.Writer
	start   time.Time // when the node got its taints
	talking sync.WaitGroup

	mu   sync.Mutex
	pods map[types.UID]*v1.Pod // those that exist when the story begins
	went map[types.UID]time.Duration
}

// newStage creates nodes and workloads, and returns when all pods run.
func newStage(ctx context.Context, c *testcluster.Cluster, out io.Writer) (*stage, error) {
	client, err := quietClient(c.Kubeconfig())
	if err != nil {
		return nil, err
	}
	s := &stage{
		cluster: c, client: client, out: out, pods: map[types.UID]*v1.Pod{},
		went: map[types.UID]time.Duration{},
	}
	var objects strings.Builder
	for _, name := range nodes {
		objects.WriteString(testcluster.SimulatedNode(name))
	}
	if err := c.Apply(ctx, objects.String()); err != nil {
		return nil, err
	}
	if out, err := c.Kubectl(ctx, "wait", "node", "--all", "--for=condition=Ready",
		"--timeout=30s").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("waiting for the nodes: %w: %s", err, out)
	}
	if err := c.Apply(ctx, manifest()); err != nil {
		return nil, err
	}
	return s, s.awaitPods(ctx)
}

// awaitPods waits until all pods run, and records those on the node that will be tainted.
func (s *stage) awaitPods(ctx context.Context) error {
	for {
		list, err := s.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		running, there := 0, 0
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Status.Phase == v1.PodRunning {
				running++
			}
			if pod.Spec.NodeName == tainted {
				there++
			}
			s.pods[pod.UID] = pod
		}
		if running == podsExpected {
			s.say("%d pods run on %d nodes, %d of them on %s.", running, len(nodes), there, tainted)
			return errors.Join(s.followPods(ctx, list.ResourceVersion), s.followEvents(ctx))
		}
		if err := load.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// followPods records from now on when the deletion of each pod of the node begins.
func (s *stage) followPods(ctx context.Context, version string) error {
	stream, err := s.client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	go func() {
		for event := range stream.ResultChan() {
			pod, ok := event.Object.(*v1.Pod)
			if ok && (pod.DeletionTimestamp != nil || event.Type == "DELETED") {
				s.goes(ctx, pod.UID, time.Now())
			}
		}
	}()
	return nil
}

// followEvents prints from now on each eviction that is cancelled.
func (s *stage) followEvents(ctx context.Context) error {
	stream, err := s.client.CoreV1().Events("default").Watch(ctx,
		metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
	if err != nil {
		return fmt.Errorf("watching events: %w", err)
	}
	go func() {
		for event := range stream.ResultChan() {
			e, ok := event.Object.(*v1.Event)
			if ok && strings.HasPrefix(e.Message, "Cancelling") {
				_, because, _ := strings.Cut(e.Message, "Z: ")
				because, _, _ = strings.Cut(because, ";")
				s.line(time.Since(s.start), e.InvolvedObject.Name, "cancelled", because)
			}
		}
	}()
	return nil
}

// goes records that a pod's deletion has begun, and prints it with the reason that its event gives.
func (s *stage) goes(ctx context.Context, uid types.UID, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := at.Sub(s.start)
	pod := s.pods[uid]
	if _, known := s.went[uid]; known || pod == nil {
		return
	}
	s.went[uid] = after
	s.talking.Go(func() { s.line(after, pod.Name, "evicted", s.reason(ctx, pod)) })
}

// reason returns the part about the taint of the event on the pod; events arrive a little later.
func (s *stage) reason(ctx context.Context, pod *v1.Pod) string {
	for range 30 {
		list, err := s.client.CoreV1().Events("default").List(ctx, metav1.ListOptions{
			FieldSelector: "reason=TaintManagerEviction,involvedObject.uid=" + string(pod.UID),
		})
		if err == nil && len(list.Items) > 0 {
			return shorten(list.Items[0].Message)
		}
		if load.Pause(ctx, 100*time.Millisecond) != nil {
			return ""
		}
	}
	return "(its event has not come)"
}

// shorten removes from an event's message what the timeline already shows: pod, node and times.
func shorten(message string) string {
	_, because, _ := strings.Cut(message, "taint ")
	before, after, _ := strings.Cut(because, " (exposed since ")
	_, after, _ = strings.Cut(after, ")")
	return before + after
}

// play plays the story.
func (s *stage) play(ctx context.Context) error {
	fmt.Fprintf(s.out, "\n%7s  %-24s %-10s %s\n", "TIME", "POD OR NODE", "WHAT", "WHY")
	s.mu.Lock()
	s.start = time.Now()
	s.mu.Unlock()
	for _, scene := range []struct {
		at   time.Duration
		what string
		do   func(context.Context) error
	}{
		{
			0, "gets the taints " + maintenance.ToString() + " and " + network.ToString(),
			s.setTaints(maintenance, network),
		},
		{liftNetworkAt, "loses the taint " + network.ToString(), s.setTaints(maintenance)},
		{lengthenDBAt, "", s.lengthenDB},
		{watchUntil, "", func(context.Context) error { return nil }},
	} {
		if err := load.Pause(ctx, time.Until(s.start.Add(scene.at))); err != nil {
			return err
		}
		if scene.what != "" {
			s.line(time.Since(s.start), tainted, "node", scene.what)
		}
		if err := scene.do(ctx); err != nil {
			return err
		}
	}
	s.talking.Wait()
	return nil
}

// setTaints sets the node's NoExecute taints to exactly these.
func (s *stage) setTaints(taints ...v1.Taint) func(context.Context) error {
	return func(ctx context.Context) error { return load.SetTaints(ctx, s.client, tainted, taints...) }
}

// lengthenDB makes the database tolerate the maintenance for longer, while its countdown runs.
func (s *stage) lengthenDB(ctx context.Context) error {
	for _, old := range s.pods {
		if old.Labels["app"] != "db" || old.Spec.NodeName != tainted {
			continue
		}
		pod, err := s.client.CoreV1().Pods("default").Get(ctx, old.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading %s: %w", old.Name, err)
		}
		for i := range pod.Spec.Tolerations {
			if pod.Spec.Tolerations[i].Key == "maintenance" {
				seconds := int64(lengthenDBTo)
				pod.Spec.Tolerations[i].TolerationSeconds = &seconds
			}
		}
		s.line(time.Since(s.start), pod.Name, "pod",
			fmt.Sprintf("its toleration of maintenance is lengthened from %d to %d s", lengthenDBFrom, lengthenDBTo))
		if _, err := s.client.CoreV1().Pods("default").Update(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("lengthening a toleration of %s: %w", pod.Name, err)
		}
	}
	return nil
}

func (s *stage) line(at time.Duration, who, what, why string) {
	s.say("%5.1f s  %-24s %-10s %s", at.Seconds(), who, what, why)
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }
