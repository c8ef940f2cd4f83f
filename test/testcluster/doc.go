// Package testcluster starts and stops a real Kubernetes control plane on free loopback ports: etcd,
// kube-apiserver, kube-controller-manager without its taint-eviction-controller, kube-scheduler, and kwok, which
// simulates the kubelets. Tests, the demo and the benchmarks run the program against it.
//
// Its guarantees:
//
//   - A cluster shares its ports, certificates, data and logs with no other cluster, so several may run at once,
//     and it reads and writes nothing outside its folder.
//   - It listens on 127.0.0.1 only. Clients reach the API server through a kubeconfig: as cluster-admin
//     ([Cluster.Kubeconfig]) or as any user ([Cluster.KubeconfigFor]), subject to RBAC as on any other cluster.
//   - No component outlives the process that started it, even if that process is killed and even if the component
//     is paused. (On systems other than Linux, whose kernels can't do that, this does not hold for kwok and for
//     paused components.)
//   - It only starts programs: bin/controlplane and bin/kwok, which `make controlplane` builds. It never builds
//     anything.
//
// A node is simulated if it has the annotation kwok.x-k8s.io/node=fake ([SimulatedNode] returns such a manifest):
// it is Ready and renews its lease. A pod that is bound to it is Running and Ready at once, and stays so, also a
// Job's pod. A pod deleted there becomes Failed with exit code 143 at its deletionTimestamp, the end of its grace
// period in whole seconds, and is removed when it has no finalizers. A simulated node with the annotation
// testcluster/ready=false reports that it is not ready. Nodes without the first annotation are plain objects:
// nothing updates their status, and the node lifecycle controller marks them unreachable after its grace period.
package testcluster
