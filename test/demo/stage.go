package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// podsExpected is the number of pods that the manifest creates.
const podsExpected = 8 + 6*4

// stage is the cluster on which the story is played, with the observations of its pods.
type stage struct {
	client    kubernetes.Interface
	deletions *load.DeletionTimes
	out       io.Writer
	start     time.Time // when the node got its taints

	pods map[types.UID]*v1.Pod // the pods that exist when the story begins
	went map[types.UID]time.Duration
}

// quietClient returns a client that writes nothing between the lines of the timeline. It is not throttled, so it has no
// waiting to report either.
func quietClient(kubeconfig string) (kubernetes.Interface, error) {
	klog.SetLogger(logr.Discard())
	return load.NewClient(kubeconfig)
}

// newStage creates nodes and workloads, and returns when all pods run.
func newStage(ctx context.Context, c *testcluster.Cluster, out io.Writer) (*stage, error) {
	client, err := quietClient(c.Kubeconfig())
	if err != nil {
		return nil, err
	}
	s := &stage{
		client: client, deletions: load.NewDeletionTimes(), out: out,
		pods: map[types.UID]*v1.Pod{}, went: map[types.UID]time.Duration{},
	}
	var objects strings.Builder
	for _, name := range nodes {
		objects.WriteString(testcluster.SimulatedNode(name))
	}
	if err := c.Apply(ctx, objects.String()); err != nil {
		return nil, err
	}
	ready := c.Kubectl(ctx, "wait", "node", "--all", "--for=condition=Ready", "--timeout=30s")
	if out, err := ready.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("waiting for the nodes: %w: %s", err, out)
	}
	if err := c.Apply(ctx, manifest()); err != nil {
		return nil, err
	}
	if err := s.awaitPods(ctx); err != nil {
		return nil, err
	}
	return s, s.deletions.Follow(ctx, client)
}

// awaitPods waits until all pods run, and records them.
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
			return nil
		}
		if err := load.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// printEvictions prints from now on each eviction, and each eviction that is cancelled, with the reason that its event
// gives.
func (s *stage) printEvictions(ctx context.Context) error {
	stream, err := s.client.CoreV1().Events("default").Watch(ctx,
		metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
	if err != nil {
		return fmt.Errorf("watching events: %w", err)
	}
	go func() {
		for event := range stream.ResultChan() {
			e, ok := event.Object.(*v1.Event)
			switch {
			case !ok || event.Type != watch.Added:
			case strings.HasPrefix(e.Message, "Cancelling"):
				_, because, _ := strings.Cut(e.Message, "Z: ")
				because, _, _ = strings.Cut(because, ";")
				s.line(time.Since(s.start), e.InvolvedObject.Name, "cancelled", because)
			case strings.HasPrefix(e.Message, "Marking"): // the event comes a little later than the deletion
				at, _ := s.deletions.Of(ctx, e.InvolvedObject.UID, time.Now().Add(time.Second))
				s.line(at.Sub(s.start), e.InvolvedObject.Name, "evicted", shorten(e.Message))
			}
		}
	}()
	return nil
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
	s.start = time.Now()
	if err := s.printEvictions(ctx); err != nil {
		return err
	}
	both := "gets the taints " + maintenance.ToString() + " and " + network.ToString()
	if err := s.setTaints(ctx, both, maintenance, network); err != nil {
		return err
	}
	if err := s.pauseUntil(ctx, liftNetworkAt); err != nil {
		return err
	}
	if err := s.setTaints(ctx, "loses the taint "+network.ToString(), maintenance); err != nil {
		return err
	}
	if err := s.pauseUntil(ctx, lengthenDBAt); err != nil {
		return err
	}
	if err := s.lengthenDB(ctx); err != nil {
		return err
	}
	if err := s.pauseUntil(ctx, watchUntil); err != nil {
		return err
	}
	for uid := range s.pods {
		if at, gone := s.deletions.Of(ctx, uid, time.Now()); gone {
			s.went[uid] = at.Sub(s.start)
		}
	}
	return nil
}

// pauseUntil waits until this long after the node got its taints.
func (s *stage) pauseUntil(ctx context.Context, at time.Duration) error {
	return load.Pause(ctx, time.Until(s.start.Add(at)))
}

// setTaints prints what happens, and sets the node's NoExecute taints to exactly these.
func (s *stage) setTaints(ctx context.Context, what string, taints ...v1.Taint) error {
	s.line(time.Since(s.start), tainted, "node", what)
	return load.SetTaints(ctx, s.client, tainted, taints...)
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
