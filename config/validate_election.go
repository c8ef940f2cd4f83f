package config

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// leases is the one kind of lock that there is.
const leases = "leases"

// spread is how much later than planned a try to renew may come: client-go adds up to a fifth.
const spread = 1.2

// validateLeaderElection asks nothing of settings that are not used.
func (c Configuration) validateLeaderElection() []Refusal {
	if !c.LeaderElection.LeaderElect {
		return nil
	}
	return slices.Concat(
		c.validateLeaseDuration(),
		c.validateRenewDeadline(),
		c.validateRetryPeriod(),
		c.validateResourceLock(),
		c.validateResourceName(),
		c.validateResourceNamespace(),
	)
}

// validateLeaseDuration refuses fractions, because a Lease holds whole seconds: the others would
// wait for less than this process counts on.
func (c Configuration) validateLeaseDuration() []Refusal {
	lease := c.LeaderElection.LeaseDuration.Duration
	if lease%time.Second == 0 && time.Second <= lease && lease <= time.Hour {
		return nil
	}
	return refuse("leader-elect-lease-duration", lease, "it takes whole seconds from 1s to 1h0m0s", "leave it out for 15s")
}

func (c Configuration) validateRenewDeadline() []Refusal {
	e := c.LeaderElection
	renew, lease, retry := e.RenewDeadline.Duration, e.LeaseDuration.Duration, e.RetryPeriod.Duration
	if 0 < renew && renew < lease && float64(renew) > spread*float64(retry) {
		return nil
	}
	return refuse("leader-elect-renew-deadline", renew,
		fmt.Sprintf("it takes less than --leader-elect-lease-duration=%s and more than 1.2 times --leader-elect-retry-period=%s", lease, retry),
		"leave all three out for 15s, 10s and 2s")
}

func (c Configuration) validateRetryPeriod() []Refusal {
	retry := c.LeaderElection.RetryPeriod.Duration
	if retry >= 10*time.Millisecond {
		return nil
	}
	return refuse("leader-elect-retry-period", retry, "it takes 10ms or more", "leave it out for 2s")
}

func (c Configuration) validateResourceLock() []Refusal {
	if c.LeaderElection.ResourceLock == leases {
		return nil
	}
	return refuse("leader-elect-resource-lock", c.LeaderElection.ResourceLock, "it takes leases", "leave it out")
}

func (c Configuration) validateResourceName() []Refusal {
	name := c.LeaderElection.ResourceName
	if len(validation.IsDNS1123Subdomain(name)) == 0 {
		return nil
	}
	return refuse("leader-elect-resource-name", name,
		"it takes lower case letters, digits, '-' and '.', 253 at most, with a letter or digit at both ends",
		"leave it out for taint-manager")
}

func (c Configuration) validateResourceNamespace() []Refusal {
	namespace := c.LeaderElection.ResourceNamespace
	if len(validation.IsDNS1123Label(namespace)) == 0 {
		return nil
	}
	return refuse("leader-elect-resource-namespace", namespace,
		"it takes lower case letters, digits and '-', 63 at most, with a letter or digit at both ends",
		"leave it out for kube-system")
}
