// Package wire decodes pods, nodes and namespaces from the API server's protobuf, and only the fields that this program
// uses: a table of the used fields (kinds.go) drops the others, nine tenths of a pod, and the API's own decoder decodes
// the rest. A field that is read for the first time has to be added to the table.
//
// The objects have the API's own types; fields that are not used are empty. Of annotations there are
// kubernetes.io/config.mirror and k8s.io/initial-events-end, of owner references the controller's, and of conditions
// PodScheduled and DisruptionTarget. A Status has all of its fields.
//
// The values equal those of the API's own decoder. Fields with other numbers are skipped, whatever they contain (except
// that a list may have no groups, which protobuf has deprecated, between its items). Bytes that are not protobuf, or
// used fields with another wire type than the API's, give an error and never a part of an object.
//
// Nothing that is returned refers to the input bytes. The package is pure: it uses no clock, client, lock or goroutine.
package wire
