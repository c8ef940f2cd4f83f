// Package foresight says what would happen, or will, without doing anything: [Model.Plan] what
// becomes of the pods of some nodes if these got other taints, [Model.Pending] what is scheduled,
// and [Model.Explain] what becomes of one pod.
//
// It is pure: it reads no clock, and the moment in question is an argument. It judges by [taint.Decide]
// alone, with histories from package journal, and says why in the verdict's own words, so that what it
// foretells is what the manager does.
//
// From the API alone it is not always known since when a taint is there. Then a pod is judged twice,
// with the earliest and the latest moment that are possible, and its [Prediction] holds both times.
//
// [Plan] and [Explanation] are the answers, as the command line prints them and as its JSON has them.
// They are versioned: within [APIVersion] fields are added, but none is renamed or removed.
package foresight
