package load

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// HeldLabel is the label of the pods whose deletions a [Webhook] receives. Its value is "yes".
	HeldLabel = "held"

	webhookName  = "hold.example.com"
	webhookHolds = 30 * time.Second // the longest timeout that the API server permits
)

// Webhook is an admission webhook on loopback that holds each deletion of a pod with the label [HeldLabel] for 30 s,
// and then allows the deletion.
type Webhook struct {
	// Denial is the message with which all deletions are denied at once. If Denial is empty, deletions are held.
	Denial string

	server   *httptest.Server
	held     atomic.Int64
	released chan struct{}
	release  func()
}

// NewWebhook starts a webhook, which the API server does not know before [Webhook.Register].
func NewWebhook() *Webhook {
	h := &Webhook{released: make(chan struct{})}
	h.server = httptest.NewTLSServer(h)
	h.release = sync.OnceFunc(func() { close(h.released) })
	return h
}

// Held returns the number of deletions that the webhook has received since it was in force.
func (we *Webhook) Held() int { return int(we.held.Load()) }

// Release allows all deletions that are held, and all later deletions.
func (we *Webhook) Release() { we.release() }

// Close releases all deletions and ends the server.
func (we *Webhook) Close() { we.release(); we.server.Close() }

// ServeHTTP answers the API server.
func (we *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no AdmissionReview", http.StatusBadRequest)
		return
	}
	we.held.Add(1)
	response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: we.Denial == ""}
	if we.Denial == "" {
		we.hold(r.Context())
	} else {
		response.Result = &metav1.Status{Message: we.Denial}
	}
	review.Response, review.Request = response, nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server may have given up
}

func (we *Webhook) hold(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, webhookHolds)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-we.released:
	}
}

// Register makes the API server call the webhook when pods are deleted, and waits until it does, by dry runs of the
// deletion of this pod, which has the label [HeldLabel].
func (we *Webhook) Register(ctx context.Context, client kubernetes.Interface, held Identity) error {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: webhookName},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{we.registration()},
	}
	_, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, configuration,
		metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("registering the webhook: %w", err)
	}
	dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	var last error // as each call that the webhook holds fails, it counts only if no call is held
	called := func(ctx context.Context) (bool, error) {
		try, cancel := context.WithTimeout(ctx, 300*time.Millisecond) // the webhook holds the deletion for longer
		defer cancel()
		last = client.CoreV1().Pods(held.Namespace).Delete(try, held.Name, dryRun)
		return we.held.Swap(0) > 0, nil
	}
	if err := Until(ctx, "a call of the webhook", 20*time.Millisecond, webhookHolds, called); err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// registration returns a webhook that the API server calls.
func (we *Webhook) registration() admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name: webhookName,
		ClientConfig: admissionregistrationv1.WebhookClientConfig{
			URL:      &we.server.URL,
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: we.server.Certificate().Raw}),
		},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Delete},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"},
			},
		}},
		ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{HeldLabel: "yes"}},
		TimeoutSeconds:          new(int32(webhookHolds / time.Second)),
		FailurePolicy:           new(admissionregistrationv1.Ignore),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}
}

// Unregister makes the API server forget the webhook. It tries again for some seconds if the API server is too slow.
func (we *Webhook) Unregister(ctx context.Context, client kubernetes.Interface) error {
	configurations := client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	err := Patiently(func() error { return configurations.Delete(ctx, webhookName, metav1.DeleteOptions{}) })
	if err != nil && !apierrors.IsNotFound(err) { // a try that timed out may have removed it
		return fmt.Errorf("removing the webhook: %w", err)
	}
	return nil
}
