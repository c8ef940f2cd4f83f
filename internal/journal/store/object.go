package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// object is a partition, or the state.
type object struct {
	*Core
	number int
	name   string // for messages

	busy  bool          // a call of this term is not answered
	next  time.Time     // no call starts before
	pause time.Duration // after the last call, if it failed; otherwise 0

	opened    bool // version and data are what was read or written last
	useless   bool // nobody waits for it: reading it is forbidden, or it was found in another format
	applied   bool // what was read first in the term was applied
	version   string
	data      map[string]string
	partition journal.Partition // what was read first in the term, until it is applied
	newest    string            // the newest version of a node in it
	state     journal.State     // what was read first in the term

	dirty bool              // there may be something to write
	sent  map[string]string // by the last write

	problems map[Kind]bool
}

// reset begins a term, or ends one: nothing is known of the object.
func (o *object) reset() {
	*o = object{Core: o.Core, number: o.number, name: o.name, dirty: true, problems: o.problems}
	for _, k := range kinds() {
		o.problem(k, nil)
	}
}

func (o *object) isState() bool { return o.number == journal.StateObject }

// isDue reports whether a read or a write starts once o.next has come.
func (o *object) isDue() bool {
	return o.phase != standby && !o.busy && (!o.opened || o.isWritten() && o.dirty)
}

// isWritten reports whether this process writes the object in this phase; while beginning, it writes only the state.
func (o *object) isWritten() bool {
	return o.applied && !o.options.ReadOnly && (o.phase == leading || o.phase == beginning && o.isState())
}

// isWriting reports whether a write is in progress, or is due and repeats no failed one.
func (o *object) isWriting() bool { return o.isWritten() && (o.busy || o.dirty && o.pause == 0) }

func (o *object) callIfDue() {
	switch {
	case !o.isDue() || o.now.Before(o.next):
	case !o.opened:
		o.call(nil)
	case !o.options.Leading():
		o.pause, o.next = pollInterval, o.now.Add(pollInterval)
	default:
		o.write()
	}
}

// call starts a write of this content, or a read.
func (o *object) call(write *journal.StoredPartition) {
	o.busy = true
	o.effects.Calls = append(o.effects.Calls, Call{o.term, o.number, write})
}

// putOff puts the next call off after a failure, twice as long as after the one before.
func (o *object) putOff() {
	o.pause = min(max(2*o.pause, time.Second), longestRetry)
	o.notBefore(o.pause)
}

func (o *object) notBefore(wait time.Duration) {
	o.next = slices.MaxFunc([]time.Time{o.next, o.now.Add(wait)}, time.Time.Compare)
}

// tryNow ends the pause after a failure.
func (o *object) tryNow() {
	if o.pause > 0 {
		o.pause, o.next = 0, o.now
	}
}

func (o *object) answered(in Answered) {
	o.busy = false
	if in.Write != nil {
		o.written(in.Content.Version, in.Err)
		return
	}
	o.name = cmp.Or(in.Content.Name, o.name)
	o.problem(unread, in.Err)
	if in.Err != nil {
		o.useless = apierrors.IsForbidden(in.Err)
		o.putOff()
		return
	}
	isOthers := o.applied && in.Content.Version != o.version
	o.version, o.data, o.opened = in.Content.Version, in.Content.Data, true
	switch {
	case isOthers:
		o.readGuards()
	case o.applied:
	case o.open() == nil:
		o.pause = 0
	default:
		o.opened, o.useless = false, true
		o.putOff()
	}
}

// open decodes what was read first in the term. It returns an error if the object has another format: such an object is
// neither used nor overwritten.
func (o *object) open() error {
	if o.isState() {
		state, err := journal.DecodeState(o.data)
		if len(o.data) == 0 || state.Version != 0 { // its format is known
			o.state = state
			o.problem(invalid, err)
			err = nil
		}
		o.problem(version, err)
		return err
	}
	p, dropped, err := journal.Decode(o.number, o.data)
	o.problem(version, err)
	o.problem(invalid, errors.Join(dropped...))
	o.partition = p
	for _, r := range p.Records {
		if journal.IsNewer(r.Version, cmp.Or(o.newest, "1")) {
			o.newest = r.Version
		}
	}
	return err
}

