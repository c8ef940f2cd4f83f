// Package config defines the configuration of "taint-manager run": one versioned struct that a file and flags fill.
//
// [Default] returns the defaults, [Decode] applies a file, [Configuration.AddFlags] binds the flags, and
// [Configuration.Validate] returns every error at once. The package is pure: it reads neither files nor the cluster.
//
// The JSON schema and the file of defaults are generated from the struct and its comments by the tests of this package
// ("make golden").
package config
