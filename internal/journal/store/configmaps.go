package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/journal"
)

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
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.List(ctx, c.only(partition))
	if err != nil {
		return journal.StoredPartition{}, fmt.Errorf("reading the ConfigMap %s/%s: %w", c.namespace, c.names[partition],
			err)
	}
	for i := range list.Items {
		if list.Items[i].Name == c.names[partition] {
			return c.content(partition, &list.Items[i]), nil
		}
	}
	return c.content(partition, nil), nil
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

// Watch calls report for a partition; see [Partitions]. A reflector lists the ConfigMap, and watches it.
func (c *ConfigMaps) Watch(ctx context.Context, partition int, report func(journal.StoredPartition, error)) {
	w := &watcher{maps: c, partition: partition, name: c.names[partition], report: report}
	// The errors are reported, so the reflector need not log them.
	ctx = klog.NewContext(ctx, logr.Discard())
	cache.NewReflectorWithOptions(listing{&cache.ListWatch{ListWithContextFunc: w.list, WatchFuncWithContext: w.watch}},
		&v1.ConfigMap{}, w, cache.ReflectorOptions{
			Name:    "taint-manager." + w.name,
			Backoff: &wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 30 * time.Second},
		}).RunWithContext(ctx)
}

// listing makes a reflector list, instead of streaming the list by a watch: a streamed list may be old.
type listing struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is asked by the reflector.
func (listing) IsWatchListSemanticsUnSupported() bool { return true }

// watcher makes the requests of a reflector for one ConfigMap, and is its store. Only the reflector uses it.
type watcher struct {
	maps      *ConfigMaps
	partition int
	name      string
	report    func(journal.StoredPartition, error)
	listed    bool // the next watch continues a list
}

// list lists the ConfigMap as it is now: an old state, which reflectors ask for, may lack the last writing.
func (w *watcher) list(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := w.maps.client.List(ctx, w.maps.only(w.partition))
	if err != nil {
		return nil, w.fail(ctx, "reading", err)
	}
	return list, nil
}

// watch watches the ConfigMap after each list, and only then: a change that a resumed watch shows may have been written
// long before.
func (w *watcher) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if !w.listed {
		return nil, apierrors.NewResourceExpired("a list is due")
	}
	w.listed = false
	o.FieldSelector = w.maps.only(w.partition).FieldSelector
	stream, err := w.maps.client.Watch(ctx, o)
	if err != nil {
		return nil, w.fail(ctx, "watching", err)
	}
	return stream, nil
}

// fail reports an error, and returns the error for the reflector.
func (w *watcher) fail(ctx context.Context, doing string, err error) error {
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		w.report(journal.StoredPartition{}, fmt.Errorf("%s the ConfigMap %s/%s: %w", doing, w.maps.namespace, w.name,
			err))
	}
	return err
}

// read reports the ConfigMap; nil if it does not exist.
func (w *watcher) read(object *v1.ConfigMap, watched bool) {
	w.maps.latest[w.partition].Store(object)
	s := w.maps.content(w.partition, object)
	if watched {
		s.Received = time.Now()
	}
	w.report(s, nil)
}

// named returns the object as a ConfigMap if its name is the watched name.
func (w *watcher) named(obj any) (*v1.ConfigMap, bool) {
	object, ok := obj.(*v1.ConfigMap)
	return object, ok && object.Name == w.name
}

// Replace takes in a list.
func (w *watcher) Replace(items []any, _ string) error {
	var found *v1.ConfigMap
	for _, item := range items {
		if object, ok := w.named(item); ok {
			found = object
		}
	}
	w.listed = true
	w.read(found, false)
	return nil
}

// Add takes in the ConfigMap that was created.
func (w *watcher) Add(obj any) error { return w.Update(obj) }

// Update takes in the ConfigMap that was changed.
func (w *watcher) Update(obj any) error {
	if object, ok := w.named(obj); ok {
		w.read(object, true)
	}
	return nil
}

// Delete takes in that the ConfigMap was deleted.
func (w *watcher) Delete(obj any) error {
	if _, ok := w.named(obj); ok {
		w.read(nil, true)
	}
	return nil
}

// Resync does nothing: everything was reported.
func (w *watcher) Resync() error { return nil }
