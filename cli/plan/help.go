package plan

const help = `Say what would happen if some nodes got other taints: each pod that would go, when, and why. It
writes nothing.

It judges as "run" does, by the same code. Taints are written as for kubectl taint --overwrite: a
taint that a node has with another value is replaced; a trailing - removes one. Only NoExecute
taints evict, and with --config also those of effect NoSchedule that a policy names. It reads
nodes, pods, PodDisruptionBudgets and the manager's journal from the API server, or from a dump.

Usage:
  taint-manager plan --node NODE|-l SELECTOR|--all-nodes --taint KEY[=VALUE]:EFFECT [flags]
  taint-manager plan --config FILE --compare FILE [flags]

Examples:
  # Now, in the cluster of the current context
  taint-manager plan --node n1 --taint maintenance:NoExecute

  # Fail when that would evict anything
  taint-manager plan --node n1 --taint maintenance:NoExecute --exit-code

  # All nodes of a zone, at a time to come, with the pods that stay, and why
  taint-manager plan -l zone=a --taint maintenance:NoExecute --at 2026-05-01T12:00:00Z -o wide

  # The same in figures: by namespace, owner, budget and node
  taint-manager plan -l zone=a --taint maintenance:NoExecute -o summary

  # A taint is removed, and evictions go through PodDisruptionBudgets
  taint-manager plan --node n2 --taint network:NoExecute- --eviction-method=evict

  # What would happen under a configuration file, and what it would change beside the present one
  taint-manager plan --node n1 --taint example.com/maintenance:NoSchedule --config drain.yaml
  taint-manager plan --config drain.yaml --compare none.yaml

  # Without access to the cluster, from a dump
  kubectl get nodes,pods,pdb -A -o json > cluster.json
  taint-manager plan -f cluster.json --node n1 --taint maintenance:NoExecute

Exit codes: 0 done, 1 cannot say, or not all, 2 some pod would go (with --exit-code only).
`
