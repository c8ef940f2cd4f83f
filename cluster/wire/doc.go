// Package wire decodes pods, nodes and namespaces from the API server's protobuf, and only the fields that this program
// uses. It skips the rest, nine tenths of a pod, without copying it.
//
// The objects have the API's own types; fields that are not decoded are empty. Decoded are:
//
//   - pods, nodes and namespaces: metadata.{name, namespace, uid, resourceVersion, generation, creationTimestamp,
//     deletionTimestamp} and the annotations kubernetes.io/config.mirror and
//     k8s.io/initial-events-end;
//   - pods: metadata.labels, of the controlling owner its kind and name, spec.{nodeName, tolerations, priority,
//     terminationGracePeriodSeconds}, status.phase, and of the conditions PodScheduled and DisruptionTarget their
//     type, status and lastTransitionTime;
//   - nodes: spec.taints, and metadata.labels if they are wanted;
//   - namespaces: metadata.labels;
//   - lists: their metadata and their items;
//   - Status: all of it.
//
// The values equal those of the API's own decoder. Fields with other numbers are skipped, whatever they contain (except
// that a list may have no groups, which protobuf has deprecated, between its items). Bytes that are not protobuf, or
// fields with another wire type than the API's, give an error and never a part of an object.
//
// Nothing that is returned refers to the input bytes. The package is pure: it uses no clock, client, lock or goroutine.
package wire
