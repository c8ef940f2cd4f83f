package cluster

import (
	"hash/maphash"
	"maps"
	"weak"
)

// box holds a value that pods share.
type box[T any] struct{ value T }

// sharer gives equal values one box. It does not keep boxes alive: a box that no pod uses any more is freed, and its
// entry is removed before the number of entries has doubled. A sharer belongs to one goroutine.
type sharer[T any] struct {
	hash  func(maphash.Seed, T) uint64
	equal func(a, b T) bool

	seed    maphash.Seed
	boxes   map[uint64]weak.Pointer[box[T]]
	sweepAt int
}

// minEntries is the number of entries below which a sharer is not swept.
const minEntries = 64

func newSharer[T any](hash func(maphash.Seed, T) uint64, equal func(a, b T) bool) *sharer[T] {
	return &sharer[T]{
		hash: hash, equal: equal, seed: maphash.MakeSeed(),
		boxes: map[uint64]weak.Pointer[box[T]]{}, sweepAt: minEntries,
	}
}

// share returns the box of a value that equals v, or a new one with v in it.
func (s *sharer[T]) share(v T) *box[T] {
	hash := s.hash(s.seed, v)
	if b := s.boxes[hash].Value(); b != nil {
		if s.equal(b.value, v) {
			return b
		}
		return &box[T]{v} // Two values with one hash: the later one goes unshared.
	}
	if len(s.boxes) >= s.sweepAt {
		s.sweep()
	}
	b := &box[T]{v}
	s.boxes[hash] = weak.Make(b)
	return b
}

func (s *sharer[T]) sweep() {
	maps.DeleteFunc(s.boxes, func(_ uint64, p weak.Pointer[box[T]]) bool { return p.Value() == nil })
	s.sweepAt = max(minEntries, 2*len(s.boxes))
}

// hashLabels hashes a map, independently of the order of iteration.
func hashLabels(seed maphash.Seed, labels map[string]string) uint64 {
	sum := uint64(len(labels))
	for key, value := range labels {
		sum += maphash.Comparable(seed, [2]string{key, value})
	}
	return sum
}
