package pending

const help = `List scheduled evictions in the order of their deadlines, with the reason for each.

This command uses the same rules as "taint-manager run", which does not need to be running: read access
to nodes, pods and the journal is enough. The journal is a set of ConfigMaps in which taint-manager
stores its policies and the time each taint was set; --config overrides the policies. The list includes
evictions held by a policy or a circuit breaker. With --server, it comes from the running taint-manager,
and shows which evictions are blocked or in flight. With --watch, the list is updated until Ctrl-C. With
--wait, the command returns when no evictions remain on the nodes given by --node.

Usage:
  taint-manager pending [flags]

Examples:
  # List the scheduled evictions in the current namespace, or in all namespaces
  taint-manager pending
  taint-manager pending -A

  # List the evictions of two nodes, with the full reason for each
  taint-manager pending -A --node n2,n4 -o wide

  # Wait until a node is drained, for ten minutes at most
  taint-manager pending --node n1 --wait --timeout 10m

  # Count evictions by namespace, owner and node
  taint-manager pending -A -o summary

  # Ask the running taint-manager
  kubectl -n kube-system port-forward POD 8080 &
  taint-manager pending -A --server http://127.0.0.1:8080

  # Use a dump instead of the cluster; it may consist of several JSON documents
  kubectl get nodes,pods -A -o json > cluster.json
  kubectl -n kube-system get lease/taint-manager cm/taint-manager-journal-{0..7} \
    cm/taint-manager-journal-state -o json >> cluster.json
  taint-manager pending -f cluster.json

  # Print JSON for a script
  taint-manager pending -A -o json

Exit codes: 0: success, even if nothing is scheduled; 1: error, wrong usage or incomplete answer; with
--wait, also if a pod will not be evicted although it does not tolerate the taints, for example because a
policy ignores it; 2: an eviction is scheduled (with --exit-code), or --timeout expired (with --wait).
`
