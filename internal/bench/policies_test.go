package main

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/internal/load"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAThousandPoliciesAreValidAndALateOneDecides(t *testing.T) {
	c := config.Default()
	file, refusals := config.Decode("policies.yaml", []byte(thousandPolicies()), c.Settings, func(string) bool { return false })
	if len(refusals) > 0 {
		t.Fatal(refusals[0])
	}
	set, problems := policy.Compile(policy.Config{Policies: file.Policies})
	if len(problems) > 0 || len(file.Policies) != policyCount {
		t.Fatalf("got %d policies, problems %v", len(file.Policies), problems)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	node := &taint.Node{Name: "n", Taints: []taint.History{{{Taint: v1.Taint{Key: taintKey, Effect: v1.TaintEffectNoExecute}, Since: now}}}}
	pod := &taint.Pod{UID: "1", Namespace: load.Namespace, Name: "p", Node: "n", Labels: map[string]string{"app": "bench"}}
	v := policy.Judge{Set: set}.Decide(pod, node)
	if name := v.Delete.Policy; !v.Delete.Evict || !strings.HasPrefix(name, "policy-9") {
		t.Errorf("policy %q decides, want one of the last hundred: %+v", name, v)
	}
}
