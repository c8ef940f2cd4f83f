package wire

import "google.golang.org/protobuf/encoding/protowire"

// Generation returns the metadata.generation of a pod, or of the metadata of a pod, in the API server's message, and
// reports whether the pod is to be deleted. It decodes nothing else, because metadata may have 100,000 labels. ok is
// false if the message is another one.
func Generation(data []byte) (generation int64, terminating, ok bool) {
	e, ok := open(data)
	partial := string(e.version) == "meta.k8s.io/v1" && string(e.kind) == "PartialObjectMetadata"
	if !ok || !partial && !e.is("Pod") {
		return 0, false, false
	}
	const metadata, generationNumber, deletionTimestamp = 1, 7, 9
	about := last(e.raw, metadata)
	value, _ := protowire.ConsumeVarint(lastElement(about, generationNumber).value)
	return int64(value), last(about, deletionTimestamp) != nil, about != nil
}
