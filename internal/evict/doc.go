// Package evict makes eviction calls. It is the only package that writes pods.
//
// [API] makes a call; [DryRunEvictor] only logs it; a caller may bring an [Evictor] of their own. [Confirmed] asks the
// API server for the node before it lets a request through.
//
// What it promises: each call carries the UID of the pod that was judged, so that another pod of the same name is never
// touched; each call ends in exactly one outcome, by the table in docs/reference/outcomes.md. Package dispatch decides
// when a call starts, and how many calls are under way.
//
// Each PATCH of a condition, each preflight, each DELETE and each POST of an eviction is confirmed, however far the
// cache lags. A call of an [Evictor] that is no [ConfirmingEvictor] is confirmed as a whole. A request is confirmed if
// there is a GET of the pod's node just before it such that
//
//   - it was sent at most 5 s before;
//   - it was sent at the pod's deadline or later, and after the cache had learnt of the pod's node and tolerations as
//     they are; while at most four calls are under way, also after this call had begun;
//   - it shows the node's UID and the taint of the verdict, with the same effect, value and timeAdded, and, for the
//     NoSchedule taint unschedulable, that the node is unschedulable;
//   - the cache has seen the node as the GET shows it, or later, where resourceVersions can be compared;
//   - by the cache and the policies of that moment the pod is still to go, also with the labels that the GET shows; a
//     DELETE is due by then, and not only an eviction.
//
// What is changed at the API server after that GET was sent may come too late: the GET shows the node as it was when it
// was served. Tolerations are not read live. Where the answer to the PATCH, or to the preflight, shows a later
// generation of the pod than the cache knows, the pod was edited, and no DELETE follows. API servers count generations
// of pods from 1.33 on; older API servers give no such sign.
//
// While the watch of pods hangs, these requests go by the tolerations that the cache knows: a POST of an eviction; a
// DELETE of a pod that has the condition already, unless a preflight goes before it; a DELETE of a pod that was edited
// between PATCH and DELETE.
package evict
