// Package config defines the settings of a taint manager: the meaning, the default and the refused values of each
// setting.
//
// It is pure: [Configuration.Validate] reads its receiver and nothing else, neither files nor the cluster, so that its
// result is the same everywhere. A caller that fills a Configuration from flags begins with [Default].
package config
