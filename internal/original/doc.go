// Package original recognizes that the original, the taint-eviction-controller of kube-controller-manager, evicts pods
// beside this program: another client has carried out an eviction that waits here ([eviction.Overtaken]), and the pod's
// managedFields say that it was not this program. It is pure; package check asks for the pod, and reports.
//
// [eviction.Overtaken]: https://pkg.go.dev/github.com/taint-manager/taint-manager/eviction#Overtaken
package original
