// Package config defines the configuration of "taint-manager run": one versioned struct that a file and flags fill.
//
// Start from [Default]. [Decode] applies a file to it and returns all errors, including those of
// [Configuration.Validate]. [Configuration.AddFlags] binds flags to it; callers apply given flags after the file.
//
// It is pure. Its tests generate the JSON schema and the file of defaults from the struct's comments ("make golden").
package config
