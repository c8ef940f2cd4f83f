// Package original recognizes that the original, the taint-eviction-controller of kube-controller-manager, evicts pods
// beside this program: another client has carried out an eviction that waits here ([eviction.Overtaken]), and the pod's
// managedFields say that it was not this program. A [Checker] asks the API server for such a pod once in a while, and
// reports the original in the log, by a metric, and as trouble. It needs no permission beyond listing pods.
//
// [eviction.Overtaken]: https://pkg.go.dev/github.com/taint-manager/taint-manager/eviction#Overtaken
package original
