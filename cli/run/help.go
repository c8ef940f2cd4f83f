package run

const runHelp = `Watch the cluster, and evict pods from nodes whose NoExecute taints they do not tolerate.

Several replicas may run: one leads and evicts, the others stand by with warm caches. Once one
leads, switch the original off on every control-plane node: keep the list that
kube-controller-manager has in --controllers, and append -taint-eviction-controller.

With --dry-run it evicts no pod and leaves the lease alone, so it may run beside the original, or
beside a taint-manager that evicts.

To stop all evictions at once, delete the ClusterRoleBinding taint-manager-evictions. What is due
is kept, and goes on once the binding is back. Scaling to zero, or restarting all replicas with
--dry-run, stops them too. SIGTERM and SIGINT end the process once the calls under way have ended;
a second signal ends it at once.

Usage:
  taint-manager run [flags]

Examples:
  # Log what would be evicted, and write nothing
  taint-manager run --kubeconfig=$HOME/.kube/config --dry-run

  # Obey PodDisruptionBudgets, ten evictions a second at most
  taint-manager run --eviction-method=evict --max-evictions-per-second=10

  # With policies; 'taint-manager config validate' checks the file
  taint-manager run --config=config.yaml

Exit codes: 0 ended after SIGTERM or an interrupt, 1 cannot run, 2 wrong usage.
`
