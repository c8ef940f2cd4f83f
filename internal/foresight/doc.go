// Package foresight predicts what the manager would do, but does nothing itself: [Model.Plan] predicts what happens to
// the pods of some nodes if their taints change, [Model.Pending] lists the evictions that are scheduled, and
// [Model.Explain] explains the verdict on one pod.
//
// It is pure: it reads no clock, and the time of a question is an argument. It judges pods with [policy.Judge], by the
// histories of taints (package journal) and the facts about breakers, holds and policies (package breaker), as the
// manager does, so its predictions are the manager's decisions. If the API does not show the start of a taint, a pod is
// judged twice, with the earliest and the latest possible start, and its [Prediction] has both times.
//
// A [Builder] collects objects, and [Builder.Load] returns the [Model] that answers questions. The answers [Plan],
// [Explanation] and [Pending] are complete, with notes, missing input and the number of evictions. Commands print them
// as they are, for people and as JSON. Within one [APIVersion] fields are added, but none is renamed or removed.
package foresight
