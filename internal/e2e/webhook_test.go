package e2e

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// holdingWebhook is an admission webhook that delays the deletion of every pod with the label "held" for 30 s, and
// then allows it.
type holdingWebhook struct {
	*httptest.Server
	held     atomic.Int64 // requests received
	released chan struct{}
	release  func() // nothing is delayed after it is called
	denial   string // if it is set, all deletions are denied at once with this message
}

const holds = 30 * time.Second

func newHoldingWebhook(t *testing.T) *holdingWebhook {
	h := &holdingWebhook{released: make(chan struct{})}
	h.Server = httptest.NewTLSServer(h)
	h.release = sync.OnceFunc(func() { close(h.released) })
	t.Cleanup(func() { h.release(); h.Close() })
	return h
}

func (h *holdingWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no AdmissionReview", http.StatusBadRequest)
		return
	}
	h.held.Add(1)
	if h.denial != "" {
		h.answer(w, &review, &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: h.denial}})
		return
	}
	select {
	case <-time.After(holds): //nolint:forbidigo // this tests the API server's real timeout
	case <-h.released:
	case <-r.Context().Done():
	}
	h.answer(w, &review, &admissionv1.AdmissionResponse{Allowed: true})
}

func (h *holdingWebhook) answer(w http.ResponseWriter, review *admissionv1.AdmissionReview, response *admissionv1.AdmissionResponse) {
	response.UID = review.Request.UID
	review.Response, review.Request = response, nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server may have given up
}

// register makes the API server call the webhook when pods are deleted: as a validating webhook, and if twice is
// set also as a mutating one before that.
func (h *holdingWebhook) register(t *testing.T, w *world, twice bool) {
	t.Helper()
	const name = "hold.example.com"
	client := w.admin.AdmissionregistrationV1()
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: name, ClientConfig: h.clientConfig(), Rules: deletionsOfPods(), ObjectSelector: labelled(),
			TimeoutSeconds: ptr.To(int32(holds / time.Second)), FailurePolicy: ptr.To(admissionregistrationv1.Ignore),
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: name, ClientConfig: h.clientConfig(), Rules: deletionsOfPods(), ObjectSelector: labelled(),
			TimeoutSeconds: ptr.To(int32(holds / time.Second)), FailurePolicy: ptr.To(admissionregistrationv1.Ignore),
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	if _, err := client.ValidatingWebhookConfigurations().Create(t.Context(), validating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.ValidatingWebhookConfigurations().Delete(afterwards(t), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	if !twice {
		return
	}
	if _, err := client.MutatingWebhookConfigurations().Create(t.Context(), mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.MutatingWebhookConfigurations().Delete(afterwards(t), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func (h *holdingWebhook) clientConfig() admissionregistrationv1.WebhookClientConfig {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	return admissionregistrationv1.WebhookClientConfig{URL: &h.URL, CABundle: bundle}
}

func deletionsOfPods() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Delete},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}
}

func labelled() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"held": "yes"}}
}
