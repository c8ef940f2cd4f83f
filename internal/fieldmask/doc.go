// Package fieldmask drops the fields that this program does not use from watches of pods, nodes and namespaces, before
// client-go decodes them. Nine tenths of a pod are such fields, and decoding them costs more than all else that becomes
// of an event without interest (docs/adr/0025).
//
// [Wrap] changes only the streams of watches in protobuf, and in them only events of pods, nodes and namespaces of v1.
// Everything else passes unchanged: lists, JSON, other kinds, errors, and events that can't be parsed or are larger than
// client-go accepts, which then says so.
//
// An object without the dropped fields decodes to the same values of the other fields. The content of a dropped field is
// not checked. The used fields are in kinds.go: a field that is read for the first time has to be added there.
package fieldmask
