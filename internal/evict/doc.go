// Package evict makes eviction calls. It is the only package that writes pods.
//
// [API] makes a call; [DryRunEvictor] only logs it; a caller may bring an [Evictor] of their own. [Confirmed] asks the
// API server for the node before it lets a request through.
//
// What it promises: each call carries the UID of the pod that was judged, so that another pod of the same name is never
// touched; each call ends in exactly one outcome, by the table in docs/outcomes.md. When a call starts, and how many
// calls are under way, is up to package dispatch.
//
// Each PATCH of a condition, each preflight, each DELETE and each POST of an eviction is confirmed, however
// far the cache lags; of another [Evictor] that is no [ConfirmingEvictor], the call as a whole. That is, just
// before it is sent there is a GET of the pod's node such that
//
//   - it was sent at most 5 s before;
//   - it was sent at the pod's deadline or later, and after the cache had learnt of the pod's node and
//     tolerations as they are; while at most four calls are under way, also after this call had begun;
//   - it shows the node's UID and the taint of the verdict, with the same effect, value and timeAdded, and, for the
//     NoSchedule taint unschedulable, that the node is unschedulable;
//   - the cache has seen the node as the GET shows it, or later, where resourceVersions can be compared;
//   - by the cache and the policies of that moment the pod is still to go, also with the labels that the GET shows;
//     a DELETE is due by then, and not only an eviction.
//
// What is changed at the API server after that GET was sent may come too late: the GET shows the
// node as it was when it was served. Tolerations are not read live. Where the answer to the PATCH, or to the preflight,
// shows a later generation of the pod than the cache knows, the pod was edited, and no DELETE follows; API
// servers count generations of pods from 1.33 on, older ones give no such sign. Nor is there one for a POST
// of an eviction, which is one request, or for a pod that has the condition already, to which DELETE is
// the first request unless a preflight goes before it: while the watch of pods hangs, these go by the
// tolerations that the cache knows. So does an edit between PATCH and DELETE.
package evict
