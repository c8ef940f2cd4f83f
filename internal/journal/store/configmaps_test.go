package store_test

import (
	"errors"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
)

func TestAWriteKeepsWhatOthersHaveStoredInAConfigMap(t *testing.T) {
	edited := &v1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "j-3", ResourceVersion: "5", Labels: map[string]string{"team": "a"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Data: map[string]string{"a": "1"},
	}
	client := fake.NewClientset(edited)
	written := func() *v1.ConfigMap {
		all := client.Actions()
		return all[len(all)-1].(clienttesting.UpdateAction).GetObject().(*v1.ConfigMap)
	}
	maps := store.NewConfigMaps(client, "ns", "j")
	if _, err := maps.Write(t.Context(), 3, journal.StoredPartition{Version: "5", Data: map[string]string{"a": "2"}}); err != nil {
		t.Fatal(err)
	}
	if got := written(); got.ResourceVersion != "5" || got.Data["a"] != "2" {
		t.Errorf("before it was read, written is %v", got)
	}
	if err := client.Tracker().Update(v1.SchemeGroupVersion.WithResource("configmaps"), edited, "ns"); err != nil {
		t.Fatal(err)
	}
	s, err := maps.Read(t.Context(), 3)
	if err != nil || s.Name != "ConfigMap ns/j-3" || s.Version == "" || s.Data["a"] != "1" {
		t.Fatalf("read is %+v, %v", s, err)
	}
	s.Data = map[string]string{"a": "3"}
	if _, err := maps.Write(t.Context(), 3, s); err != nil {
		t.Fatal(err)
	}
	if got := written(); got.ResourceVersion != s.Version || got.Labels["team"] != "a" || got.ManagedFields != nil || got.Data["a"] != "3" {
		t.Errorf("written is %v", got)
	}
}

func TestAConfigMapThatDoesNotExistIsEmptyAndIsCreated(t *testing.T) {
	client := fake.NewClientset()
	maps := store.NewConfigMaps(client, "ns", "j")
	s, err := maps.Read(t.Context(), journal.StateObject)
	if err != nil || s.Version != "" || s.Data != nil {
		t.Fatalf("read is %+v, %v", s, err)
	}
	if _, err := maps.Write(t.Context(), journal.StateObject, journal.StoredPartition{Data: map[string]string{"a": "1"}}); err != nil {
		t.Fatal(err)
	}
	got, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "j-state", metav1.GetOptions{})
	if err != nil || got.Data["a"] != "1" {
		t.Errorf("stored is %v, %v", got, err)
	}
}

func TestErrorsOfConfigMapsNameThem(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no answer")
	})
	maps := store.NewConfigMaps(client, "ns", "j")
	if _, err := maps.Read(t.Context(), 3); err == nil || err.Error() != "reading the ConfigMap ns/j-3: no answer" {
		t.Errorf("got %v", err)
	}
	if _, err := maps.Write(t.Context(), 3, journal.StoredPartition{}); err == nil || err.Error() != "writing the ConfigMap ns/j-3: no answer" {
		t.Errorf("got %v", err)
	}
}
