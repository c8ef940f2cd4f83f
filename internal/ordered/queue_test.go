package ordered

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// job is an element; name makes its order total.
type job struct{ due, name, pos int }

func (j *job) before(other *job) bool {
	return j.due < other.due || j.due == other.due && j.name < other.name
}

func newQueue() Queue[*job] { return New((*job).before, func(j *job) *int { return &j.pos }) }

// sorted is a queue as plain as possible.
type sorted []*job

func (s *sorted) set(j *job) {
	s.remove(j)
	*s = append(*s, j)
	slices.SortFunc(*s, func(a, b *job) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
}

func (s *sorted) remove(j *job) (was bool) {
	n := len(*s)
	*s = slices.DeleteFunc(*s, func(other *job) bool { return other == j })
	return len(*s) < n
}

func TestAQueueIsASortedListWhoseElementsMayMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]job, rapid.IntRange(1, 200).Draw(t, "jobs"))
		q, twin := newQueue(), sorted{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			i := rapid.IntRange(0, len(jobs)-1).Draw(t, "job")
			j := &jobs[i]
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				if got, want := q.Remove(j), twin.remove(j); got != want {
					t.Fatalf("Remove returns %v, want %v", got, want)
				}
			} else {
				j.due, j.name = rapid.IntRange(0, 20).Draw(t, "due"), i
				q.Set(j)
				twin.set(j)
			}
			compare(t, &q, twin, jobs)
		}
		for len(twin) > 0 {
			first, _ := q.First()
			q.Remove(first)
			twin.remove(twin[0])
			compare(t, &q, twin, jobs)
		}
	})
}

func compare(t *rapid.T, q *Queue[*job], twin sorted, jobs []job) {
	first, ok := q.First()
	if q.Len() != len(twin) || ok != (len(twin) > 0) || ok && first != twin[0] {
		t.Fatalf("%d elements, the first %+v, want those of %v", q.Len(), first, twin)
	}
	compareFirstOf(t, q, twin)
	all := q.All()
	for i := range jobs {
		if in := slices.Contains(twin, &jobs[i]); (jobs[i].pos > 0) != in || slices.Contains(all, &jobs[i]) != in {
			t.Fatalf("job %d: in the queue %v, want %v", i, jobs[i].pos > 0, in)
		}
	}
}

func compareFirstOf(t *rapid.T, q *Queue[*job], twin sorted) {
	for _, divisor := range []int{1, 2, 7, 50} {
		matches := func(j *job) bool { return (j.due+j.name)%divisor == divisor-1 }
		asked, rejected := 0, 0
		got, ok := q.FirstOf(func(j *job) bool {
			asked++
			if !matches(j) {
				rejected++
			}
			return matches(j)
		})
		i := slices.IndexFunc(twin, matches)
		if ok != (i >= 0) || ok && got != twin[i] || asked > 2*rejected+1 {
			t.Fatalf("got %+v, %v, want number %d of %v; asked about %d, rejected %d", got, ok, i, twin, asked, rejected)
		}
	}
}

func TestMemoryFollowsTheNumberOfElementsDown(t *testing.T) {
	q := newQueue()
	jobs := make([]job, 100_000)
	for i := range jobs {
		jobs[i].name = i
		q.Set(&jobs[i])
	}
	for i := range jobs[100:] {
		q.Remove(&jobs[i])
	}
	if got := cap(q.elements.list); got > 1000 {
		t.Errorf("the array has room for %d elements, of which 100 are left", got)
	}
}
