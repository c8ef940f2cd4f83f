package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
)

func TestARestartChangesNoStart(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.pass(3.123456789)
		w.taint("n", "gpu", "load=1")
		w.pass(7.5)
		w.taint("n", "gpu", "load=2")
		const want = "gpu@3.123456789 (load=1@3.123456789) load=2@7.5"
		p.knows("before", "n", want)
		p.restarts(5, map[string]string{"n": want}).troubled("at the end", "")
	})
}

func TestAKillCostsAtMostTheBatch(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.pass(1)
		w.taint("n", "first")
		w.pass(1.9)
		w.taint("n", "first", "second")
		p.kill()
		p = w.start().lead()
		p.knows("killed before the second was written", "n", "first@1 second@1.9")
		w.pass(3.5)
		w.taint("n", "first", "second", "third")
		w.pass(3.6)
		w.taint("n", "first", "second", "third", "fourth")
		w.pass(4.4)
		p.kill()
		w.pass(10)
		w.start().knows("killed within a second of the fourth", "n", "first@1 second@1.9 third@3.5 fourth@10")
	})
}

func TestASecondAfterItAChangeIsSafe(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		for i := range 20 { // with any phase relative to the previous write
			now := float64(10*i) + 1 + float64(i)/10
			w.pass(now)
			w.taint("n", fmt.Sprintf("key-%d", i))
			w.pass(now + 0.05*float64(i))
			w.taint("n", fmt.Sprintf("key-%d", i), "more")
			w.pass(now + 0.05*float64(i) + 1.001)
			want := p.since("n")
			p.kill()
			w.pass(now + 5)
			p = w.start()
			p.knows("after a kill", "n", want)
			p.lead()
		}
	})
}

func TestATaintThatIsLiftedAndSetAgainIsRecordedAsANewOne(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(10)
		w.taint("n")
		w.pass(10.1)
		w.taint("n", "gpu")
		p.knows("at once", "n", "gpu@10.1")
		w.pass(12)
		p.kill()
		w.start().knows("after a restart", "n", "gpu@10.1")
	})
}

func TestAChangeOfLeaderChangesNoStart(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.start().lead()
		w.taint("n", "gpu")
		w.pass(20)
		second := w.start()
		second.knows("found in its first list", "n", "gpu@0")
		w.taint("n", "gpu", "disk")
		w.pass(22)
		first.kill()
		w.pass(40)
		second.lead()
		second.knows("leading", "n", "gpu@0 disk@20")
		third := w.start()
		third.knows("after another start", "n", "gpu@0 disk@20")
	})
}

func TestOnAStandbyARecordWinsOverWhatItHasSeenItself(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start()
		w.pass(5)
		w.taint("n", "gpu") // at version 101
		p.knows("seen", "n", "gpu@5")
		w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", "101", "gpu", 4.75)})
		p.knows("recorded", "n", "gpu@4.75")
		if len(p.adopted) != 1 || p.adopted[0] != "n" {
			t.Errorf("told of %v, want of n", p.adopted)
		}
		w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", "100", "gpu", 1)})
		p.knows("undone by one who has seen less", "n", "gpu@5")
	})
}

func TestALeaderGoesByWhatItHasSeenItself(t *testing.T) {
	for name, begin := range map[string]func(w *world, p *process){
		"a partition that there was not": func(w *world, p *process) { p.lead(); w.taint("n", "gpu") },
		"a partition it had to write":    func(w *world, p *process) { w.taint("n", "gpu"); p.lead() },
		"a partition that was right already": func(w *world, p *process) {
			w.taint("n", "gpu")
			w.pass(9)
			w.put("n", map[string]string{"_journal": w.head(9), "n": w.entry("n", "101", "gpu", 5)})
			p.lead()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.start()
				w.pass(5)
				begin(w, p)
				w.pass(15)
				w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", latest, "gpu", 1), "m": "invalid"})
				p.knows("after another hand has written", "n", "gpu@5")
				w.pass(17)
				if data := w.partition("n").Data; data["n"] != w.entry("n", "101", "gpu", 5) || len(data) != 2 {
					t.Errorf("stored is %v", data)
				}
				p.troubled("once it is written anew", "")
			})
		})
	}
}

