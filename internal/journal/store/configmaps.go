package store

import (
	"context"
	"fmt"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// ConfigMaps stores the partitions in the ConfigMaps NAME-0, NAME-1 and so on of one namespace, and the state in
// NAME-state. It needs the permissions to get and update these, and to create ConfigMaps there.
type ConfigMaps struct {
	client    corev1.ConfigMapInterface
	namespace string
	names     []string // by number

	// latest are the objects that were read or written last; their metadata are kept when they are written.
	latest [journal.StateObject + 1]atomic.Pointer[v1.ConfigMap]
}

// NewConfigMaps returns the journal with this name in this namespace.
func NewConfigMaps(client kubernetes.Interface, namespace, name string) *ConfigMaps {
	return &ConfigMaps{client: client.CoreV1().ConfigMaps(namespace), namespace: namespace, names: Names(name)}
}

// NameFor returns the name of the ConfigMaps, without their numbers, for the processes that compete for one lease.
func NameFor(lease string) string { return lease + "-journal" }

// Names returns the names of the ConfigMaps, by number: those of the partitions, and that of the state.
func Names(name string) (names []string) {
	for partition := range journal.Partitions {
		names = append(names, fmt.Sprintf("%s-%d", name, partition))
	}
	return append(names, name+"-state")
}

// Read reads a partition, or the state, as it is now. If the ConfigMap does not exist, the result has no version.
func (c *ConfigMaps) Read(ctx context.Context, number int) (journal.StoredPartition, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s := journal.StoredPartition{Name: "ConfigMap " + c.namespace + "/" + c.names[number]}
	object, err := c.client.Get(ctx, c.names[number], metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("reading the %s: %w", s.Name, err)
	}
	c.latest[number].Store(object)
	s.Version, s.Data = object.ResourceVersion, object.Data
	return s, nil
}

// Write stores a partition, or the state; see [Objects]. It keeps all metadata and whatever else others have stored in
// the object.
func (c *ConfigMaps) Write(ctx context.Context, number int, s journal.StoredPartition) (string, error) {
	object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.names[number]}}
	write := func() (*v1.ConfigMap, error) { return c.client.Create(ctx, object, metav1.CreateOptions{}) }
	if s.Version != "" {
		if latest := c.latest[number].Load(); latest != nil {
			object = new(*latest)
			object.ManagedFields = nil // the API server keeps them
		}
		object.ResourceVersion = s.Version
		write = func() (*v1.ConfigMap, error) { return c.client.Update(ctx, object, metav1.UpdateOptions{}) }
	}
	object.Data = s.Data
	stored, err := write()
	if err != nil {
		return "", fmt.Errorf("writing the ConfigMap %s/%s: %w", c.namespace, object.Name, err)
	}
	c.latest[number].Store(stored)
	return stored.ResourceVersion, nil
}
