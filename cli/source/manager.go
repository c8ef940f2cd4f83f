package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/status"
)

// answerPatience is how long the client waits for the manager.
const answerPatience = 10 * time.Second

// newsPatience is how long the client waits for a manager to begin its answer about changes: a screen is frozen then.
const newsPatience = 2 * time.Second

// Manager is a running manager, asked at its status address.
type Manager struct {
	base *url.URL
	name string // the URL in messages, without credentials
	http *http.Client
}

// NewManager returns the manager at a URL. It sends no request.
func NewManager(server string) (*Manager, error) {
	base, err := url.Parse(server)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		err := flags.Invalid("server", nameOf(server, base), "must be the URL of a manager's --status-address")
		return nil, hint.Add(err, "Use http://127.0.0.1:8080 after 'kubectl -n kube-system port-forward POD 8080'.")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerPatience
	return &Manager{base, base.Redacted(), &http.Client{Transport: transport}}, nil
}

// nameOf returns an address for messages, without parts that may be a password.
func nameOf(given string, parsed *url.URL) string {
	if parsed != nil && parsed.User != nil {
		return parsed.Redacted()
	}
	if at := strings.LastIndex(given, "@"); at >= 0 {
		return "xxxxx" + given[at:]
	}
	return given
}

// largestAnswer is the maximum size of an answer in bytes.
const largestAnswer = 512 << 20

// get requests the snapshot, or the changes since the snapshot with the tag, and reports whether anything has changed.
// Any other answer becomes an error.
func (m *Manager) get(ctx context.Context, tag string, into any) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*answerPatience)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	address, patience := m.base.JoinPath("/api/v1/snapshot"), 3*answerPatience
	if tag != "" {
		patience = newsPatience
		address.RawQuery = url.Values{"since": {tag}}.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return false, m.errNotManager(err)
	}
	silent := time.AfterFunc(patience, func() { giveUp(fmt.Errorf("no answer within %s", patience)) })
	answer, err := m.http.Do(request)
	silent.Stop()
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, which the message contains
		}
		return false, hint.Add(fmt.Errorf("cannot reach --server=%s: %w", m.name, err), "Check that "+
			"'kubectl -n kube-system port-forward POD 8080' is running, and that the manager runs with --status-address.")
	}
	defer answer.Body.Close()
	body := json.NewDecoder(http.MaxBytesReader(nil, answer.Body, largestAnswer))
	switch answer.StatusCode {
	case http.StatusOK:
		if err := body.Decode(into); err != nil {
			return false, m.errNotManager(err)
		}
		return true, nil
	case http.StatusNoContent:
		return false, nil
	}
	var refused status.Error
	if err := body.Decode(&refused); err != nil || refused.Kind != status.KindError {
		return false, m.errNotManager(errors.New(answer.Status))
	}
	return false, fmt.Errorf("--server=%s refused the request: %s", m.name, refused.Message)
}

func (m *Manager) errNotManager(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = fmt.Errorf("the response is larger than %d MiB", largestAnswer>>20)
	}
	return hint.Add(fmt.Errorf("--server=%s is not the --status-address of a taint-manager: %w", m.name, err),
		"Use the URL of its --status-address, not of its secure port or of the API server.")
}

// check returns an error unless a synced manager with this version of the API has answered.
func (m *Manager) check(about status.TypeMeta, state status.Manager) error {
	switch {
	case !strings.HasPrefix(about.APIVersion, "status.taint-manager/"):
		return m.errNotManager(errors.New("the response is not a Snapshot"))
	case about.APIVersion != status.APIVersion || about.Kind != status.KindSnapshot:
		return hint.Add(fmt.Errorf("--server=%s returned %s %s, but this version of taint-manager supports only %s", m.name,
			about.APIVersion, about.Kind, status.APIVersion), "Use the version of taint-manager that the server runs.")
	case !state.Synced:
		return hint.Add(fmt.Errorf("the manager at --server=%s has not read all pods and nodes yet", m.name),
			"Try again in a few seconds.")
	}
	return nil
}

// askAgainAfter is the minimum time between two requests for changes. It is less than the second after which the state
// is shown again, so that a request is made each time.
const askAgainAfter = 900 * time.Millisecond

// Followed is the state of a manager. It asks the manager for changes whenever the state is shown.
type Followed struct {
	from      *Manager
	namespace string   // in question; empty for all
	among     []string // nodes in question; empty for all

	asked     time.Time
	trouble   error     // why the manager did not answer
	at        time.Time // of the last answer, by the manager's clock
	tag       string    // of the last answer
	manager   status.Manager
	evictions map[string]status.Eviction
	nodes     map[string]status.Node
}

// Pending asks the manager once for its evictions of the pods in the namespace on these nodes; empty stands for all.
func (m *Manager) Pending(ctx context.Context, namespace string, nodes []string) (*foresight.Pending, error) {
	f, err := m.Follow(ctx, namespace, nodes)
	if err != nil {
		return nil, err
	}
	return f.pending(f.at), nil
}

// Follow requests the state once, so that a refusal is reported at once. It returns an error if the context ends first.
func (m *Manager) Follow(ctx context.Context, namespace string, nodes []string) (*Followed, error) {
	f := &Followed{from: m, namespace: namespace, among: nodes}
	f.ask(ctx)
	return f, cmp.Or(f.trouble, ctx.Err())
}

// ask requests the changes since the last answer, or the whole state, and applies the answer.
func (f *Followed) ask(ctx context.Context) {
	var c status.Changes
	f.asked = time.Now()
	changed, err := f.from.get(ctx, f.tag, &c)
	whole := c.Kind != status.KindChanges || f.tag == ""
	if changed && whole {
		err = f.from.check(c.TypeMeta, c.Manager)
	}
	if ctx.Err() != nil {
		return
	}
	f.trouble = err
	if !changed || err != nil {
		return
	}
	if whole {
		f.evictions, f.nodes = map[string]status.Eviction{}, map[string]status.Node{}
	}
	f.apply(&c)
}

func (f *Followed) apply(c *status.Changes) {
	f.at, f.tag, f.manager = c.At, c.Tag, c.Manager
	for i := range c.Evictions {
		f.evictions[c.Evictions[i].UID] = c.Evictions[i]
	}
	for _, uid := range c.Gone {
		delete(f.evictions, string(uid))
	}
	for _, n := range c.Nodes {
		f.nodes[n.Name] = n
	}
	for _, name := range c.NodesGone {
		delete(f.nodes, name)
	}
}

// News returns nil: a manager does not tell when something has changed.
func (f *Followed) News() <-chan struct{} { return nil }

// Pending returns the manager's evictions of the selected pods. If the manager does not answer, a note says why.
func (f *Followed) Pending(ctx context.Context) *foresight.Pending {
	if time.Since(f.asked) >= askAgainAfter {
		f.ask(ctx)
	}
	pending := f.pending(time.Now().Round(0))
	if f.trouble != nil {
		pending.Notes = append(pending.Notes, fmt.Sprintf("the manager does not answer, so this may be "+
			"out of date: %v", f.trouble))
	}
	return pending
}
