package store

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// watchTimeout is how long the API server keeps a watch of a ConfigMap open.
const watchTimeout = 10 * time.Minute

// ConfigMaps stores the partitions in the ConfigMaps NAME-0, NAME-1 and so on of one namespace. It needs the
// permissions to list, watch and update these, and to create ConfigMaps there.
type ConfigMaps struct {
	client    corev1.ConfigMapInterface
	namespace string
	names     []string // by partition

	// latest are the objects that were read last; their metadata are kept when a partition is written.
	latest [journal.Partitions]atomic.Pointer[v1.ConfigMap]
}

// NewConfigMaps returns the partitions with this name in this namespace.
func NewConfigMaps(client kubernetes.Interface, namespace, name string) *ConfigMaps {
	return &ConfigMaps{client: client.CoreV1().ConfigMaps(namespace), namespace: namespace, names: PartitionNames(name)}
}

// NameFor returns the name of the ConfigMaps, without their numbers, for the candidates of one lease.
func NameFor(lease string) string { return lease + "-journal" }

// PartitionNames returns the names of the ConfigMaps, by partition.
func PartitionNames(name string) (names []string) {
	for partition := range journal.Partitions {
		names = append(names, fmt.Sprintf("%s-%d", name, partition))
	}
	return names
}

// Read reads a partition once. If the ConfigMap does not exist, the result has no version.
func (c *ConfigMaps) Read(ctx context.Context, partition int) (journal.StoredPartition, error) {
	object, _, err := c.list(ctx, partition)
	return c.content(partition, object), err
}

// list returns the ConfigMap of a partition as it is now, nil if it does not exist, and the version of the list. A list
// from the API server's cache may lack the last writing.
func (c *ConfigMaps) list(ctx context.Context, partition int) (object *v1.ConfigMap, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.List(ctx, c.only(partition))
	if err != nil {
		return nil, "", fmt.Errorf("reading the ConfigMap %s/%s: %w", c.namespace, c.names[partition], err)
	}
	for i := range list.Items {
		if list.Items[i].Name == c.names[partition] {
			object = &list.Items[i]
		}
	}
	return object, list.ResourceVersion, nil
}

// only selects the one ConfigMap by its name, because permissions that name their objects require it.
func (c *ConfigMaps) only(partition int) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField,
		c.names[partition]).String()}
}

func (c *ConfigMaps) content(partition int, object *v1.ConfigMap) journal.StoredPartition {
	s := journal.StoredPartition{Name: "ConfigMap " + c.namespace + "/" + c.names[partition]}
	if object != nil {
		s.Version, s.Data, s.Stored = object.ResourceVersion, object.Data, storedAt(object)
	}
	return s
}

// storedAt returns when the API server last stored a partition in the object, by the server's clock, regardless of
// other writes to the object; zero if managedFields do not show it.
func storedAt(object *v1.ConfigMap) (last time.Time) {
	for i := range object.ManagedFields {
		m := &object.ManagedFields[i]
		if m.Time != nil && m.FieldsV1 != nil && strings.Contains(m.FieldsV1.GetRawString(), `"f:`+journal.Head+`"`) &&
			m.Time.After(last) {
			last = m.Time.Time
		}
	}
	return last
}

// Write stores a partition; see [Partitions]. It keeps all metadata and whatever else others have stored in the object.
func (c *ConfigMaps) Write(ctx context.Context, partition int, s journal.StoredPartition) (string, error) {
	object := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.names[partition]}}
	write := func() (*v1.ConfigMap, error) { return c.client.Create(ctx, object, metav1.CreateOptions{}) }
	if s.Version != "" {
		if latest := c.latest[partition].Load(); latest != nil {
			object = new(*latest)
			object.ManagedFields = nil // the API server keeps them
		}
		object.ResourceVersion = s.Version
		write = func() (*v1.ConfigMap, error) { return c.client.Update(ctx, object, metav1.UpdateOptions{}) }
	}
	object.Data = s.Data
	stored, err := write()
	if s.Version == "" && apierrors.IsForbidden(err) {
		err = fmt.Errorf("it does not exist, and the permission to create configmaps in namespace %s is missing: %w",
			c.namespace, err)
	}
	if err != nil {
		return "", fmt.Errorf("writing the ConfigMap %s/%s: %w", c.namespace, object.Name, err)
	}
	return stored.ResourceVersion, nil
}

// Watch calls report for a partition; see [Partitions].
func (c *ConfigMaps) Watch(ctx context.Context, partition int, report func(journal.StoredPartition, error)) {
	pause := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second}
	retry := pause
	for ctx.Err() == nil {
		switch err := c.follow(ctx, partition, report); {
		case err == nil:
			retry = pause
		case ctx.Err() == nil:
			report(journal.StoredPartition{}, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry.Step()):
		}
	}
}

// follow lists the ConfigMap, and watches it until the stream ends. Each watch follows a list: a change that a resumed
// watch shows may have been written long before.
func (c *ConfigMaps) follow(ctx context.Context, partition int, report func(journal.StoredPartition, error)) error {
	object, version, err := c.list(ctx, partition)
	if err != nil {
		return err
	}
	read := func(object *v1.ConfigMap, received time.Time) {
		c.latest[partition].Store(object)
		s := c.content(partition, object)
		s.Received = received
		report(s, nil)
	}
	read(object, time.Time{})
	o := c.only(partition)
	o.ResourceVersion, o.TimeoutSeconds = version, new(int64(watchTimeout.Seconds()))
	stream, err := c.client.Watch(ctx, o)
	if err != nil {
		return fmt.Errorf("watching the ConfigMap %s/%s: %w", c.namespace, c.names[partition], err)
	}
	defer context.AfterFunc(ctx, stream.Stop)()
	defer stream.Stop()
	for event := range stream.ResultChan() {
		switch object, ok := event.Object.(*v1.ConfigMap); {
		case !ok || object.Name != c.names[partition]: // an error ends the stream, and the next list shows it if it lasts
		case event.Type == watch.Deleted:
			read(nil, time.Now())
		default:
			read(object, time.Now())
		}
	}
	return nil
}
