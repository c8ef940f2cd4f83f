// Package e2e shows on a real control plane what taint-manager promises: the binary runs there with the
// permissions of deploy/rbac.yaml, and the tests look at what happens to pods, from outside.
//
// It holds tests only. They need the binaries that `make build controlplane` makes; `go test -short`
// leaves them out.
package e2e
