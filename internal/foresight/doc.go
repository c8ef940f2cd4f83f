// Package foresight predicts what the manager would do, without doing anything: [Model.Plan] predicts the pods of
// some nodes if these nodes got other taints, [Model.Pending] lists the evictions that are scheduled, and
// [Model.Explain] explains the verdict on one pod.
//
// It is pure: it reads no clock, and the time of a question is an argument. It judges by [policy.Judge] alone, with
// histories from package journal and facts from package breaker, so that its predictions are what the manager does. The
// API alone does not always show the start of a taint. Then a pod is judged twice, with the earliest and the latest
// possible start, and its [Prediction] has both times.
//
// A [Builder] collects what was read, and [Builder.Load] returns the [Model] that can be asked. The answers [Plan],
// [Explanation] and [Pending] are finished: with notes, with what they lack, and with the number of pods that are to
// go. They are printed as they are, for people and as JSON. Within one [APIVersion] fields are added, but none is
// renamed or removed.
package foresight
