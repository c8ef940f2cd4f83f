package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/test/faketime"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// server stores the objects of a journal. A fault fails the calls for which it returns an error.
type server struct {
	stored  [journal.StateObject + 1]journal.StoredPartition
	version int
	writes  []string // such as "3 at 7s"
	fault   func(verb string, number int) error
}

// process is a core with what its shell does. It is the source of the core: the records are by node.
type process struct {
	t         *testing.T
	server    *server
	core      *store.Core
	now, next float64 // in seconds
	term      int
	records   map[string]journal.Record
	explained map[string]journal.LastWatch
	guards    []string
	began     float64            // 0: not yet
	beginning chan struct{}      // of the term
	troubles  map[store.Kind]int // how many objects have each
	reported  int                // how many troubles have begun
	steps     int
	last      journal.LastWatch
	slow      float64 // how long each call takes
	calls     []call
	done      int
}

// call is a call that was not answered yet.
type call struct {
	at float64
	do func()
}

func newServer() *server { return &server{fault: func(string, int) error { return nil }} }

// fails makes calls of this verb, or of any, fail with the error, or only those for one object; nil ends all faults.
func (s *server) fails(verb string, err error, number ...int) {
	s.fault = func(v string, n int) error {
		if verb != "" && v != verb || len(number) > 0 && n != number[0] {
			return nil
		}
		return err
	}
}

func (s *server) start(t *testing.T, change ...func(*store.CoreOptions)) *process {
	p := &process{
		t: t, server: s, now: 1, records: map[string]journal.Record{}, explained: map[string]journal.LastWatch{},
		troubles: map[store.Kind]int{},
	}
	o := store.CoreOptions{Source: p, Leading: func() bool { return p.term > 0 }, Identity: "me", Config: []byte(`{"method":"Delete"}`)}
	for _, c := range change {
		c(&o)
	}
	p.core = store.NewCore(o)
	return p
}

func (p *process) Records(partition int) map[string]journal.Record {
	records := maps.Clone(p.records)
	maps.DeleteFunc(records, func(node string, _ journal.Record) bool { return journal.PartitionOf(node) != partition })
	return records
}

func (p *process) ApplyRecord(node string, _ journal.Record, last journal.LastWatch) {
	p.explained[node] = last
}

func at(seconds float64) time.Time {
	d := time.Duration(seconds * float64(time.Second))
	return faketime.Of(noon.Add(d), d)
}

// step passes an input to the core and, as the keeper does, how far the nodes were read: a change of nodes waits for more.
func (p *process) step(in store.Input) {
	p.take(in)
	switch in.(type) {
	case store.NodesChanged, store.Watched:
	default:
		p.take(store.Watched{Last: p.last})
	}
}

func (p *process) take(in store.Input) {
	p.steps++
	do := p.core.Step(at(p.now), in)
	for _, c := range do.Calls {
		p.call(func() { p.step(p.server.answer(c, p.now)) })
	}
	if do.Guards != nil {
		p.guards = append(p.guards, map[bool]string{false: "unread"}[do.Guards.Read]+string(do.Guards.Text))
	}
	for _, done := range do.Done {
		if done == p.beginning {
			p.began = p.now
		} else {
			p.done++
		}
	}
	for _, t := range do.Troubles {
		if t.Text != "" {
			p.reported++
			p.troubles[t.Kind]++
		} else if p.troubles[t.Kind]--; p.troubles[t.Kind] == 0 {
			delete(p.troubles, t.Kind)
		}
	}
	if p.next = 0; !do.Next.IsZero() {
		p.next = do.Next.Sub(at(0)).Seconds()
	}
}

func (p *process) call(do func()) { p.calls = append(p.calls, call{p.now + p.slow, do}) }

