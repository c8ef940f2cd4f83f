package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/journal/store"
)

// mayCreate makes the API server answer whether a process may create ConfigMaps.
func (w *world) mayCreate(allowed bool) {
	w.client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		asked := review.Spec.ResourceAttributes
		if asked.Verb != "create" || asked.Resource != "configmaps" || asked.Namespace != namespace {
			return true, nil, errors.New("unexpected review")
		}
		review.Status.Allowed = allowed
		return true, review, nil
	})
	if !allowed {
		w.fault(failing(forbidden, "create"))
	}
}

// create creates ConfigMaps without data, as an administrator does.
func (w *world) create(names ...string) {
	w.Helper()
	for _, name := range names {
		err := w.client.Tracker().Create(v1.SchemeGroupVersion.WithResource("configmaps"), &v1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "50"},
		}, namespace)
		if err != nil {
			w.Fatal(err)
		}
	}
}

func reportMissing(o *store.Options) {
	s := o.Partitions.(severed)
	s.Partitions.(*store.ConfigMaps).ReportMissing = true
}

func TestPartitionsThatAreMissingAndMayNotBeCreatedAreSaidWithTheCommand(t *testing.T) {
	for _, leads := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.mayCreate(false)
			names := store.PartitionNames(name)
			w.create(names[:6]...)
			registry := prometheus.NewRegistry()
			metrics, _ := store.NewMetrics(registry)
			p := w.start(reportMissing, func(o *store.Options) { o.Metrics = metrics })
			if leads {
				p.lead()
			}
			w.pass(1)
			want := "partitions that do not exist and may not be created: 2; create them with 'for name in " + names[6] + " " + names[7] + "; do kubectl -n kube-system create configmap $name; done'; the log says more"
			if err := p.Trouble(); err == nil || err.Error() != want {
				t.Errorf("leads %t: trouble is %v", leads, err)
			}
			if said := p.said(); !strings.Contains(said, "create it with 'kubectl -n kube-system create configmap "+name+"-") {
				t.Errorf("leads %t: the log lacks the command:\n%s", leads, said)
			}
			expectMetric(t, registry, "taint_manager_journal_problems", "missing", 2)
			w.create(names[6])
			w.pass(2)
			if err := p.Trouble(); err == nil || !strings.Contains(err.Error(), "create them with 'kubectl -n kube-system create configmap "+names[7]+"'") {
				t.Errorf("leads %t: one is missing, and trouble is %v", leads, err)
			}
			w.create(names[7])
			w.pass(3)
			if err := p.Trouble(); err != nil {
				t.Errorf("leads %t: all are there, and trouble is %v", leads, err)
			}
			expectMetric(t, registry, "taint_manager_journal_problems", "missing", 0)
		})
	}
}

func TestARecordIsWrittenAsSoonAsItsMissingPartitionIsThere(t *testing.T) {
	inWorld(t, func(w *world) {
		w.mayCreate(false)
		p := w.start(reportMissing).lead()
		w.taint("n", "gpu")
		w.pass(60) // by now, tries are half a minute apart
		if w.partition("n") != nil {
			t.Fatal("the partition exists")
		}
		w.create(store.PartitionNames(name)...)
		w.pass(62)
		if partition := w.partition("n"); partition == nil || len(partition.Data) != 2 {
			t.Errorf("2 s later it has %v", partition)
		}
		if err := p.Trouble(); err != nil {
			t.Errorf("trouble is %v", err)
		}
	})
}

func TestAPartitionThatMayBeCreatedOrNeedNotBeIsNoTrouble(t *testing.T) {
	for allowed, option := range map[bool]func(*store.Options){true: reportMissing, false: func(*store.Options) {}} {
		inWorld(t, func(w *world) {
			w.mayCreate(allowed)
			p := w.start(option).lead()
			w.pass(30)
			if err := p.Trouble(); err != nil {
				t.Errorf("allowed %t: trouble is %v", allowed, err)
			}
		})
	}
}

func TestAPartitionThatIsDeletedIsSaidToBeMissing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.mayCreate(false)
		w.create(store.PartitionNames(name)...)
		p := w.start(reportMissing).lead()
		w.taint("n", "gpu")
		w.pass(5)
		w.deletePartition("n")
		w.pass(7)
		if err := p.Trouble(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s-%d", name, journal.PartitionOf("n"))) {
			t.Errorf("trouble is %v", err)
		}
	})
}

// TestAnEmptiedPartitionIsWrittenBack has a client that replaces a partition by the manifest's, without data.
func TestAnEmptiedPartitionIsWrittenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start().lead()
		w.taint("n", "gpu")
		w.pass(5)
		before := w.partition("n").Data["n"]
		w.put("n", nil)
		w.pass(8)
		if after := w.partition("n").Data["n"]; before == "" || after != before {
			t.Errorf("before %q, after %q", before, after)
		}
	})
}

func TestTheErrorOfAMissingPartitionHasItsCause(t *testing.T) {
	inWorld(t, func(w *world) {
		w.mayCreate(false)
		_, err := store.NewConfigMaps(w.client, namespace, name).Write(t.Context(), 0, journal.StoredPartition{})
		if !errors.Is(err, error(forbidden)) || !strings.Contains(err.Error(), "create configmap "+name+"-0'") {
			t.Errorf("got %v", err)
		}
	})
}
