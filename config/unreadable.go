package config

// Unreadable is the refusal of a text that can't be read as what the flag takes, such as a word where
// a number belongs: the same as that of a number which is not allowed. known is false for flags that
// are none of the numbers and times of a Configuration.
func Unreadable(flag, text string) (r Refusal, known bool) {
	c := Default()
	switch flag {
	case "eviction-workers":
		c.EvictionWorkers = -1
	case "max-evictions-per-second":
		c.MaxEvictionsPerSecond = -1
	case "shards":
		c.Shards = -1
	case "kube-api-qps":
		c.KubeAPIQPS = -2
	case "kube-api-burst":
		c.KubeAPIBurst = -1
	case "leader-elect-lease-duration":
		c.LeaderElection.LeaseDuration.Duration = -1
	case "leader-elect-renew-deadline":
		c.LeaderElection.RenewDeadline.Duration = -1
	case "leader-elect-retry-period":
		c.LeaderElection.RetryPeriod.Duration = -1
	default:
		return Refusal{}, false
	}
	r = c.Validate()[0]
	r.Value = text
	return r, true
}
