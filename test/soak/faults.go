package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	takeover = 20 * time.Second // the lease's 15 s, and the retry
	byHand   = 15 * time.Second // a fault that is ended by hand
	stopped  = 4 * time.Second
	reloaded = 8 * time.Second // how long a changed configuration may take until it is in force
)

type kind struct {
	name         string
	wait         time.Duration // from its end until what it delayed is done: a process takes over, or a try is due
	namespaces   []string      // only their pods are delayed; nil means all
	losesAnswers bool
	holds        string // evictions for taints with this key are held
	do           func(*soak, context.Context) error
}

// hooked are the namespaces of the pods whose deletions a webhook receives.
var hooked = []string{"ns-0", "ns-1"}

var kinds = []kind{
	{name: "leader killed", wait: takeover, losesAnswers: true, do: (*soak).killLeader},
	{name: "leader frozen for 20 s", wait: takeover, losesAnswers: true, do: (*soak).freezeLeader},
	{name: "API server killed", wait: takeover, losesAnswers: true, do: (*soak).killServer},
	{name: "API server stopped for 4 s", wait: takeover, losesAnswers: true, do: stop(testcluster.APIServer)},
	{name: "etcd stopped for 4 s", wait: takeover, losesAnswers: true, do: stop(testcluster.Etcd)},
	{name: "webhook that hangs", wait: byHand, namespaces: hooked, losesAnswers: true, do: hook("")},
	{name: "webhook that rejects", wait: byHand, namespaces: hooked, do: hook("deletions are frozen")},
	{name: "Lease deleted", wait: takeover, do: (*soak).deleteLease},
	{name: "journal partition deleted", namespaces: []string{}, do: (*soak).deletePartition},
	{name: "policies reloaded", wait: reloaded, namespaces: []string{}, holds: heldKey, do: (*soak).reload},
	{name: "permission taken away", wait: byHand, do: (*soak).takePermission},
}

// breakThings makes a fault now and then until the time is up. Each kind comes once before one comes again.
func (s *soak) breakThings(ctx context.Context, until time.Time, r *rand.Rand) error {
	var round []int
	next := time.Now().Add(every / 3)
	for ; next.Add(every).Before(until) && time.Until(until) > every; next = next.Add(every) {
		if err := load.Pause(ctx, time.Until(next)); err != nil {
			return err
		}
		if len(round) == 0 {
			round = r.Perm(len(kinds))
		}
		k := kinds[round[0]]
		round = round[1:]
		s.say("fault: %s", k.name)
		began := time.Now()
		if err := k.do(s, ctx); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		s.faults = append(s.faults, fault{span{began, time.Now().Add(k.wait)}, k})
	}
	return nil
}

func (s *soak) killLeader(ctx context.Context) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	leader.Kill()
	return leader.Start(ctx)
}

func (s *soak) freezeLeader(ctx context.Context) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	return pauseFor(ctx, leader.Component, 20*time.Second)
}

func (s *soak) killServer(ctx context.Context) error {
	server := s.Component(testcluster.APIServer)
	server.Kill()
	return server.Start(ctx)
}

func stop(component string) func(*soak, context.Context) error {
	return func(s *soak, ctx context.Context) error { return pauseFor(ctx, s.Component(component), stopped) }
}

func pauseFor(ctx context.Context, c *testcluster.Component, d time.Duration) error {
	if err := c.Pause(); err != nil {
		return err
	}
	return errors.Join(load.Pause(ctx, d), c.Resume())
}

// hook returns a fault by a webhook that denies deletions or, without a denial, holds them.
func hook(denial string) func(*soak, context.Context) error {
	return func(s *soak, ctx context.Context) error {
		h := load.NewWebhook()
		h.Denial = denial
		defer h.Close()
		if err := h.Register(ctx, s.admin, s.witness); err != nil {
			return err
		}
		return errors.Join(load.Pause(ctx, byHand), h.Unregister(ctx, s.admin))
	}
}

func (s *soak) deleteLease(ctx context.Context) error {
	return s.admin.CoordinationV1().Leases(own).Delete(ctx, "taint-manager", metav1.DeleteOptions{})
}

const journal = "taint-manager-journal-"

func (s *soak) deletePartition(ctx context.Context) error {
	maps := s.admin.CoreV1().ConfigMaps(own)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		name, entries := list.Items[i].Name, len(list.Items[i].Data) // one entry is not about a node
		if strings.HasPrefix(name, journal) && name != journal+"state" && entries > 1 {
			return maps.Delete(ctx, name, metav1.DeleteOptions{})
		}
	}
	return errors.New("the journal has no partition with a node")
}

const configuration = "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\n"

// reload holds evictions for the taint heldKey for a while.
func (s *soak) reload(ctx context.Context) error {
	err := s.configure("policies: [{name: hold, method: Hold, match: {taints: [{key: " + heldKey + "}]}}]\n")
	if err != nil {
		return err
	}
	return errors.Join(load.Pause(ctx, reloaded+byHand), s.configure(""))
}

func (s *soak) configure(policies string) error {
	next := s.config + ".next"
	if err := os.WriteFile(next, []byte(configuration+policies), 0o600); err != nil {
		return err
	}
	return os.Rename(next, s.config)
}

func (s *soak) takePermission(ctx context.Context) error {
	bindings := s.admin.RbacV1().ClusterRoleBindings()
	if err := bindings.Delete(ctx, "taint-manager-evictions", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return errors.Join(load.Pause(ctx, byHand), s.Permit(ctx))
}
