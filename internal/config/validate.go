package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/policy"
)

const leases = "leases" // the only kind of lock

// Validate returns every error, in a fixed order; none if c is valid.
func (c *Configuration) Validate() field.ErrorList {
	var root *field.Path
	all := oneOf(root.Child("apiVersion"), c.APIVersion, APIVersion)
	all = append(all, oneOf(root.Child("kind"), c.Kind, Kind)...)
	all = append(all, c.Eviction.validate(root.Child("eviction"))...)
	all = append(all, between(root.Child("shards"), c.Shards, 1, 256)...)
	all = append(all, loopbackOrNone(root.Child("statusAddress"), c.StatusAddress)...)
	all = append(all, printable(root.Child("clusterName"), c.ClusterName)...)
	all = append(all, c.ClientConnection.validate(root.Child("clientConnection"))...)
	if c.LeaderElection.LeaderElect {
		all = append(all, c.LeaderElection.validate(root.Child("leaderElection"))...)
	}
	return append(all, policy.Validate(c.Policies, c.Guards)...)
}

func (e *Eviction) validate(at *field.Path) field.ErrorList {
	all := oneOf(at.Child("method"), e.Method, policy.Delete, policy.Evict, policy.Ignore)
	all = append(all, between(at.Child("workers"), e.Workers, 1, 1000)...)
	return append(all, noLimitOr(at.Child("maxEvictionsPerSecond"), e.MaxEvictionsPerSecond, 0.001, 1e6,
		"must be 0 (no limit), or 0.001 to 1000000")...)
}

func (c *ClientConnection) validate(at *field.Path) (all field.ErrorList) {
	if c.QPS != -1 { // Kubernetes' way to write no limit. Other negative numbers are more likely a mistake.
		all = noLimitOr(at.Child("qps"), c.QPS, 1, 1e5, "must be 0 or -1 (no limit), or 1 to 100000")
	}
	all = append(all, between(at.Child("burst"), c.Burst, 0, 1e6)...)
	if c.Burst > 0 && c.QPS <= 0 { // it would have no effect
		all = append(all, field.Invalid(at.Child("burst"), c.Burst, "must be 0 unless qps sets a limit"))
	}
	return append(all, oneOf(at.Child("contentType"), c.ContentType, ContentTypeProtobuf, ContentTypeJSON)...)
}

func (l *LeaderElection) validate(at *field.Path) (all field.ErrorList) {
	lease, renew, retry := l.LeaseDuration.Duration, l.RenewDeadline.Duration, l.RetryPeriod.Duration
	refuse := func(wrong bool, name string, value any, message string) {
		if wrong {
			all = append(all, field.Invalid(at.Child(name), value, message))
		}
	}
	// A Lease holds whole seconds: with fractions, candidates would wait for less time than the leader assumes.
	refuse(lease%time.Second != 0 || lease < time.Second || lease > time.Hour, "leaseDuration", lease.String(),
		"must be whole seconds from 1s to 1h")
	refuse(renew >= lease, "renewDeadline", renew.String(),
		"must be less than leaseDuration ("+lease.String()+")")
	// client-go extends the time between two attempts by up to a fifth.
	refuse(float64(renew) <= 1.2*float64(retry), "renewDeadline", renew.String(),
		"must be more than 1.2 times retryPeriod ("+retry.String()+")")
	refuse(retry < 10*time.Millisecond, "retryPeriod", retry.String(), "must be at least 10ms")
	all = append(all, oneOf(at.Child("resourceLock"), l.ResourceLock, leases)...)
	for _, message := range policy.WithoutPattern(validation.IsDNS1123Subdomain(l.ResourceName)) {
		refuse(true, "resourceName", l.ResourceName, message)
	}
	for _, message := range policy.WithoutPattern(validation.IsDNS1123Label(l.ResourceNamespace)) {
		refuse(true, "resourceNamespace", l.ResourceNamespace, message)
	}
	return all
}

func between(at *field.Path, n, least, most int) field.ErrorList {
	if n < least || n > most {
		return field.ErrorList{field.Invalid(at, n, validation.InclusiveRangeError(least, most))}
	}
	return nil
}

// noLimitOr allows the numbers from least to most, and 0 for no limit.
func noLimitOr[F float32 | float64](at *field.Path, x, least, most F, message string) field.ErrorList {
	if x != 0 && !(least <= x && x <= most) { //nolint:staticcheck // NaN is refused, too
		return field.ErrorList{field.Invalid(at, x, message)}
	}
	return nil
}

func oneOf[S ~string](at *field.Path, value S, allowed ...S) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, allowed)}
}

// loopbackOrNone allows loopback addresses only, because the page does not authenticate its readers.
func loopbackOrNone(at *field.Path, address string) field.ErrorList {
	parsed, err := netip.ParseAddrPort(strings.Replace(address, "localhost:", "127.0.0.1:", 1))
	if address != "" && (err != nil || !parsed.Addr().IsLoopback() || parsed.Port() == 0) {
		return field.ErrorList{field.Invalid(at, address,
			`must be a loopback address and a port, such as 127.0.0.1:8080, or "" for no page`)}
	}
	return nil
}

// printable allows names that are readable on one line, and as long as the name of a host.
func printable(at *field.Path, name string) field.ErrorList {
	unreadable := func(r rune) bool { return !unicode.IsPrint(r) }
	if len(name) > 253 || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unreadable) {
		return field.ErrorList{field.Invalid(at, name, "must be at most 253 printable characters without spaces around them")}
	}
	return nil
}
