package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// podsExpected is the number of pods that the manifest creates.
const podsExpected = 8 + 6*4

// stage is the cluster on which the story is played, with the observations of its pods.
type stage struct {
	cluster   *testcluster.Cluster
	client    kubernetes.Interface
	deletions *load.DeletionTimes
	out       io.Writer
	start     time.Time // when the node got its taints

	pods map[types.UID]*v1.Pod // the pods that exist when the story begins
	went map[types.UID]time.Duration
}

// newStage creates nodes and workloads, and returns when all pods run.
func newStage(ctx context.Context, c *testcluster.Cluster, out io.Writer) (*stage, error) {
	client, err := load.NewClient(c.Kubeconfig())
	if err != nil {
		return nil, err
	}
	s := &stage{
		cluster: c, client: client, deletions: load.NewDeletionTimes(), out: out,
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
	run := func(ctx context.Context) (bool, error) {
		list, err := s.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
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
			s.say("%d pods are running on %d nodes, %d of them on %s.", running, len(nodes), there, tainted)
		}
		return running == podsExpected, nil
	}
	return load.Until(ctx, "all pods to run", 200*time.Millisecond, 5*time.Minute, run)
}

// printEvictions prints from now on each eviction, and each eviction that is cancelled, with the reason that its event
// gives. The event comes a little later than the deletion.
func (s *stage) printEvictions(ctx context.Context) error {
	stream, err := s.client.CoreV1().Events("default").Watch(ctx,
		metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
	if err != nil {
		return fmt.Errorf("watching events: %w", err)
	}
	go func() {
		for event := range stream.ResultChan() {
			e, ok := event.Object.(*v1.Event)
			if !ok || event.Type != watch.Added {
				continue
			}
			_, because, _ := strings.Cut(e.Message, "Z: ")
			because, _, _ = strings.Cut(because, ";")
			what, at := "cancelled", time.Now()
			if !strings.HasPrefix(e.Message, "Cancelling") {
				what = "evicted"
				at, _ = s.deletions.Of(ctx, e.InvolvedObject.UID, at.Add(time.Second))
			}
			s.line(at.Sub(s.start), e.InvolvedObject.Name, what, because)
		}
	}()
	return nil
}

// step is a command of kubectl, at a time of the story.
type step struct {
	at             time.Duration
	who, what, why string
	command        []string
}

// story returns the steps. The toleration that is lengthened is the database pod's second toleration.
func (s *stage) story() []step {
	db := ""
	for _, pod := range s.pods {
		if pod.Labels["app"] == "db" && pod.Spec.NodeName == tainted {
			db = pod.Name
		}
	}
	lengthen := fmt.Sprintf(`[{"op": "test", "path": "/spec/tolerations/1/key", "value": "maintenance"},
{"op": "replace", "path": "/spec/tolerations/1/tolerationSeconds", "value": %d}]`, lengthenDBTo)
	return []step{
		{
			0, tainted, "tainted", maintenance + " and " + network,
			[]string{"taint", "node", tainted, maintenance, network},
		},
		{
			liftNetworkAt, tainted, "untainted", network + " removed",
			[]string{"taint", "node", tainted, network + "-"},
		},
		{
			lengthenDBAt, db, "changed",
			fmt.Sprintf("toleration of maintenance extended from %ds to %ds", lengthenDBFrom, lengthenDBTo),
			[]string{"patch", "pod", db, "--type=json", "--patch=" + lengthen},
		},
	}
}

func (s *stage) play(ctx context.Context) error {
	fmt.Fprintf(s.out, "\n%7s  %-24s %-10s %s\n", "TIME", "POD OR NODE", "EVENT", "REASON")
	s.start = time.Now()
	if err := s.printEvictions(ctx); err != nil {
		return err
	}
	for _, step := range s.story() {
		if err := load.Pause(ctx, time.Until(s.start.Add(step.at))); err != nil {
			return err
		}
		s.line(time.Since(s.start), step.who, step.what, step.why)
		if out, err := s.cluster.Kubectl(ctx, step.command...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %w: %s", step.who, step.why, err, out)
		}
	}
	if err := load.Pause(ctx, time.Until(s.start.Add(watchUntil))); err != nil {
		return err
	}
	for uid := range s.pods {
		if at, gone := s.deletions.Of(ctx, uid, time.Now()); gone {
			s.went[uid] = at.Sub(s.start)
		}
	}
	return nil
}

func (s *stage) line(at time.Duration, who, what, why string) {
	s.say("%5.1f s  %-24s %-10s %s", at.Seconds(), who, what, why)
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }
