package pending

const help = `List scheduled evictions in the order of their deadlines, with the reason for each.

The answer comes from the manager's own decision code, so it needs no running manager: read access to
nodes, pods and the manager's journal is enough. With --server, the running manager answers, and also
shows evictions that are blocked, delayed or in flight. With --watch, the list is updated until Ctrl-C.
With --wait, the command returns when no pod has to leave the nodes of --node any more.

Usage:
  taint-manager pending [flags]

Examples:
  # List the scheduled evictions in the current namespace, or in all namespaces
  taint-manager pending
  taint-manager pending -A

  # List those of two nodes, with the whole reason for each
  taint-manager pending -A --node n2,n4 -o wide

  # Wait until a node is drained, for ten minutes at most
  taint-manager pending --node n1 --wait --timeout 10m

  # Count them by namespace, owner and node
  taint-manager pending -A -o summary

  # Ask the running manager
  kubectl -n kube-system port-forward POD 8080 &
  taint-manager pending -A --server http://127.0.0.1:8080

  # Use a dump instead of the cluster
  kubectl get nodes,pods -A -o json > cluster.json
  taint-manager pending -f cluster.json

  # Print JSON for a script
  taint-manager pending -A -o json

Exit codes: 0 success, even if nothing is scheduled; 1 error or incomplete answer; 2 at least one
eviction is scheduled (with --exit-code), or --timeout expired (with --wait).
`
