// Package testcluster starts and stops a real Kubernetes control plane on free
// loopback ports: etcd, kube-apiserver, kube-controller-manager without its
// taint-eviction-controller, kube-scheduler, and kwok, which plays the kubelets.
// Tests, the demo and the benchmarks run the program against it.
//
// What it promises:
//
//   - A cluster is of its own: its ports, certificates, data and logs are shared
//     with no other, so several may run at once, and nothing outside its folder
//     is read or written.
//   - It listens on 127.0.0.1 only. The API server is reached through a
//     kubeconfig: as cluster-admin ([Cluster.Kubeconfig]) or as any user
//     ([Cluster.KubeconfigFor]), held to RBAC like on any other cluster.
//   - No component outlives the process that started it, even when that process
//     is killed and even when the component is paused. (Where the kernel can't
//     do that, on other systems than Linux, this does not hold for kwok and for
//     paused components.)
//   - It only starts programs: bin/controlplane and bin/kwok, which `make
//     controlplane` builds. This package imports the standard library alone and
//     never builds anything.
//
// A node is simulated when it has the annotation kwok.x-k8s.io/node=fake
// ([SimulatedNode] writes such a manifest): it is Ready and renews its lease.
// Bound to it, a pod is Running and Ready at once, and stays so, a Job's pod too.
// A pod deleted there becomes Failed with exit code 143 at its deletionTimestamp,
// the end of its grace period in whole seconds, and goes when nobody's finalizer
// holds it. A simulated node with the annotation testcluster/ready=false reports
// that it is not ready. Nodes without the first annotation are plain objects:
// nobody writes their status, and the node lifecycle controller will call them
// unreachable after its grace period.
package testcluster
