package explain

const help = `Say what becomes of one pod: whether it is to be evicted, when and why, what is in its way, and
which commands keep it or let it go. It lists every taint of the pod's node, since when it is
there, and which toleration matches it, until when. For a pod that is gone, or made anew, it reports
whether it was evicted, as far as its events show.

It judges as "run" does, by the same code, from the API server and the manager's journal, or from a
dump. Where these do not tell since when a taint is there, it says so, and gives a range.

Usage:
  taint-manager explain [pod] POD|NAMESPACE/POD [flags]

Examples:
  # A pod of the current namespace
  taint-manager explain api-5d4f8c7b9-q8zvw

  # A pod of another one, with every taint of its node even if it stays
  taint-manager explain pod agent-n2 -n kube-system -o wide

  # What is left of a pod that is gone
  taint-manager explain shop/web-5d4f8c7b9-zzbrp

  # What the manager itself knows of it: its attempts, their outcome, the next one. Without a
  # kubeconfig, the manager alone is asked.
  kubectl -n kube-system port-forward POD 8080 &
  taint-manager explain shop/logs-0 --server http://127.0.0.1:8080

  # Without access to the cluster, from a dump, as of that time
  kubectl get nodes,pods,pdb,events -A -o json > cluster.json
  taint-manager explain shop/logs-0 -f cluster.json --at 2026-05-01T12:00:00Z

Exit codes: 0 done; 1 cannot say, or not all; 2 the pod is to go (with --exit-code only).
`