func TestWhatIsGoneGoesFromTheJournal(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start().lead()
		w.taint("n", "gpu", "disk")
		w.pass(5)
		w.taint("n", "disk")
		w.pass(10)
		if data := w.partition("n").Data; strings.Contains(data["n"], "gpu") || !strings.Contains(data["n"], "disk") {
			t.Errorf("a taint was lifted; stored is %v", data)
		}
		w.deleteNode("n")
		w.pass(15)
		if data := w.partition("n").Data; len(data) != 1 || data["_journal"] == "" {
			t.Errorf("the node is gone; stored is %v", data)
		}
		before := w.stored()
		w.pass(500)
		if n := w.stored() - before; n != 0 {
			t.Errorf("an empty partition was written %d times more", n)
		}
	})
}

func TestWhatWasRecordedOfNodesThatAreGoneMeanwhileGoes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("n", map[string]string{"_journal": w.head(-60), "n": w.entry("n", "3", "gpu", -60)})
		w.start().lead()
		w.pass(2)
		if data := w.partition("n").Data; len(data) != 1 {
			t.Errorf("stored is %v", data)
		}
	})
}

func TestWhereNothingIsTaintedEachPartitionIsWrittenOnceInATerm(t *testing.T) {
	inWorld(t, func(w *world) {
		w.taint("n")
		p := w.start().lead()
		w.pass(100)
		w.taint("n")
		w.pass(200)
		if n := w.stored(); n != journal.Partitions {
			t.Errorf("%d writes", n)
		}
		p.resign()
		w.pass(300)
		p.lead()
		w.pass(400)
		if n := w.stored(); n != 2*journal.Partitions {
			t.Errorf("%d writes in two terms", n)
		}
	})
}

// Who may read the journal, and not the nodes, learns from these partitions that nothing is pending.
func TestOnAFreshInstallTheJournalExistsBeforeTheFirstTaint(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start().lead()
		for partition := range journal.Partitions {
			stored, err := store.NewConfigMaps(w.client, namespace, name).Read(w.Context(), partition)
			content, problems, invalid := journal.Decode(partition, stored.Data)
			if err != nil || invalid != nil || stored.Version == "" || len(problems) > 0 || content.Written.IsZero() {
				t.Errorf("partition %d is %+v, %v, %v, %v", partition, stored, err, invalid, problems)
			}
		}
	})
}

func TestOnlyALeaderWrites(t *testing.T) {
	inWorld(t, func(w *world) {
		standby := w.start()
		readOnly := w.start(func(o *store.Options) { o.ReadOnly = true }).lead()
		outvoted := w.start(func(o *store.Options) { o.Leading = func() bool { return false } }).lead()
		w.taint("n", "gpu")
		w.pass(100)
		if n := w.stored(); n != 0 {
			t.Errorf("%d writes", n)
		}
		standby.stop()
		readOnly.stop()
		if outvoted.stop(); time.Now() != w.born.Add(100*time.Second) {
			t.Errorf("the end of those who don't lead took %v", time.Since(w.born)-100*time.Second)
		}
		if n := w.stored(); n != 0 {
			t.Errorf("%d writes at the end", n)
		}
	})
}

func TestAfterItsTermAProcessWritesNoMore(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(5)
		p.resign()
		before := w.stored()
		w.taint("n", "gpu", "disk")
		w.pass(100)
		if n := w.stored() - before; n != 0 {
			t.Errorf("%d writes after the term", n)
		}
		w.put("n", map[string]string{"_journal": w.head(100), "n": w.entry("n", latest, "gpu", -7)})
		p.knows("standing by again", "n", "gpu@-7 disk@5")
		p.lead()
		w.pass(101)
		if data := w.partition("n").Data; !strings.Contains(data["n"], "disk") {
			t.Errorf("in its second term: stored is %v", data)
		}
	})
}

func TestAPartitionIsWrittenAtMostOnceASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		for i := range 100 { // a change each 100 ms
			w.taint("n", fmt.Sprintf("key-%d", i))
			w.taint("m", fmt.Sprintf("key-%d", i))
			w.pass(float64(i+1) / 10)
		}
		p.stop()
		last := map[string]time.Time{}
		for _, one := range w.writes {
			if before, ok := last[one.partition]; ok && one.at.Sub(before) < time.Second {
				t.Errorf("%s was written at %v and %v", one.partition, before, one.at)
			}
			last[one.partition] = one.at
		}
		if n := w.storedOf("n") + w.storedOf("m"); n < 18 || n > 24 {
			t.Errorf("%d writes of two partitions in 10 s", n)
		}
	})
}

