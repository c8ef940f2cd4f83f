// Package evict makes eviction calls. It is the only package that writes pods. Package dispatch calls the evictor that
// [Confirm] puts around an [API] or a caller's [Evictor]; [WhyUnconfirmed] says why a request may not be sent.
//
// Each call carries the UID of the judged pod, so that another pod of the same name is never touched, and ends in
// exactly one outcome, by the table in docs/reference/outcomes.md.
//
// However far the cache lags, a GET of the pod's node confirms each PATCH of a condition, preflight (DELETE with
// dryRun=All), DELETE and POST of an eviction, or each call of an [Evictor] that is no [ConfirmingEvictor]:
//
//   - the GET was sent at most 5 s before the write, not before the pod's deadline, not before the cache had the pod's
//     node and tolerations, and, while at most four calls are in flight, not before this call began;
//   - the GET shows the node's UID and the taint of the verdict with the same effect, value and timeAdded, and, for the
//     NoSchedule taint unschedulable, that the node is unschedulable;
//   - the cache has seen the node as the GET shows it, or later, if resourceVersions can be compared;
//   - the cache and the current policies still call for this request, also with the labels from the GET.
//
// Changes after the GET may come too late. Tolerations are not read live. But if the answer to the PATCH or preflight
// shows a later generation of the pod than the cache (API servers from 1.33 on), no DELETE follows. So while the watch
// of pods hangs, cached tolerations decide about POSTs of evictions, DELETEs without a PATCH or preflight, and DELETEs
// of pods that were edited after their PATCH.
package evict
