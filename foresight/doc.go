// Package foresight predicts what the manager would do, without doing anything: [Model.Plan] predicts the pods of
// some nodes if these nodes got other taints, [Model.Pending] lists the evictions that are scheduled, and
// [Model.Explain] explains the verdict on one pod.
//
// It is pure: it reads no clock, and the time of a question is an argument. It judges by [taint.Decide] alone, with
// histories from package journal, and gives the verdict's own reasons, so that its predictions are what the manager
// does.
//
// The API alone does not always show the start of a taint. Then a pod is judged twice, with the earliest and the
// latest possible start, and its [Prediction] has both times.
//
// [Plan] and [Explanation] are the answers, as the command line prints them and as JSON. They are versioned: within
// one [APIVersion] fields are added, but none is renamed or removed.
package foresight