func (s *server) answer(c store.Call, now float64) store.Answered {
	if c.Write == nil {
		return store.Answered{Call: c, Content: s.stored[c.Number], Err: s.fault("get", c.Number)}
	}
	if err := s.fault("put", c.Number); err != nil {
		return store.Answered{Call: c, Err: err}
	}
	if s.stored[c.Number].Version != c.Write.Version {
		err := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("it has changed"))
		return store.Answered{Call: c, Err: err}
	}
	s.version++
	content := *c.Write
	content.Version = strconv.Itoa(s.version)
	s.stored[c.Number] = content
	s.writes = append(s.writes, fmt.Sprintf("%d at %gs", c.Number, now))
	return store.Answered{Call: c, Content: content}
}

// until lets the time pass up to that second.
func (p *process) until(second float64) *process {
	for {
		i := slices.IndexFunc(p.calls, func(c call) bool { return c.at <= second })
		for j, c := range p.calls {
			if i >= 0 && c.at < p.calls[i].at {
				i = j
			}
		}
		switch {
		case i >= 0 && (p.next == 0 || p.calls[i].at <= p.next):
			c := p.calls[i]
			p.calls = slices.Delete(p.calls, i, i+1)
			p.now = max(p.now, c.at)
			c.do()
		case p.next > 0 && p.next <= second:
			p.now = max(p.now, p.next)
			p.step(store.Watched{Last: p.last})
		default:
			p.now = second
			return p
		}
	}
}

func (p *process) lead() *process {
	p.win().step(store.Synced{})
	return p
}

// win begins a term before the source has all nodes.
func (p *process) win() *process {
	p.term++
	p.began = 0
	p.beginning = make(chan struct{})
	p.step(store.TermBegan{Done: p.beginning})
	return p
}

func (p *process) resign() {
	term := p.term
	p.term = 0
	p.step(store.TermEnded{Done: p.beginning})
	p.term = term
}

// taint gives a node of partition 3 a record with this version.
func (p *process) taint(version string) {
	s := journal.TaintState{Start: at(5)}
	s.Taint = v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}
	p.records[nodeOf3()] = journal.Record{UID: "u", Version: version, Taints: [][]journal.TaintState{{s}}}
	p.step(store.NodesChanged{Partition: 3})
	p.step(store.Watched{Last: p.last})
}

// watched tells the core that the node watch has delivered this version now.
func (p *process) watched(version string) {
	p.last = journal.LastWatch{Watched: at(p.now), Reached: version}
	p.step(store.Watched{Last: p.last})
}

func nodeOf3() string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("node-", i); journal.PartitionOf(name) == 3 {
			return name
		}
	}
}

