package explain

const help = `Explain whether, when and why a pod is evicted, what blocks the eviction, and how to keep or delete
the pod.

For each taint of the pod's node, this command shows when the countdown started, which toleration
matches, and the deadline. For a pod that is gone, it says whether events show that the pod was evicted.
It uses the same rules as "taint-manager run". POD may be written as for kubectl: pod NAME or pod/NAME.

Usage:
  taint-manager explain [NAMESPACE/]POD [flags]

Examples:
  # Explain a pod in the current namespace
  taint-manager explain api-5d4f8c7b9-q8zvw

  # Show every taint of the node, even if the pod stays
  taint-manager explain pod agent-n2 -n kube-system -o wide

  # Explain why a pod is gone
  taint-manager explain shop/web-5d4f8c7b9-zzbrp

  # Use a dump instead of the cluster; it may consist of several JSON documents
  kubectl get nodes,pods,pdb,events -A -o json > cluster.json
  kubectl -n kube-system get lease/taint-manager cm/taint-manager-journal-{0..7} \
    cm/taint-manager-journal-state -o json >> cluster.json
  taint-manager explain shop/logs-0 -f cluster.json

Exit codes: 0: success; 1: error, wrong usage or incomplete answer; 2: the pod will be evicted (with
--exit-code).
`
