package config

import "slices"

const (
	mostWorkers = 1000
	mostShards  = 256
)

// Validate returns every setting that is refused, in a fixed order; none when c can be run with.
func (c Configuration) Validate() []Refusal {
	return slices.Concat(
		c.validateMethod(),
		c.validateWorkers(),
		c.validateShards(),
		c.validateRate(),
		c.validateStatusAddress(),
		c.validateQPS(),
		c.validateBurst(),
		c.validateContentType(),
		c.validateLeaderElection(),
	)
}

func (c Configuration) validateMethod() []Refusal {
	if c.EvictionMethod == MethodDelete || c.EvictionMethod == MethodEvict {
		return nil
	}
	return refuse("eviction-method", c.EvictionMethod, "it takes delete or evict",
		"choose delete to do as the original does, or evict to obey PodDisruptionBudgets")
}

func (c Configuration) validateWorkers() []Refusal {
	if 1 <= c.EvictionWorkers && c.EvictionWorkers <= mostWorkers {
		return nil
	}
	return refuse("eviction-workers", c.EvictionWorkers, "it takes 1 to 1000",
		"leave it out for 32, and see --max-evictions-per-second and --dry-run for fewer evictions or none")
}

func (c Configuration) validateShards() []Refusal {
	if 1 <= c.Shards && c.Shards <= mostShards {
		return nil
	}
	return refuse("shards", c.Shards, "it takes 1 to 256", "leave it out for 8")
}

// validateRate refuses what is so small that the time between two evictions can't be told.
func (c Configuration) validateRate() []Refusal {
	rate := c.MaxEvictionsPerSecond
	if rate == 0 || 0.001 <= rate && rate <= 1e6 {
		return nil
	}
	return refuse("max-evictions-per-second", rate, "it takes 0 for no limit, or 0.001 to 1000000",
		"leave it out for no limit, and see --dry-run for no evictions")
}
