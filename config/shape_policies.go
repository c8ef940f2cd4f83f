package config

import (
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
)

func optional(name string, s shape) field { return field{name, false, s} }
func required(name string, s shape) field { return field{name, true, s} }

func objectOf(about string, fields ...field) shape {
	return shape{kind: object, about: about, fields: fields}
}

func listOf(about string, items shape) shape { return shape{kind: list, about: about, items: &items} }

func of(k kind, about string, words ...string) shape {
	return shape{kind: k, about: about, words: words}
}

func policiesShape() shape {
	return listOf("For each pair of a pod and a trigger taint, the first policy that matches decides. At most 1000.", objectOf(
		"What happens to the pods that it matches.",
		required("name", of(text, "A name of its own.")),
		optional("mode", of(text, "Audit says what the policy would decide, and passes the pair on. Default: Enforce.", string(policy.Enforce), string(policy.Audit))),
		optional("match", matchShape()),
		required("method", of(text, "Delete ignores budgets; Evict obeys them; Hold makes no call; Ignore treats the taint as if it were not there.", policy.Methods()...)),
		optional("deleteAfter", of(duration, "With Evict: how long after its deadline a pod is deleted that could not be evicted. Left out: never.")),
		optional("tolerations", objectOf(
			"How long pods may stay. No pod is written.",
			optional("absent", of(duration, "Pods that do not tolerate the taint. Required with NoSchedule.")),
			optional("min", of(duration, "At least, for pods that tolerate the taint for a time.")),
			optional("max", of(duration, "At most, for pods that tolerate the taint for a time.")),
			optional("unlimited", of(duration, "Pods that tolerate the taint without a limit.")),
		)),
		optional("gracePeriod", objectOf("How long pods may take to end.",
			required("max", of(duration, "The most; it only shortens a pod's own grace period.")),
		)),
	))
}

func matchShape() shape {
	return objectOf(
		"The pairs that the policy is about. What is left out matches all.",
		optional("taints", listOf("Any of these taints.", objectOf(
			"A taint, by key or keyPrefix.",
			optional("key", of(text, "The exact key. Required with NoSchedule.")),
			optional("keyPrefix", of(text, "How the key begins.")),
			optional("values", listOf("Any of these values. Left out: any value.", of(text, "A value; it may be empty."))),
			optional("effects", listOf("Left out: NoExecute.", effectShape())),
		))),
		optional("nodeSelector", selectorShape("Labels of the node.")),
		optional("namespaces", listOf("Any of these namespaces.", of(text, "A name, in which * stands for anything."))),
		optional("namespaceSelector", selectorShape("Labels of the namespace.")),
		optional("podSelector", selectorShape("Labels of the pod.")),
		optional("ownerKinds", listOf("Any of these kinds of the owner that controls the pod.", of(text, "A kind such as StatefulSet; ReplicaSet for Deployments; None for no controller."))),
		optional("priority", objectOf("The pod's priority, both ends included.",
			optional("min", of(integer, "The least.")),
			optional("max", of(integer, "The most.")),
		)),
	)
}

func effectShape() shape {
	s := of(text, "An effect.", string(v1.TaintEffectNoExecute), string(v1.TaintEffectNoSchedule))
	s.hints = map[string]string{
		string(v1.TaintEffectPreferNoSchedule): "schedulers may ignore PreferNoSchedule, so it evicts no pod: leave it out",
	}
	return s
}

func selectorShape(about string) shape {
	return objectOf(
		about,
		optional("matchLabels", of(labels, "All of these labels.")),
		optional("matchExpressions", listOf("All of these expressions.", objectOf(
			"An expression about one label.",
			required("key", of(text, "The key of the label.")),
			required("operator", of(text, "The operator.", "In", "NotIn", "Exists", "DoesNotExist")),
			optional("values", listOf("With In and NotIn.", of(text, "A value; it may be empty."))),
		))),
	)
}

func guardsShape() shape {
	keys := listOf("Evictions because of these taints, whatever their value and effect.",
		objectOf("A taint.", required("key", of(text, "The exact key."))))
	return objectOf(
		"How much may go at once.",
		optional("rates", listOf("Each call takes a token of every rate that matches.", objectOf(
			"A token bucket.",
			required("name", of(text, "A name of its own.")),
			optional("topologyKey", of(text, "A node label: a bucket for each of its values. Left out: one for the whole cluster.")),
			optional("taints", keys),
			required("evictionsPerSecond", of(number, "0.001 to 1000000.")),
			required("burst", of(integer, "How many may go at once; 1 to 1000000.")),
		))),
		optional("breakers", listOf("Hold evictions while too many nodes are affected.", objectOf(
			"A breaker for each group of nodes.",
			required("name", of(text, "A name of its own.")),
			optional("topologyKey", of(text, "A node label: a group for each of its values. Left out: one for the whole cluster.")),
			optional("nodeSelector", selectorShape("The nodes that count. Left out: all.")),
			required("taints", keys),
			required("maxNodes", of(share, "It trips above this number or percentage of affected nodes; a percentage is at most 99%.")),
			optional("minNodes", of(integer, "It does not trip with fewer affected nodes. Left out: 3 with a topologyKey, else 1.")),
			optional("settle", of(duration, "How long after a taint was first seen its pods go at the earliest, so that a wave is seen before its first pod goes. Default: 10s.")),
			optional("reset", of(text, "How it is reset.", string(policy.Automatic), string(policy.Manual))),
			optional("resetAfter", of(duration, "How long few enough nodes must have been affected for a reset, and how long an affected node counts that was deleted. Default: 5m.")),
			optional("resetBefore", of(moment, "Ends all trips that began before this moment, such as 2026-11-22T10:00:00Z. The breaker trips again once few enough nodes were affected meanwhile.")),
		))),
	)
}
