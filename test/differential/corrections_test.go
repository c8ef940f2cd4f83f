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
	return slices.Concat(plannedAnew(), identified(), spared())
}

// plannedAnew returns the corrections about when a countdown ends.
func plannedAnew() []correction {
	return []correction{
		{
			"a taint that ends sooner is added",
			"The rules", "The earliest deadline of all taints counts.",
			"A countdown that runs is never moved.",
			func(m moment) bool {
				return m.moved() && m.sooner() && !m.before.has(m.after.first().taint)
			},
		},
		{
			"the taint with the earliest deadline is removed, others remain",
			"The rules", "The verdict is computed from scratch at every change.",
			"The pod still goes at the time of the taint that is gone.",
			func(m moment) bool { return m.moved() && !m.after.has(m.before.first().taint) },
		},
		{
			"a taint's value changes, or not-ready and unreachable replace each other",
			"When a countdown starts", "A taint's states have one start; the toleration that matches it now counts from there.",
			"The toleration that matched first counts.",
			func(m moment) bool {
				return m.moved() &&
					(m.after.hasOtherwise(m.before.first().taint) || m.before.hasOtherwise(m.after.first().taint))
			},
		},
		{
			"tolerations are edited on a tainted node",
			"The rules", "The verdict is computed from scratch at every change, from the start of the exposure.",
			"A countdown that runs is never moved; one that begins with the edit counts from the edit.",
			func(m moment) bool {
				return m.edited() && m.after.runs() && (!m.before.runs() || m.moved())
			},
		},
		{
			"tolerationSeconds are more than a time.Duration can have",
			"The rules", "A deadline after the year 9999 is none; any other is as far off as it says.",
			"The product wraps round: 18446744074 s are 0.29 s, and 9223372037 s are for ever.",
			func(m moment) bool {
				return len(m.after.seconds) > 0 && slices.Min(m.after.seconds) > math.MaxInt64/int64(time.Second)
			},
		},
		{
			"a taint was there before the controller began",
			"When a taint was set", "It counts from its timeAdded where that can be believed, and not from before the pod was bound.",
			"It counts from when the controller saw it.",
			func(m moment) bool { return m.listed && slices.ContainsFunc(m.after.claims, claim.startedElsewhen) },
		},
	}
}

// identified returns the corrections about the object to which a countdown belongs.
func identified() []correction {
	return []correction{
		{
			"a pod is replaced under its name",
			"The rules", "A pod is known by its UID.",
			"The countdown of the old pod may delete the new one.",
			func(m moment) bool {
				return m.before.runs() && m.after.pod != nil && !m.samePod()
			},
		},
		{
			"a node is replaced under its name",
			"When a taint was set", "A taint is its key and effect on one node, known by its UID.",
			"The countdown goes on.",
			func(m moment) bool {
				return m.samePod() && m.before.runs() && m.after.runs() && m.before.node.uid != m.after.node.uid
			},
		},
		{
			"a node is deleted while a countdown runs",
			"The rules", "The node is not known: the pod stays, and its countdown is dropped.",
			"The countdown goes on.",
			func(m moment) bool { return m.samePod() && m.before.runs() && m.after.node == nil },
		},
	}
}

// spared returns the corrections about pods that are never evicted.
func spared() []correction {
	return []correction{
		{
			"the pod has finished", "The rules", "Never evicted: finished pods.", "It is deleted.",
			func(m moment) bool { return m.after.runs() && m.after.finished() },
		},
		{
			"the pod is already terminating", "The rules", "Never evicted: pods that are being deleted.", "It is deleted once more.",
			func(m moment) bool { return m.after.runs() && m.after.terminating() },
		},
		{
			"the pod mirrors a static pod", "The rules", "Never evicted: mirror pods.", "It is deleted.",
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
