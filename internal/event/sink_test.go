package event

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestTheSinkPostsACoreEvent(t *testing.T) {
	var target string
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target = r.Method + " " + r.URL.RequestURI()
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	want := podEvent(new(marking()))
	stamp(want, time.Now(), 1)
	if err := sinkTo(t, server.URL)(context.Background(), want); err != nil {
		t.Fatal(err)
	}
	var got v1.Event
	if err := json.Unmarshal(body, &got); err != nil || target != "POST /api/v1/namespaces/shop/events" {
		t.Fatalf("%s of %s: %v", target, body, err)
	}
	if got.Kind != "Event" || got.APIVersion != "v1" || got.Name != want.Name || got.Message != want.Message {
		t.Errorf("sent %s", body)
	}
}

func sinkTo(t *testing.T, url string) Sink {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return NewSink(client)
}
