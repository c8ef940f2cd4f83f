package plan

const help = `Show what would be evicted if nodes or devices were tainted: which pods, when, and why. Read-only.

This command uses the same rules as "taint-manager run". --taint has the syntax of "kubectl taint", and
works as if --overwrite were set. Only NoExecute taints evict pods, unless a policy names a NoSchedule
taint. Nodes, pods, PodDisruptionBudgets and taint-manager's journal (the ConfigMaps in which
it stores its policies and the time each taint was set) are read from the API server or from a dump.

Usage:
  taint-manager plan --node NODE|-l SELECTOR|--all-nodes --taint KEY[=VALUE]:EFFECT [flags]
  taint-manager plan --config FILE --compare FILE [flags]
  taint-manager plan --device-rule FILE|--device-taint DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT [flags]

Examples:
  # Show what would be evicted if node n1 were tainted now
  taint-manager plan --node n1 --taint maintenance:NoExecute

  # Also show the pods that stay, and the full reason for each pod
  taint-manager plan --node n1 --taint maintenance:NoExecute -o wide

  # Exit with code 2 if the taint would evict a pod
  taint-manager plan --node n1 --taint maintenance:NoExecute --exit-code

  # Summarize the effect of tainting a zone
  taint-manager plan -l zone=a --taint maintenance:NoExecute -o summary

  # Show what removing a taint would change
  taint-manager plan --node n2 --taint network:NoExecute-

  # Respect PodDisruptionBudgets
  taint-manager plan --node n1 --taint maintenance:NoExecute --eviction-method=evict

  # Use a configuration file
  taint-manager plan --node n1 --taint example.com/maintenance:NoSchedule --config drain.yaml

  # Show what would change if cordon.yaml replaced drain.yaml
  taint-manager plan --config cordon.yaml --compare drain.yaml

  # Show what a DeviceTaintRule, which taints devices such as GPUs, would evict
  taint-manager plan --device-rule xid-79.yaml

  # Use a dump instead of the cluster; it may consist of several JSON documents
  kubectl get nodes,pods,pdb -A -o json > cluster.json
  kubectl -n kube-system get lease/taint-manager cm/taint-manager-journal-{0..7} \
    cm/taint-manager-journal-state -o json >> cluster.json
  taint-manager plan -f cluster.json --node n1 --taint maintenance:NoExecute

Exit codes: 0: success; 1: error, wrong usage or incomplete answer; 2: a pod would be evicted (with
--exit-code).
`
