package main

import (
	"bufio"
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	firstVersion  = 1e9 // all versions have the same number of digits
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
		bookmarks: [2]*template{newBookmarkTemplate(kind, false), newBookmarkTemplate(kind, true)},
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
			items = i.text.item.append(items, c.values(number, i.version))
			limit--
		}
	}
	if number < end {
		meta.Continue = strconv.Itoa(number)
	}
	head, _ := meta.Marshal() // never fails
	return withType(c.kind+"List", append(appendField(nil, 1, head), items...))
}

// watch sends all objects first if the client asks for that, and then the changes, until the client ends it. If there
// are no changes, it sends a bookmark now and then.
func (c *collection) watch(w http.ResponseWriter, r *http.Request, q url.Values) {
	seconds, err := strconv.Atoi(q.Get("timeoutSeconds"))
	if err != nil {
		seconds = 3600
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	out := bufio.NewWriterSize(w, 256<<10)
	since, _ := strconv.Atoi(q.Get("resourceVersion"))
	if q.Get("sendInitialEvents") == "true" {
		since = c.sendAll(out)
	}
	c.mu.Lock()
	next, _ := slices.BinarySearchFunc(c.changes, since+1, func(one change, v int) int { return one.version - v })
	c.mu.Unlock()
	for out.Flush() == nil && ctx.Err() == nil {
		w.(http.Flusher).Flush()
		c.mu.Lock()
		some, changed, at := c.changes[next:], c.changed, int(c.versions.Load())
		c.mu.Unlock()
		next += len(some)
		for _, one := range some {
			c.send(out, one)
		}
		if len(some) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-time.After(bookmarkEvery):
			c.send(out, change{item{at, c.bookmarks[0]}, 0, "BOOKMARK"})
		}
	}
}

// send writes an event. An error shows when the writer is flushed.
func (c *collection) send(out *bufio.Writer, one change) {
	_, _ = out.Write(one.text.events[one.verb].append(out.AvailableBuffer(), c.values(one.number, one.version)))
}

// sendAll sends all objects, and what ends the list. It returns the version at its beginning: the changes since then
// follow, even those that the list already showed.
func (c *collection) sendAll(out *bufio.Writer) (since int) {
	since = int(c.versions.Load())
	for number := range c.items {
		if i, exists := c.get(number); exists {
			c.send(out, change{i, number, "ADDED"})
		}
	}
	c.send(out, change{item{since, c.bookmarks[1]}, 0, "BOOKMARK"})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = time.Now()
	return since
}
