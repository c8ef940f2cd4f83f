package evictionqueue

import "hash/maphash"

// index finds values by string. It holds only hashes and the values' numbers, in a third of the
// memory of a Go map, which would hold the strings once more; its user has them already.
//
// It is a hash table with linear probing. A key's cells begin at its home, and no empty cell is
// between the two: find relies on it, remove maintains it.
type index struct {
	seed  maphash.Seed
	cells []cell
	used  int
}

// cell holds a value's number plus one; the zero cell is empty.
type cell struct {
	hash uint32
	ref  int32
}

const fewestCells = 16

// find returns the number for which is reports true, among those with this key's hash.
func (x *index) find(key string, is func(int32) bool) (int32, bool) {
	if x.used == 0 {
		return 0, false
	}
	hash := x.hash(key)
	for i := x.home(hash); x.cells[i].ref != 0; i = x.after(i) {
		if c := x.cells[i]; c.hash == hash && is(c.ref-1) {
			return c.ref - 1, true
		}
	}
	return 0, false
}

// add adds a number under a key that is not in the index.
func (x *index) add(key string, n int32) {
	if x.cells == nil {
		x.seed = maphash.MakeSeed()
	}
	// Seven eighths full, a search reads a few cells more, all next to each other.
	if 8*(x.used+1) > 7*len(x.cells) {
		x.resize(5 * len(x.cells) / 4)
	}
	x.put(cell{x.hash(key), n + 1})
	x.used++
}

// move replaces the number from, which is stored under this key, by the number to.
func (x *index) move(key string, from, to int32) { x.cells[x.cellOf(key, from)].ref = to + 1 }

// remove removes the number, which is stored under this key.
func (x *index) remove(key string, n int32) {
	hole := x.cellOf(key, n)
	for i := x.after(hole); x.cells[i].ref != 0; i = x.after(i) {
		if x.distance(x.home(x.cells[i].hash), i) >= x.distance(hole, i) {
			x.cells[hole] = x.cells[i]
			hole = i
		}
	}
	x.cells[hole] = cell{}
	x.used--
	if len(x.cells) > fewestCells && x.used < len(x.cells)/4 {
		x.resize(2 * x.used)
	}
}

func (x *index) cellOf(key string, n int32) int {
	i := x.home(x.hash(key))
	for x.cells[i].ref != n+1 {
		i = x.after(i)
	}
	return i
}

func (x *index) put(c cell) {
	i := x.home(c.hash)
	for x.cells[i].ref != 0 {
		i = x.after(i)
	}
	x.cells[i] = c
}

func (x *index) resize(n int) {
	old := x.cells
	x.cells = make([]cell, max(n, fewestCells))
	for _, c := range old {
		if c.ref != 0 {
			x.put(c)
		}
	}
}

func (x *index) hash(key string) uint32 { return uint32(maphash.String(x.seed, key)) }

// home spreads the hashes over the cells in their own order, so that resizing goes straight through
// the memory of both tables.
func (x *index) home(hash uint32) int { return int(uint64(hash) * uint64(len(x.cells)) >> 32) }

func (x *index) after(i int) int {
	if i++; i < len(x.cells) {
		return i
	}
	return 0
}

// distance returns the number of steps from one cell on to another.
func (x *index) distance(from, to int) int {
	if to < from {
		to += len(x.cells)
	}
	return to - from
}
