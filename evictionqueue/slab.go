package evictionqueue

// chunkLen makes chunks of slots and of node queues fill whole pages, at 32 and at 56 kB. Smaller ones would
// be rounded up by an eighth.
const chunkLen = 1024

// slab is a stack of values that are addressed by number and never move: it grows without copying
// and wastes one chunk or two at most.
type slab[T any] struct {
	chunks []*[chunkLen]T
	n      int32
}

func (s *slab[T]) at(i int32) *T { return &s.chunks[uint32(i)/chunkLen][uint32(i)%chunkLen] }

// push adds a value and returns its number.
func (s *slab[T]) push(v T) int32 {
	if int(s.n) == len(s.chunks)*chunkLen {
		s.chunks = append(s.chunks, new([chunkLen]T))
	}
	i := s.n
	s.n++
	*s.at(i) = v
	return i
}

// pop drops the last value. It keeps one empty chunk, so that going to and fro costs nothing.
func (s *slab[T]) pop() {
	var zero T
	s.n--
	*s.at(s.n) = zero
	if last := len(s.chunks) - 1; int(s.n) <= (last-1)*chunkLen {
		s.chunks[last] = nil
		s.chunks = s.chunks[:last]
	}
}
