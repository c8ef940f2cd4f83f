package pending

const help = `Say which evictions are scheduled now, in the order of their times, and why.

It judges as "run" does, by the same code, from nodes, pods and the manager's journal. So it needs
no access to the manager, and only permissions to read: those of the roles taint-manager-viewer,
which the manifests create. Where nodes may not be read, it uses the journal alone; without the
journal it gives a range where it is not known since when a taint is there. With --server it asks
the manager instead, which also knows what is blocked, delayed or in flight, and when it tries
again.

With --watch it goes on until Ctrl-C. On a terminal it shows the table with running countdowns.
Else it prints a line for each eviction that is scheduled already, and then one for each change
(with -o json one object a line).

With --node and --wait it waits until the node is empty of pods that have to go: see --wait.

Usage:
  taint-manager pending [flags]

Examples:
  # In the current namespace, and in all
  taint-manager pending
  taint-manager pending -A

  # The pods of two nodes, and why they go
  taint-manager pending -A --node n2,n4 -o wide

  # Where taint-manager is installed in another namespace
  taint-manager pending -A --leader-elect-resource-namespace=taint-manager-system

  # What the manager itself knows: what is blocked, delayed or in flight
  kubectl -n kube-system port-forward POD 8080 &
  taint-manager pending -A --server http://127.0.0.1:8080

  # Without access to the cluster, from a dump, as of that time
  kubectl get nodes,pods -A -o json > cluster.json
  taint-manager pending -f cluster.json --at 2026-05-01T12:00:00Z

  # How many, by namespace, owner and node
  taint-manager pending -A -o summary

  # Wait until nothing of a node is left to go, at most ten minutes
  taint-manager pending --node n1 --wait --timeout 10m

  # For a script: what is scheduled, and when
  taint-manager pending -A -o json

Exit codes: 0 done, also when nothing is scheduled; 1 cannot say, or not all; 2 some eviction is
scheduled (with --exit-code), or --timeout has passed (with --wait).
`
