// Package wire decodes pods and nodes from the API server's protobuf, and of them only the fields that
// count here. The rest, nine tenths of a pod, is passed over without being copied.
//
// The objects are of the API's own types; what is not decoded is left empty. Decoded are:
//
//   - pods and nodes: metadata.{name, namespace, uid, resourceVersion, generation, creationTimestamp,
//     deletionTimestamp} and the annotations kubernetes.io/config.mirror and
//     k8s.io/initial-events-end;
//   - pods: metadata.labels, spec.{nodeName, tolerations, priority}, status.phase, and of the conditions
//     PodScheduled and DisruptionTarget their type, status and lastTransitionTime;
//   - nodes: spec.taints;
//   - lists: their metadata and their items;
//   - Status: all of it.
//
// These fields come out as the API's own decoder has them. Fields of other numbers are skipped, whatever
// they hold (but a list may have no groups, which protobuf has given up, between its items). Bytes that are no protobuf, or that hold a field in another form than the API's, give an
// error and never a part of an object.
//
// Nothing that is returned refers to the bytes that were given. The package is pure: it knows no clock,
// client, lock or goroutine.
package wire
