package cli

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/config"
)

func TestWatchesSpeakHTTP1AndCallsHTTP2(t *testing.T) {
	spoken := make(chan int, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { spoken <- r.ProtoMajor }))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	base := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	for want, made := range map[int]*rest.Config{
		1: watchConfig(base, config.Default(), build{}),
		2: mainConfig(base, config.Default(), build{}),
	} {
		client, err := rest.HTTPClientFor(made)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := <-spoken; got != want {
			t.Errorf("got HTTP/%d, want HTTP/%d", got, want)
		}
	}
}

func TestAConnectionThatIsSilentForTooLongFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		began, conn := time.Now(), newWatchConn(here)
		go func() {
			time.Sleep(quiet - time.Second)
			_, _ = there.Write([]byte("x"))
		}()
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatalf("what came in time: %v", err)
		}
		_, err := conn.Read(make([]byte, 1))
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != 2*quiet-time.Second {
			t.Errorf("got %v after %v, want a deadline that is exceeded after %v", err, took, 2*quiet-time.Second)
		}
	})
}
