// Package permutations has all orders of a list, for tests that make changes in each of them.
package permutations

import "iter"

// Of returns all orders of the list. Each is the list itself, which must not be changed meanwhile.
func Of[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) { place(list, 0, yield) }
}

// place yields the orders that differ from position k on, until yield returns false.
func place[T any](list []T, k int, yield func([]T) bool) bool {
	if k == len(list) {
		return yield(list)
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		proceed := place(list, k+1, yield)
		list[k], list[i] = list[i], list[k]
		if !proceed {
			return false
		}
	}
	return true
}
