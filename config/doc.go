// Package config says what can be set on a taint manager, what each setting means, and which values
// are refused.
//
// It is pure: [Configuration.Validate] reads its receiver and nothing else, neither files nor the
// cluster, so that a configuration is judged the same way everywhere. Whoever fills a Configuration
// from flags begins with [Default].
package config