func TestALargePartitionIsWrittenLessOften(t *testing.T) {
	inWorld(t, func(w *world) {
		nodes := newManyNodes(2000)
		p := w.start(nodes.of).lead()
		for i := range 100 { // a change each 100 ms
			p.NodeChanged(nodes.change(i))
			w.pass(float64(i+1) / 10)
		}
		size := journal.Size(w.partition(nodes.nodes[0].Name).Data)
		if n := w.storedOf(nodes.nodes[0].Name); n > 2+10*256<<10/size {
			t.Errorf("%d writes of %d bytes in 10 s", n, size)
		}
	})
}

func TestAPartitionWithRecordsIsStampedNowAndThen(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		for i := range 200 {
			w.pass(float64(i + 1))
			p.NodeChanged("n") // nothing has changed
		}
		if n := w.storedOf("n"); n < 9 || n > 12 {
			t.Errorf("%d writes in 200 s", n)
		}
		if got := w.partition("n").Data["_journal"]; got < w.head(180) {
			t.Errorf("after 200 s: %s", got)
		}
	})
}

func TestAtTheEndWhatHasChangedIsWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(0.3)
		w.taint("n", "gpu", "disk")
		p.stop()
		if took := time.Since(w.born); took > 1001*time.Millisecond {
			t.Errorf("the end took until %v", took)
		}
		w.pass(30)
		w.start().knows("after a restart", "n", "gpu@0 disk@0.3")
	})
}

func TestAtTheEndWhatHasFailedIsTriedOnceMoreAndNotWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.fault(failing(broken, "create", "update"))
		w.taint("n", "gpu")
		w.pass(100)
		before := w.stored()
		p.stop()
		if n, took := w.stored()-before, time.Since(w.born); n != 1 || took > 101*time.Second {
			t.Errorf("%d tries until %v", n, took)
		}
	})
}

// Another leader writes between this one's read and its write.
func TestAConflictIsMerged(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(5)
		w.fault(func(verb string) error {
			if verb == "watch" || verb == "list" {
				return broken
			}
			return nil
		})
		w.cut()
		w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", "1", "gpu", 3), "gone": "x"})
		w.taint("n", "gpu", "disk")
		w.pass(8)
		if data := w.partition("n").Data; strings.Contains(data["n"], "disk") {
			t.Fatalf("it has overwritten what it had not read: %v", data)
		}
		w.fault(nil)
		w.pass(60)
		if data := w.partition("n").Data; !strings.Contains(data["n"], "disk") || !strings.Contains(data["n"], "gpu") || len(data) != 2 {
			t.Errorf("stored is %v", data)
		}
		p.knows("after the conflict", "n", "gpu@0 disk@5")
		p.troubled("after the conflict", "")
	})
}

// The next leader has not seen the last write of the previous one when its term begins.
func TestWhatTheLeaderBeforeHasWrittenLastIsTakenOver(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start()
		w.pass(5)
		w.fault(failing(broken, "list", "watch"))
		w.cut()
		w.taint("n", "gpu") // at version 101
		w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", "101", "gpu", 4.75)})
		p.lead()
		w.pass(7)
		p.knows("before it could read", "n", "gpu@5")
		w.fault(nil)
		w.pass(60)
		p.knows("when it could", "n", "gpu@4.75")
		if data := w.partition("n").Data; data["n"] != w.entry("n", "101", "gpu", 4.75) || data["_journal"] < w.head(7) {
			t.Errorf("stored is %v", data)
		}
	})
}

func TestWhatOthersKeepAtTheConfigMapStays(t *testing.T) {
	inWorld(t, func(w *world) {
		object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: store.PartitionNames(name)[journal.PartitionOf("n")], Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
			Finalizers: []string{"example.com/keep"}, OwnerReferences: []metav1.OwnerReference{{Kind: "Release", Name: "r", UID: "u"}},
		}, BinaryData: map[string][]byte{"c": {1}}}
		if _, err := w.client.CoreV1().ConfigMaps(namespace).Create(w.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.start().lead()
		w.taint("n", "gpu")
		w.pass(30)
		partition := w.partition("n")
		if !maps.Equal(partition.Labels, object.Labels) || !maps.Equal(partition.Annotations, object.Annotations) || len(partition.Data) != 2 ||
			!slices.Equal(partition.Finalizers, object.Finalizers) || len(partition.OwnerReferences) != 1 || len(partition.BinaryData) != 1 {
			t.Errorf("got %+v", partition)
		}
	})
}

func TestWithoutPartitionsNothingIsDone(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start(func(o *store.Options) { o.Partitions = nil }).lead()
		w.taint("n", "gpu")
		w.pass(100)
		p.stop()
		if n := w.stored(); n != 0 || p.Trouble() != nil {
			t.Errorf("%d writes, trouble %v", n, p.Trouble())
		}
	})
}

