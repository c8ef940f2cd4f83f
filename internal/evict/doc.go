// Package evict makes eviction calls. It is the only package that writes pods.
//
// Each call carries the UID of the pod that was judged, so that another pod of the same name is never touched, and ends
// in exactly one outcome, by the table in docs/reference/outcomes.md. Package dispatch decides when a call starts.
//
// Each PATCH of a condition, each preflight, each DELETE and each POST of an eviction is confirmed by a GET of the pod's
// node, however far the cache lags; a call of an [Evictor] that is no [ConfirmingEvictor] is confirmed as a whole:
//
//   - sent >= write - 5 s, sent >= the pod's deadline, and the cache had the pod's node and tolerations by then; while at
//     most four calls are in flight, sent >= the begin of this call;
//   - the GET shows the node's UID and the taint of the verdict with the same effect, value and timeAdded, and, for the
//     NoSchedule taint unschedulable, that the node is unschedulable;
//   - the cache has seen the node as the GET shows it, or later, where resourceVersions can be compared;
//   - by the cache and the policies of that moment this request is due, also with the labels that the GET shows.
//
// What changes after that GET was served may come too late. Tolerations are not read live: where the answer to the PATCH
// or the preflight shows a later generation of the pod than the cache knows (API servers from 1.33 on), no DELETE
// follows. So while the watch of pods hangs, these go by the tolerations that the cache knows: a POST of an eviction; a
// DELETE without a PATCH or preflight before it; a DELETE of a pod that was edited between PATCH and DELETE.
package evict
