package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/taint-manager/taint-manager/journal"
)

// ConfigMaps stores the partitions in the ConfigMaps NAME-0, NAME-1 and so on of one namespace. It needs the
// permissions to list, watch and update these, and to create ConfigMaps there unless they exist.
type ConfigMaps struct {
	// ReportMissing makes Watch report, with a MissingError, a ConfigMap that does not exist and that this client may
	// not create. Set it before Watch if the partitions are to be written.
	ReportMissing bool

	client    corev1.ConfigMapInterface
	reviews   authorizationv1.SelfSubjectAccessReviewInterface
	namespace string
	names     []string // by partition

	// seen are the latest objects; their metadata are kept when a partition is written.
	seen [journal.Partitions]atomic.Pointer[v1.ConfigMap]
}

// NewConfigMaps returns the partitions with this name in this namespace.
func NewConfigMaps(client kubernetes.Interface, namespace, name string) *ConfigMaps {
	return &ConfigMaps{
		client: client.CoreV1().ConfigMaps(namespace), reviews: client.AuthorizationV1().SelfSubjectAccessReviews(),
		namespace: namespace, names: PartitionNames(name),
	}
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

// Watch calls tell for a partition; see [Partitions].
func (c *ConfigMaps) Watch(ctx context.Context, partition int, tell func(journal.StoredPartition, error)) {
	tries := backoff()
	for ctx.Err() == nil {
		err := c.follow(ctx, partition, tell)
		if err == nil {
			tries = backoff()
		} else if ctx.Err() == nil {
			tell(journal.StoredPartition{}, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(tries.Step()):
		}
	}
}

// follow calls tell with the partition's content, and again after each change, until the watch ends, which API servers
// let happen regularly.
func (c *ConfigMaps) follow(ctx context.Context, partition int, tell func(journal.StoredPartition, error)) error {
	version, err := c.look(ctx, partition, tell)
	if err != nil {
		return fmt.Errorf("reading the ConfigMap %s/%s: %w", c.namespace, c.names[partition], err)
	}
	lack := func(err error) { tell(journal.StoredPartition{}, err) }
	c.reportMissing(ctx, partition, lack)
	stream, err := c.client.Watch(ctx, c.only(partition, version))
	if err != nil {
		return fmt.Errorf("watching the ConfigMap %s/%s: %w", c.namespace, c.names[partition], err)
	}
	defer stream.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-stream.ResultChan():
			if !ok || event.Type == watch.Error {
				return nil // the next list reports the cause
			}
			if object, ok := event.Object.(*v1.ConfigMap); ok && object.Name == c.names[partition] {
				c.tell(partition, object, event.Type, tell)
				c.reportMissing(ctx, partition, lack)
			}
		}
	}
}

// Read reads a partition once. If the ConfigMap does not exist, the result has no version.
func (c *ConfigMaps) Read(ctx context.Context, partition int) (content journal.StoredPartition, err error) {
	if _, err = c.look(ctx, partition, func(s journal.StoredPartition, _ error) { content = s }); err != nil {
		return journal.StoredPartition{}, fmt.Errorf("reading the ConfigMap %s/%s: %w", c.namespace, c.names[partition], err)
	}
	return content, nil
}

// look calls tell with the partition's content, and returns the resourceVersion from which to watch.
func (c *ConfigMaps) look(ctx context.Context, partition int, tell func(journal.StoredPartition, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.List(ctx, c.only(partition, ""))
	if err != nil {
		return "", err
	}
	for i := range list.Items {
		if list.Items[i].Name == c.names[partition] {
			c.tell(partition, &list.Items[i], "", tell)
			return list.ResourceVersion, nil
		}
	}
	c.tell(partition, nil, watch.Deleted, tell)
	return list.ResourceVersion, nil
}

// only selects the one ConfigMap by its name, because permissions that name their objects require it.
func (c *ConfigMaps) only(partition int, version string) metav1.ListOptions {
	timeout := int64(300 + rand.IntN(300))
	return metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, c.names[partition]).String(),
		ResourceVersion: version, TimeoutSeconds: &timeout,
	}
}

// tell reports an object, and the event of the watch that contained it; event is empty if the object comes from a list.
func (c *ConfigMaps) tell(partition int, object *v1.ConfigMap, event watch.EventType, tell func(journal.StoredPartition, error)) {
	if event == watch.Deleted {
		object = nil
	}
	c.seen[partition].Store(object)
	s := c.content(partition, object)
	s.Watched = event != ""
	tell(s, nil)
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
		if m.Time != nil && m.FieldsV1 != nil && strings.Contains(m.FieldsV1.GetRawString(), `"f:`+journal.Head+`"`) && m.Time.After(last) {
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
		if seen := c.seen[partition].Load(); seen != nil {
			kept := *seen
			object = &kept
			object.ManagedFields = nil // the API server keeps them
		}
		object.ResourceVersion = s.Version
		write = func() (*v1.ConfigMap, error) { return c.client.Update(ctx, object, metav1.UpdateOptions{}) }
	}
	object.Data = s.Data
	stored, err := write()
	if s.Version == "" && apierrors.IsForbidden(err) {
		err = &MissingError{Namespace: c.namespace, Name: object.Name, cause: err}
	}
	if err != nil {
		return "", fmt.Errorf("writing the ConfigMap %s/%s: %w", c.namespace, object.Name, err)
	}
	return stored.ResourceVersion, nil
}