// script is a store that a test controls.
type script struct {
	tells  chan func(journal.StoredPartition, error) // of partition 0
	writes chan journal.StoredPartition              // of partition 0; a write continues when it has room
	refuse error
}

func newScript(room int) *script {
	return &script{tells: make(chan func(journal.StoredPartition, error), 1), writes: make(chan journal.StoredPartition, room)}
}

func (s *script) Watch(ctx context.Context, partition int, tell func(journal.StoredPartition, error)) {
	if partition == 0 {
		s.tells <- tell
	} else {
		tell(journal.StoredPartition{}, nil)
	}
	<-ctx.Done()
}

func (s *script) Write(ctx context.Context, partition int, content journal.StoredPartition) (string, error) {
	if partition != 0 {
		return "1", nil
	}
	select {
	case s.writes <- content:
		version, _ := strconv.Atoi(content.Version)
		return strconv.Itoa(version + 1), s.refuse
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestAWatchThatIsBehindUndoesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		partitions, nodes := newScript(100), newManyNodes(2)
		p := w.launch(nodes.of, func(o *store.Options) { o.Partitions = partitions }).lead()
		tell := <-partitions.tells
		tell(journal.StoredPartition{Version: "100"}, nil)
		w.pass(1)
		written := <-partitions.writes
		written.Version = "101"
		for _, late := range []journal.StoredPartition{{Version: "100"}, {Version: "99", Data: map[string]string{"_journal": w.head(0)}}, written} {
			tell(late, nil)
			synctest.Wait()
		}
		before := time.Now()
		p.stop()
		if took := time.Since(before); took > 0 || len(partitions.writes) > 0 {
			t.Errorf("%d writes more; the end took %v", len(partitions.writes), took)
		}
	})
}

// After a restore from a backup, versions continue from a lower one.
func TestVersionsThatGoBackAreBelievedOnceAWriteHasFailed(t *testing.T) {
	inWorld(t, func(w *world) {
		partitions, nodes := newScript(100), newManyNodes(2)
		p := w.launch(nodes.of, func(o *store.Options) { o.Partitions = partitions }).lead()
		tell := <-partitions.tells
		tell(journal.StoredPartition{Version: "100"}, nil)
		w.pass(2)
		partitions.refuse = errors.New("conflict")
		p.NodeChanged(nodes.change(0))
		w.pass(4)
		for range len(partitions.writes) {
			<-partitions.writes
		}
		partitions.refuse = nil
		tell(journal.StoredPartition{Version: "50"}, nil)
		w.pass(10)
		if len(partitions.writes) != 1 {
			t.Fatalf("%d writes", len(partitions.writes))
		}
		if content := <-partitions.writes; content.Version != "50" {
			t.Errorf("it is written in place of version %s", content.Version)
		}
	})
}

// A write of the first term was stored although it has failed. Its process hears of that in its second term, and then of
// what the leader in between has written.
func TestAWriteOfAnEarlierTermHidesNothingThatAnotherLeaderHasWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		partitions := newScript(100)
		p := w.launch(func(o *store.Options) { o.Partitions = partitions }).lead()
		tell := <-partitions.tells
		tell(journal.StoredPartition{Version: "100"}, nil)
		partitions.refuse = errors.New("timeout")
		p.SetGuards(w.ended(0))
		w.pass(1)
		stored := <-partitions.writes
		stored.Version = "101"
		p.resign()
		w.pass(2)
		p.lead()
		tell(stored, nil)
		synctest.Wait()
		other := strings.TrimSuffix(w.head(1), "}") + `,"guards":{"holds":[{"by":"policy a","ended":"` + w.born.Add(time.Second).UTC().Format(time.RFC3339Nano) + `"}]}}`
		tell(journal.StoredPartition{Version: "102", Data: map[string]string{"_journal": other}}, nil)
		p.guarded("in the second term", "policy a@1")
	})
}

func TestAnErrorDoesNotHideWhatWasReadBeforeIt(t *testing.T) {
	inWorld(t, func(w *world) {
		partitions := newScript(100)
		synced := make(chan struct{})
		p := w.launch(func(o *store.Options) { o.Partitions, o.Synced = partitions, synced })
		tell := <-partitions.tells
		tell(journal.StoredPartition{Version: "100"}, nil)
		tell(journal.StoredPartition{}, broken)
		close(synced)
		<-p.Loaded()
		if took := time.Since(w.born); took > 0 {
			t.Errorf("read after %v", took)
		}
		p.troubled("after an error", "partitions that can't be read: 1")
		tell(journal.StoredPartition{Version: "100"}, nil)
		p.troubled("when it is well again", "")
	})
}

