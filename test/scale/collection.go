package main

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	firstVersion  = 1e9 // all versions have the same number of digits
	portion       = 64  // objects that are sent together
	bookmarkEvery = 10 * time.Second
)

// collection has all objects of one kind. An object is known by its number, and takes 16 bytes.
type collection struct {
	kind      string
	values    func(number, version int) values
	versions  *atomic.Int64
	bookmarks [2]*template // the second ends the list in a watch

	mu      sync.Mutex
	items   []item   // by number
	changes []change // all of them, in order
	changed chan struct{}
	listed  time.Time // when a streamed list of all objects last ended
}

// item is the state of an object: its version, and its text; nil if it was deleted.
type item struct {
	version int
	text    *template
}

// change is an event of a watch.
type change struct {
	item
	number int
	verb   string
}

func newCollection(kind string, n int, versions *atomic.Int64, of func(number, version int) values) *collection {
	return &collection{
		kind: kind, values: of, versions: versions, items: make([]item, n), changed: make(chan struct{}),
		bookmarks: [2]*template{newBookmarkTemplate(false), newBookmarkTemplate(true)},
	}
}

// get returns an object; false if it does not exist.
func (c *collection) get(number int) (item, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number < 0 || number >= len(c.items) || c.items[number].text == nil {
		return item{}, false
	}
	return c.items[number], true
}

// set gives an object another text, or the same; nil deletes it. It returns false if the object does not exist.
func (c *collection) set(number int, text *template) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.items[number]
	if last.text == nil {
		return false
	}
	c.items[number] = item{int(c.versions.Add(1)), text}
	verb := "MODIFIED"
	if text == nil {
		verb = "DELETED"
	}
	c.changes = append(c.changes, change{item{c.items[number].version, cmp.Or(text, last.text)}, number, verb})
	close(c.changed)
	c.changed = make(chan struct{})
	return true
}

// object returns the encoded object.
func (c *collection) object(number int, i item) []byte {
	return i.text.append(appendObjectHead(nil, typeMeta(c.kind), len(i.text.text)), c.values(number, i.version))
}

// ServeHTTP answers a list or a watch.
func (c *collection) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if watch, _ := strconv.ParseBool(q.Get("watch")); watch {
		c.watch(w, r, q)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	_, _ = w.Write(c.page(q))
}

// selected returns the numbers that a field selector selects, such as those of a node's pods or of one object.
func (c *collection) selected(selector string) (first, end int) {
	for one := range strings.SplitSeq(selector, ",") {
		key, value, _ := strings.Cut(one, "=")
		number := numberOf(value)
		switch key {
		case "spec.nodeName":
			return number * podsEach, min((number+1)*podsEach, len(c.items))
		case "metadata.name":
			return number, min(number+1, len(c.items))
		}
	}
	return 0, len(c.items)
}

// numberOf returns the number at the end of a name.
func numberOf(name string) int {
	number, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return math.MaxInt32
	}
	return number
}

// page returns a list, or a part of it.
func (c *collection) page(q url.Values) []byte {
	number, end := c.selected(q.Get("fieldSelector"))
	if from, err := strconv.Atoi(q.Get("continue")); err == nil {
		number = from
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit == 0 {
		limit = math.MaxInt
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatInt(c.versions.Load(), 10)}
	items := make([]byte, 0, min(limit, 500)*5000) // a page of most clients
	for ; number < end && limit > 0; number++ {
		if i, exists := c.get(number); exists {
			items = i.text.append(appendHead(items, 2, len(i.text.text)), c.values(number, i.version))
			limit--
		}
	}
	if number < end {
		meta.Continue = strconv.Itoa(number)
	}
	head, _ := meta.Marshal() // never fails
	head = protowire.AppendBytes([]byte{'\x0a'}, head)
	return slices.Concat(appendObjectHead(nil, typeMeta(c.kind+"List"), len(head)+len(items)), head, items)
}

// watch sends all objects first if the client asks for that, and then the changes, until the client ends it.
func (c *collection) watch(w http.ResponseWriter, r *http.Request, q url.Values) {
	seconds, err := strconv.Atoi(q.Get("timeoutSeconds"))
	if err != nil {
		seconds = 3600
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	s := &stream{collection: c, to: w, meta: typeMeta(c.kind)}
	if q.Get("sendInitialEvents") == "true" {
		err = s.sendAll()
	} else {
		from, _ := strconv.Atoi(q.Get("resourceVersion"))
		c.mu.Lock()
		s.next, _ = slices.BinarySearchFunc(c.changes, from+1, func(one change, v int) int { return one.version - v })
		c.mu.Unlock()
		err = s.flush()
	}
	for err == nil && ctx.Err() == nil {
		err = s.sendChanges(ctx)
	}
}

// stream is the response to a watch.
type stream struct {
	*collection
	to     http.ResponseWriter
	meta   []byte
	next   int // the place of the next change
	buffer []byte
}

// add adds an event to the buffer.
func (s *stream) add(verb string, number int, i item) {
	s.buffer = appendEvent(s.buffer, verb, s.meta, i.text, s.values(number, i.version))
}

// write writes the buffer.
func (s *stream) write() error {
	_, err := s.to.Write(s.buffer)
	s.buffer = s.buffer[:0]
	return err
}

func (s *stream) flush() error {
	err := s.write()
	s.to.(http.Flusher).Flush()
	return err
}

// sendAll sends all objects, and what ends the list. The changes since the beginning of the list follow, even
// those that the list already showed.
func (s *stream) sendAll() error {
	s.mu.Lock()
	s.next = len(s.changes)
	begun := int(s.versions.Load())
	s.mu.Unlock()
	for number := range s.items {
		if i, exists := s.get(number); exists {
			s.add("ADDED", number, i)
		}
		if number%portion == 0 {
			if err := s.write(); err != nil {
				return err
			}
		}
	}
	s.add("BOOKMARK", 0, item{begun, s.bookmarks[1]})
	err := s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = time.Now()
	return err
}

// sendChanges sends the next changes. If there are none, it waits for some, and sends a bookmark now and then.
func (s *stream) sendChanges(ctx context.Context) error {
	s.mu.Lock()
	some := s.changes[s.next:min(s.next+portion, len(s.changes))]
	changed, at := s.changed, int(s.versions.Load())
	s.mu.Unlock()
	for _, one := range some {
		s.add(one.verb, one.number, one.item)
	}
	s.next += len(some)
	if len(some) > 0 {
		return s.write()
	}
	s.to.(http.Flusher).Flush()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return nil
	case <-time.After(bookmarkEvery):
		s.add("BOOKMARK", 0, item{at, s.bookmarks[0]})
		return s.flush()
	}
}
