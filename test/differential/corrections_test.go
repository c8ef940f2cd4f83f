package differential

import (
	"math"
	"reflect"
	"slices"
	"time"
)

// correction is a deliberate difference between this controller and the original. The model predicts when this
// controller evicts.
type correction struct {
	name string

	// section and rule are those of docs/semantics.md.
	section, rule string

	// original is what the original does instead.
	original string

	// applies reports whether the original may behave differently from this moment on, for pods of this name. As
	// long as no correction has applied, both must behave alike.
	applies func(m moment) bool
}

// corrections returns all corrections.
func corrections() []correction {
	return slices.Concat(recomputed(), identified(), spared())
}

// recomputed returns the corrections about when a countdown ends.
func recomputed() []correction {
	return []correction{
		{
			"a taint that ends sooner is added",
			"The rules", "Of several taints, the earliest deadline applies.",
			"A running countdown never changes.",
			func(m moment) bool {
				return m.moved() && m.sooner() && !m.before.has(m.after.first().taint)
			},
		},
		{
			"the taint with the earliest deadline is removed, others remain",
			"The rules", "The deadline is recomputed whenever the pod or the node's taints change.",
			"The pod is evicted at the removed taint's deadline.",
			func(m moment) bool { return m.moved() && !m.after.has(m.before.first().taint) },
		},
		{
			"a taint's value changes, or not-ready and unreachable replace each other",
			"When a countdown starts", "A taint keeps its start; the toleration that matches now applies.",
			"The toleration that matched first applies.",
			func(m moment) bool {
				return m.moved() &&
					(m.after.hasOtherwise(m.before.first().taint) || m.before.hasOtherwise(m.after.first().taint))
			},
		},
		{
			"tolerations are edited on a tainted node",
			"The rules", "The deadline is recomputed from the same start.",
			"A running countdown never changes; a new one starts with the edit.",
			func(m moment) bool {
				return m.edited() && m.after.runs() && (!m.before.runs() || m.moved())
			},
		},
		{
			"tolerationSeconds are more than a time.Duration can have",
			"The rules", "A deadline after the year 9999 counts as none; earlier ones are exact.",
			"The product overflows: 18446744074 s become 0.29 s, and 9223372037 s become forever.",
			func(m moment) bool {
				return len(m.after.seconds) > 0 && slices.Min(m.after.seconds) > math.MaxInt64/int64(time.Second)
			},
		},
		{
			"a taint was there before the controller began",
			"When a taint was set", "It was set at a plausible timeAdded; no countdown starts before the pod was bound.",
			"The countdown starts when the controller sees the taint.",
			func(m moment) bool { return m.listed && slices.ContainsFunc(m.after.claims, claim.startedElsewhen) },
		},
	}
}

// identified returns the corrections about the object to which a countdown belongs.
func identified() []correction {
	return []correction{
		{
			"a pod is replaced under its name",
			"The rules", "A pod is identified by its UID.",
			"The old pod's countdown may delete the new pod.",
			func(m moment) bool {
				return m.before.runs() && m.after.pod != nil && !m.samePod()
			},
		},
		{
			"a node is replaced under its name",
			"When a taint was set", "A taint is identified by its key, its effect and the UID of its node.",
			"The countdown continues.",
			func(m moment) bool {
				return m.samePod() && m.before.runs() && m.after.runs() && m.before.node.uid != m.after.node.uid
			},
		},
		{
			"a node is deleted while a countdown runs",
			"The rules", "If the node does not exist, the countdown is dropped.",
			"The countdown continues.",
			func(m moment) bool { return m.samePod() && m.before.runs() && m.after.node == nil },
		},
	}
}

// spared returns the corrections about pods that are never evicted.
func spared() []correction {
	return []correction{
		{
			"the pod has finished", "The rules", "Finished pods are never evicted.", "It is deleted.",
			func(m moment) bool { return m.after.runs() && m.after.finished() },
		},
		{
			"the pod is already terminating", "The rules", "Pods that are being deleted are never evicted.", "It is deleted again.",
			func(m moment) bool { return m.after.runs() && m.after.terminating() },
		},
		{
			"the pod mirrors a static pod", "The rules", "Mirror pods are never evicted.", "It is deleted.",
			func(m moment) bool { return m.after.runs() && m.after.mirror() },
		},
	}
}

func (m moment) samePod() bool { return m.before.pod != nil && m.before.uid() == m.after.uid() }

// moved reports whether the deadline of a countdown was moved, of the same pod on the same node.
func (m moment) moved() bool {
	return m.samePod() && m.before.runs() && m.after.runs() &&
		m.before.node.uid == m.after.node.uid && m.before.deadline() != m.after.deadline()
}

func (m moment) sooner() bool { return m.after.deadline() < m.before.deadline() }

func (m moment) edited() bool {
	return m.samePod() && !reflect.DeepEqual(m.before.pod.Spec.Tolerations, m.after.pod.Spec.Tolerations)
}

// startedElsewhen reports whether the exposure began at another time than the controllers.
func (c claim) startedElsewhen() bool { return c.start != 0 }