func (p *process) state() journal.State {
	p.t.Helper()
	s, err := journal.DecodeState(p.server.stored[journal.StateObject].Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// led returns a server on which a leader has recorded a node at version 7, which it last watched at second 2, and a
// record of guards.
func led(t *testing.T) *server {
	s := newServer()
	p := s.start(t)
	p.watched("7")
	p.lead().until(2)
	p.step(store.GuardsSet{Text: json.RawMessage(`{"trips":[]}`)})
	p.taint("7")
	p.until(30)
	p.resign()
	s.writes = nil
	return s
}

// leads returns a process that has led since second 1, over an empty journal, and its server.
func leads(t *testing.T) (*process, *server) {
	s := newServer()
	p := s.start(t)
	p.watched("1")
	p.lead().until(10)
	s.writes = nil
	return p, s
}

// follows starts another process, which has watched up to this version by second 40.
func (s *server) follows(t *testing.T, version string, change ...func(*store.CoreOptions)) *process {
	p := s.start(t, change...).until(40)
	p.watched(version)
	return p
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("no"))
}

// The keeper passes how far the nodes were read after the inputs of a batch.
func TestTheStateIsWrittenWithHowFarTheNodesWereReadJustNow(t *testing.T) {
	p := newServer().start(t)
	p.watched("7")
	p.lead().until(5)
	p.last = journal.LastWatch{Watched: at(5), Reached: "9"}
	p.step(store.GuardsSet{Text: json.RawMessage(`{}`)})
	if s := p.until(6).state(); s.Reached != "9" {
		t.Errorf("the state says %s", s.Reached)
	}
}

func TestATermBeginsOnceTheJournalIsReadAndTheConfigurationPublished(t *testing.T) {
	s := led(t)
	p := s.start(t)
	p.until(40)
	if len(p.calls) > 0 {
		t.Error("a standby reads the journal")
	}
	p.watched("9")
	p.slow = 0.25
	p.lead().until(41)
	if p.began != 40.5 {
		t.Errorf("it begins at second %v, not after a read and a write", p.began)
	}
	if last, ok := p.explained[nodeOf3()]; !ok || last.Reached != "7" || !last.Watched.Equal(at(1)) {
		t.Errorf("explained are %v", p.explained)
	}
	if got := strings.Join(p.guards, " "); got != `{"trips":[]}` {
		t.Errorf("guards: %s", got)
	}
	if got := s.writes[0]; got != "8 at 40.5s" {
		t.Errorf("written first is %s", got)
	}
	if got := p.state(); got.Config == nil || got.Config.Method != "Delete" || got.Leader != "me" || got.Reached != "9" || !got.Watched.Equal(at(40)) {
		t.Errorf("published is %+v", got)
	}
}

func TestATermWaitsUntilTheSourceHasAllNodesAndReadsTheJournalMeanwhile(t *testing.T) {
	s := led(t)
	p := s.start(t).win().until(60)
	s.fails("get", errors.New("no answer"))
	p.watched("9")
	if p.until(61); p.began != 0 || len(p.explained)+len(s.writes) != 0 {
		t.Errorf("it has begun at %v; explained are %v, written: %v", p.began, p.explained, s.writes)
	}
	p.step(store.Synced{})
	if p.until(62); p.began != 61 || len(p.explained) != 1 {
		t.Errorf("it has begun at %v; explained are %v", p.began, p.explained)
	}
}

func TestATermWaitsForTheNodesUpToTheVersionsOfTheRecords(t *testing.T) {
	p := led(t).follows(t, "6").lead().until(43)
	if p.began != 0 {
		t.Fatal("it has begun")
	}
	p.watched("7")
	p.until(43.1)
	if p.began == 0 || len(p.explained) != 1 {
		t.Errorf("it has begun at %v; explained are %v", p.began, p.explained)
	}
}

func TestAfterTenSecondsATermBeginsWithoutWhatWasNotReachedOrRead(t *testing.T) {
	p := led(t).follows(t, "6").lead().until(60)
	if p.began != 50 || len(p.explained) != 0 {
		t.Errorf("not reached: it has begun at %v; explained are %v", p.began, p.explained)
	}
	s := led(t)
	s.fails("get", errors.New("no answer"), 3)
	p = s.follows(t, "9")
	p.taint("9")
	p.lead().until(60)
	if p.began != 50 || len(p.explained) != 0 || p.troubles["unread"] != 1 {
		t.Errorf("not read: it has begun at %v; explained are %v; troubles %v", p.began, p.explained, p.troubles)
	}
	if slices.ContainsFunc(s.writes, func(w string) bool { return strings.HasPrefix(w, "3 ") }) || !slices.Equal(p.state().Unstored, []int{3}) {
		t.Errorf("written: %v; unstored are %v", s.writes, p.state().Unstored)
	}
	s.fails("", nil)
	p.until(70)
	if len(p.explained) != 1 || len(p.troubles) != 0 || !strings.Contains(s.stored[3].Data[nodeOf3()], `"version":"9"`) {
		t.Errorf("read late: explained are %v, troubles %v, stored is %v", p.explained, p.troubles, s.stored[3].Data)
	}
}

func TestWhileTheGuardsAreUnreadThatIsSaid(t *testing.T) {
	s := led(t)
	s.fails("get", errors.New("no answer"), journal.StateObject)
	p := s.follows(t, "9").lead().until(60)
	s.fails("", nil)
	p.until(70)
	if got := strings.Join(p.guards, " "); p.began != 50 || got != `unread {"trips":[]}` {
		t.Errorf("it has begun at %v; guards: %s", p.began, got)
	}
}

func TestWhatIsForbiddenDelaysNoTerm(t *testing.T) {
	for _, verb := range []string{"get", "put"} {
		s := led(t)
		s.fails(verb, forbidden())
		p := s.follows(t, "9").lead().until(100)
		if p.began != 40 || len(p.troubles) != 1 {
			t.Errorf("%s: it has begun at %v; troubles %v", verb, p.began, p.troubles)
		}
	}
}

func TestAnObjectOfAnotherFormatIsNeitherUsedNorOverwritten(t *testing.T) {
	s := led(t)
	for number := range s.stored {
		s.stored[number] = journal.StoredPartition{Version: "1", Data: map[string]string{journal.Head: `{"version":2}`, nodeOf3(): "new"}}
	}
	p := s.follows(t, "9").lead()
	p.taint("9")
	p.until(100)
	if p.began != 40 || len(p.explained) > 0 || len(s.writes) > 0 || p.troubles["version"] != 9 || p.guards[0] != "unread" {
		t.Errorf("it has begun at %v; explained %v, written %v, troubles %v, guards %v", p.began, p.explained, s.writes, p.troubles, p.guards)
	}
	for number := range s.stored {
		s.stored[number] = journal.StoredPartition{} // an operator has deleted them
	}
	p.until(200)
	if len(p.troubles) > 0 || !strings.Contains(s.stored[3].Data[nodeOf3()], `"version":"9"`) {
		t.Errorf("once they are deleted: troubles %v, stored %v", p.troubles, s.stored[3].Data)
	}
}

func TestALeaderWritesAPartitionAMomentAfterItsNodesChangeAtMostOnceASecond(t *testing.T) {
	p, s := leads(t)
	p.taint("2")
	p.until(10.2)
	p.taint("3") // written together with the change before
	p.until(10.5)
	p.taint("4")
	p.until(15)
	p.step(store.NodesChanged{Partition: 3}) // nothing has changed
	p.until(20)
	if got := strings.Join(s.writes, ", "); got != "3 at 10.25s, 3 at 11.25s" {
		t.Errorf("written: %s", got)
	}
	p.until(121)
	if got := strings.Join(s.writes[2:], ", "); got != "8 at 22s, 8 at 42s, 8 at 62s, 8 at 82s, 8 at 102s" {
		t.Errorf("then: %s", got)
	}
}

// A leader that no longer watches writes on, and its heartbeats do not say that it watches.
func TestAHeartbeatDoesNotMoveTheLastWatch(t *testing.T) {
	p := newServer().start(t)
	p.watched("5")
	p.lead().until(100)
	if got := p.state(); !got.Watched.Equal(at(1)) || got.Reached != "5" || got.Written.Before(at(80)) {
		t.Errorf("got %+v", got.Heartbeat)
	}
}

// The commands take a leader whose heartbeat is older than a minute, by the API server's clock, for one that has ended.
func TestAHeartbeatOfAClockThatIsBehindHasTheTimeOfTheAPIServer(t *testing.T) {
	behind := func(o *store.CoreOptions) {
		o.Ahead = func(time.Time) (least, most time.Duration) { return -6 * time.Minute, -6*time.Minute + time.Second }
	}
	p := newServer().start(t, behind)
	p.lead().until(10)
	if got := p.state().Written; got.Before(at(360)) || got.After(at(370)) {
		t.Errorf("written at %v, ten seconds after %v", got, at(360))
	}
}

func TestAPartitionThatCantBeWrittenIsListedAndTriedAgain(t *testing.T) {
	p, s := leads(t)
	s.fails("put", errors.New("webhook"), 3)
	p.taint("2")
	p.until(45)
	if got := p.state().Unstored; !slices.Equal(got, []int{3}) || p.troubles["unwritten"] != 1 {
		t.Errorf("unstored are %v; troubles %v", got, p.troubles)
	}
	s.fails("", nil)
	p.until(130)
	if got := p.state().Unstored; len(got) > 0 || len(p.troubles) > 0 {
		t.Errorf("then unstored are %v; troubles %v", got, p.troubles)
	}
}

func TestWhatOthersWriteIsReplacedByTheNextWrite(t *testing.T) {
	for name, stored := range map[string]journal.StoredPartition{
		"edited": {Version: "900", Data: map[string]string{journal.Head: `{"version":1}`}}, "deleted": {},
		"of another format": {Version: "900", Data: map[string]string{journal.Head: `{"version":2}`}},
	} {
		p, s := leads(t)
		p.taint("2")
		p.until(12)
		s.stored[3], s.writes = stored, nil
		p.until(14)
		if len(s.writes) > 0 {
			t.Errorf("%s: written at once: %v", name, s.writes)
		}
		p.taint("3")
		p.until(17)
		if !strings.Contains(s.stored[3].Data[nodeOf3()], `"version":"3"`) || len(s.writes) != 1 {
			t.Errorf("%s: stored is %v; written %v", name, s.stored[3].Data, s.writes)
		}
	}
}

func TestAnotherClientsRecordOfGuardsIsPassedOnBeforeItIsReplaced(t *testing.T) {
	p, s := leads(t)
	s.stored[journal.StateObject] = journal.StoredPartition{Version: "900", Data: journal.EncodeState(journal.Heartbeat{}, []byte(`{"trips":[1]}`), nil)}
	p.step(store.GuardsSet{Text: json.RawMessage(`{"trips":[2]}`)})
	p.until(15)
	if got := strings.Join(p.guards, " "); strings.TrimSpace(got) != `{"trips":[1]}` {
		t.Errorf("passed on: %q", got)
	}
	if got := string(p.state().Guards); got != `{"trips":[2]}` {
		t.Errorf("stored: %s", got)
	}
	passedOn := len(p.guards)
	s.fails("put", errors.New("no answer"))
	p.step(store.GuardsSet{Text: json.RawMessage(`{"trips":[3]}`)})
	p.until(30)
	if len(p.guards) > passedOn {
		t.Errorf("its own record is passed on: %q", p.guards[passedOn:])
	}
}

// A leader whose trips and holds are those of the record has nothing to set.
func TestARecordOfGuardsThatNobodyReplacesIsKeptFromTermToTerm(t *testing.T) {
	s := led(t)
	p := s.start(t)
	p.watched("7")
	for range 2 { // terms, of another process than the one that has set the record
		p.lead().until(p.now + 30)
		if got := string(p.state().Guards); got != `{"trips":[]}` {
			t.Errorf("stored in term %d: %q", p.term, got)
		}
		p.resign()
	}
}

func TestAReloadWaitsForTheConfigurationToBePublished(t *testing.T) {
	for name, answer := range map[string]error{"published": nil, "forbidden": forbidden()} {
		p, s := leads(t)
		s.fails("", answer)
		p.slow = 0.5
		p.step(store.ConfigSet{Text: []byte(`{"method":"Evict"}`), Done: make(chan struct{})})
		if p.until(10.4); p.done != 0 {
			t.Errorf("%s: it does not wait", name)
		}
		if p.until(10.6); p.done != 1 {
			t.Errorf("%s: it still waits", name)
		}
		if got := p.state().Config.Method; (got == "Evict") != (name == "published") {
			t.Errorf("%s: the method is %s", name, got)
		}
	}
	p := newServer().start(t)
	if p.step(store.ConfigSet{Text: []byte(`{}`), Done: make(chan struct{})}); p.done != 1 {
		t.Error("a standby waits")
	}
}

func TestAFlushWaitsForAllWritesOrAFailure(t *testing.T) {
	p, _ := leads(t)
	p.taint("2")
	p.until(10.3)
	p.taint("3")
	p.step(store.Flush{Done: make(chan struct{})})
	if p.until(11.2); p.done != 0 {
		t.Error("it does not wait")
	}
	if p.until(11.3); p.done != 1 {
		t.Error("it still waits")
	}
}

func TestAWriteWhoseAnswerIsLostIsNotRepeated(t *testing.T) {
	p, s := leads(t)
	lost := true
	s.fault = func(verb string, number int) error {
		if verb == "put" && number == 3 && lost {
			lost = false
			data, _ := journal.Encode(journal.Partition{Records: p.Records(3)})
			s.stored[3] = journal.StoredPartition{Version: "77", Data: data}
			return errors.New("connection lost")
		}
		return nil
	}
	p.taint("2")
	p.until(19)
	if len(s.writes) > 0 || len(p.troubles) > 0 {
		t.Errorf("written: %v; troubles %v", s.writes, p.troubles)
	}
}

func TestADryRunReadsAndDoesNotWrite(t *testing.T) {
	s := led(t)
	p := s.follows(t, "9", func(o *store.CoreOptions) { o.ReadOnly = true }).lead().until(100)
	if p.began != 40 || len(p.explained) != 1 || len(s.writes) > 0 {
		t.Errorf("it has begun at %v; explained %v, written %v", p.began, p.explained, s.writes)
	}
}

func TestATermThatHasEndedReadsAndWritesNothing(t *testing.T) {
	s := led(t)
	p := s.follows(t, "9")
	p.slow = 5
	p.lead().until(41)
	p.resign()
	p.until(100)
	if p.began != 0 || len(p.explained) > 0 || len(s.writes) > 0 {
		t.Errorf("it has begun at %v; explained %v, written %v", p.began, p.explained, s.writes)
	}
}

func TestAWriteThatMeetsAnotherClientsIsNoTrouble(t *testing.T) {
	configmaps := schema.GroupResource{Resource: "configmaps"}
	for name, c := range map[string]struct {
		err     error
		created bool // before
		trouble bool
	}{
		"another client has changed it": {apierrors.NewConflict(configmaps, "x", errors.New("it has changed")), true, false},
		"another client has deleted it": {apierrors.NewNotFound(configmaps, "x"), true, false},
		"another client has created it": {apierrors.NewAlreadyExists(configmaps, "x"), false, false},
		"its namespace does not exist":  {apierrors.NewNotFound(configmaps, "x"), false, true},
	} {
		p, s := leads(t)
		if c.created {
			p.taint("2")
			p.until(20)
		}
		failed := false
		s.fault = func(verb string, number int) error {
			if verb == "get" || number != 3 || failed {
				return nil
			}
			failed = true
			return c.err
		}
		p.taint("3")
		p.until(30)
		if (p.reported > 0) != c.trouble {
			t.Errorf("%s: %d troubles have begun", name, p.reported)
		}
		if !strings.Contains(s.stored[3].Data[nodeOf3()], `"version":"3"`) || len(p.troubles) > 0 {
			t.Errorf("%s: then stored is %v; troubles %v", name, s.stored[3].Data, p.troubles)
		}
	}
}

func TestAJournalWithoutAServerIsNoBusyLoop(t *testing.T) {
	p, s := leads(t)
	s.fails("", errors.New("no answer"))
	p.steps = 0
	if p.until(100); p.steps > 100 {
		t.Errorf("%d steps in 90 s", p.steps)
	}
}

func TestAStateWithoutGuardsIsNoRecordOfThem(t *testing.T) {
	s := led(t)
	p := s.start(t)
	p.watched("7")
	p.lead().until(40)
	p.guards = nil
	s.stored[journal.StateObject] = journal.StoredPartition{Version: "900", Data: journal.EncodeState(journal.Heartbeat{}, nil, nil)}
	if p.until(100); len(p.guards) > 0 || string(p.state().Guards) != `{"trips":[]}` {
		t.Errorf("passed on: %q; stored: %s", p.guards, p.state().Guards)
	}
}

func TestARecordOfGuardsMayHaveTheMaximumSize(t *testing.T) {
	for size, troubles := range map[int]int{journal.MaxGuards: 0, journal.MaxGuards + 1: 1} {
		p, _ := leads(t)
		p.step(store.GuardsSet{Text: json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)})
		p.until(20)
		if stored := len(p.state().Guards) == size; p.troubles["full"] != troubles || stored != (troubles == 0) {
			t.Errorf("%d bytes: %v; stored: %v", size, p.troubles, stored)
		}
	}
}