func TestEachPartitionIsAskedForByItsName(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		asked := map[string]int{}
		for _, action := range w.client.Actions() {
			if action.GetResource().Resource != "configmaps" {
				continue
			}
			switch action := action.(type) {
			case clienttesting.ListActionImpl:
				asked["list "+action.GetListRestrictions().Fields.String()]++
				if o := action.ListOptions; o.ResourceVersion != "" || o.ResourceVersionMatch != "" {
					t.Errorf("a list from version %q %q may lack the last writing", o.ResourceVersion, o.ResourceVersionMatch)
				}
			case clienttesting.WatchActionImpl:
				asked["watch "+action.GetWatchRestrictions().Fields.String()]++
				if o := action.ListOptions; o.ResourceVersion != "100" || o.SendInitialEvents != nil {
					t.Errorf("a watch from version %q, initial events %v, does not continue the list at 100", o.ResourceVersion, o.SendInitialEvents)
				}
			}
		}
		for _, partition := range store.PartitionNames(name) {
			for _, verb := range []string{"list", "watch"} {
				if n := asked[verb+" metadata.name="+partition]; n != 1 {
					t.Errorf("%s of %s: %d requests", verb, partition, n)
				}
			}
		}
	})
}

func TestAStreamThatEndsIsFollowedByAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start()
		w.pass(5)
		w.taint("n", "gpu")
		for i := range 3 {
			w.cut()
			w.put("n", map[string]string{"_journal": w.head(time.Since(w.born).Seconds()), "n": w.entry("n", latest, "gpu", float64(4-i))})
			w.pass(float64(10 * (i + 1)))
			p.knows("after the stream has ended", "n", fmt.Sprintf("gpu@%d", 4-i))
		}
		p.troubled("at the end", "")
	})
}

// A change while a write is under way, and just before the end, arrives together with the end; which of the two is
// handled first is random.
func TestAtTheEndWhatHasChangedJustNowIsWritten(t *testing.T) {
	for range 20 {
		inWorld(t, func(w *world) {
			partitions, nodes := newScript(0), newManyNodes(2)
			p := w.launch(nodes.of, func(o *store.Options) { o.Partitions = partitions }).lead()
			(<-partitions.tells)(journal.StoredPartition{Version: "100"}, nil)
			synctest.Wait() // it is writing
			p.NodeChanged(nodes.change(0))
			go p.stop()
			synctest.Wait()
			<-partitions.writes
			w.pass(1.5)
			select {
			case content := <-partitions.writes:
				if data := content.Data[nodes.nodes[0].Name]; !strings.Contains(data, `"version":"10"`) {
					t.Errorf("written is %s", data)
				}
			default:
				t.Error("nothing is written")
			}
		})
	}
}

func TestAPartitionThatIsReadAnewIsWrittenWithoutWaitingForTheNextTry(t *testing.T) {
	inWorld(t, func(w *world) {
		partitions, nodes := newScript(100), newManyNodes(2)
		partitions.refuse = errors.New("conflict")
		w.launch(nodes.of, func(o *store.Options) { o.Partitions = partitions }).lead()
		tell := <-partitions.tells
		tell(journal.StoredPartition{Version: "100"}, nil)
		w.pass(120)
		partitions.refuse = nil
		before := len(partitions.writes)
		tell(journal.StoredPartition{Version: "200"}, nil)
		w.pass(121)
		if n := len(partitions.writes) - before; n != 1 {
			t.Errorf("%d writes in the second after it was read", n)
		}
	})
}

func TestAWriteUnderWayIsCutWhenRunOrTheTermEnds(t *testing.T) {
	for name, end := range map[string]func(*process){
		"run":  func(p *process) { p.end() },
		"term": func(p *process) { p.resign() },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				partitions, nodes := newScript(0), newManyNodes(2)
				p := w.launch(nodes.of, func(o *store.Options) { o.Partitions = partitions }).lead()
				(<-partitions.tells)(journal.StoredPartition{Version: "100"}, nil)
				w.pass(1)
				end(p)
				synctest.Wait()
				select {
				case <-partitions.writes:
					t.Error("the write is still under way")
				default:
				}
				p.troubled("cut", "")
				if said := p.said(); said != "" {
					t.Errorf("it says %s", said)
				}
			})
		})
	}
}