// applyRead applies what was read first in the term. It skips records of versions that this process has not reached:
// the node's present state can't show which presence of a taint such a record is about.
func (o *object) applyRead() {
	o.applied = true
	if o.isState() {
		o.guards = o.state.Guards // they are written back until others are set
		o.effects.Guards = &Guards{o.state.Guards, true}
		return
	}
	p, state := o.partition, o.Core.state().state
	last := state.LastWatchOf(o.number, &p)
	o.partition = journal.Partition{}
	for _, node := range slices.Sorted(maps.Keys(p.Records)) {
		if r := p.Records[node]; !journal.IsNewer(r.Version, o.last.Reached) {
			o.options.Source.ApplyRecord(node, r, last)
		}
	}
}

// readGuards passes on a record of guards and holds that another client has stored during the term, to keep its trips.
// A record that this process stored itself, by a write whose answer was lost, is not passed on.
func (o *object) readGuards() {
	text := o.data[journal.GuardsKey]
	if o.isState() && text != "" && text != string(o.guards) && text != o.sent[journal.GuardsKey] {
		o.effects.Guards = &Guards{[]byte(text), true}
	}
}

// write starts a write if the content differs from what is stored. The state is always written.
func (o *object) write() {
	o.dirty = false // later changes set it again
	o.sent = o.content()
	if !o.isState() && maps.Equal(journal.Entries(o.sent), journal.Entries(o.data)) {
		o.pause = 0
		o.problem(unwritten, nil) // a write that has failed is stored nevertheless
		return
	}
	o.call(&journal.StoredPartition{Name: o.name, Version: o.version, Data: o.sent})
}

func (o *object) content() (data map[string]string) {
	var err error
	beat := o.heartbeat()
	if o.isState() {
		guards := o.guards
		if len(guards) > journal.MaxGuards {
			guards, err = nil, errors.New("the record of guards and holds does not fit: after a restart, trips are not known, and all holds count as ended then")
		}
		beat.Leader, beat.Unstored = o.options.Identity, o.unstored()
		o.listed, o.beat = len(beat.Unstored), o.now.Add(beatEvery)
		data = journal.EncodeState(beat, guards, o.config)
	} else {
		var leftOut []string
		data, leftOut = journal.Encode(journal.Partition{Heartbeat: beat, Records: o.options.Source.Records(o.number)})
		if len(leftOut) > 0 {
			err = fmt.Errorf("%d nodes do not fit, and their countdowns start again after a restart: %s", len(leftOut),
				strings.Join(leftOut, ", "))
		}
	}
	o.problem(full, err)
	return data
}

// written processes the answer to a write. After a failure the object is read before it is written again: another
// client may have written it, or this write may be stored nevertheless.
func (o *object) written(version string, err error) {
	o.next = o.now.Add(max(writeInterval, time.Duration(journal.Size(o.sent))*journal.Partitions*time.Second/budget))
	if err == nil {
		o.version, o.data, o.pause = version, o.sent, 0
		o.problem(unwritten, nil)
		return
	}
	o.dirty, o.opened = true, false
	deleted := o.version != "" && apierrors.IsNotFound(err)
	if !deleted && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		o.problem(unwritten, err)
		o.putOff()
	}
}

// Kind is the kind of an object's problem; it is the label of a metric.
type Kind string

const (
	unread    Kind = "unread"
	unwritten Kind = "unwritten"
	version   Kind = "version"
	invalid   Kind = "invalid"
	full      Kind = "full"
)

// kinds returns all kinds of problems, in the order in which they are reported.
func kinds() []Kind { return []Kind{unread, unwritten, version, invalid, full} }

// Trouble is a problem of an object that has begun or is over.
type Trouble struct {
	Object string // its name
	Kind   Kind
	Text   string // empty if the problem is over
}

// problem notes a problem of the object; nil removes it.
func (o *object) problem(k Kind, err error) {
	if o.problems[k] == (err != nil) {
		return
	}
	change := Trouble{Object: o.name, Kind: k}
	if o.problems[k] = err != nil; err != nil {
		change.Text = truncate.Text(err.Error())
	}
	o.effects.Troubles = append(o.effects.Troubles, change)
}
