// Package e2e shows on a real control plane what taint-manager promises: the binary runs there with the permissions
// of deploy/rbac.yaml, and the tests observe the effects on pods, from outside.
//
// It contains only tests. They need the binaries that `make build controlplane` makes; `go test -short` skips them.
package e2e
