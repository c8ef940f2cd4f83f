// Package testcluster starts and stops a real Kubernetes control plane on free loopback ports: etcd,
// kube-apiserver, kube-controller-manager without its taint-eviction-controller, kube-scheduler, and kwok, which
// simulates the kubelets. Tests, the demo and the benchmarks run taint-manager against this control plane.
//
// Its guarantees:
//
//   - A cluster shares its ports, certificates, data and logs with no other cluster, so several clusters may run at
//     once. A cluster writes nothing outside its folder.
//   - A cluster listens on 127.0.0.1 only. Clients reach the API server through a kubeconfig: as cluster-admin
//     ([Cluster.Kubeconfig]) or as any user ([Cluster.KubeconfigFor]), subject to RBAC as on any other cluster.
//   - No component outlives the process that started it, even if that process is killed and even if the component
//     is paused. (On systems other than Linux, components may outlive a process that is killed.)
//   - This package only starts programs: bin/controlplane and bin/kwok, which `make controlplane` builds. It never
//     builds anything.
//
// A node is simulated if it has the annotation kwok.x-k8s.io/node=fake ([SimulatedNode] returns such a manifest): the
// node is Ready and renews its lease. A pod of the node is Running and Ready as soon as it is bound, and stays so, also
// if a Job owns it. A pod that is deleted there becomes Failed with exit code 143 at its deletionTimestamp, the end of
// its grace period in whole seconds, and is removed when it has no finalizers. A simulated node with the annotation
// testcluster/ready=false reports that it is not ready. Nodes without the first annotation are plain objects: nothing
// updates their status, and the node lifecycle controller marks them unreachable after its grace period.
package testcluster
