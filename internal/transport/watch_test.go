package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/config"
)

func TestWatchesSpeakHTTP1AndCallsHTTP2(t *testing.T) {
	spoken := make(chan int, 1)
	base := serve(t, func(_ http.ResponseWriter, r *http.Request) { spoken <- r.ProtoMajor })
	for want, made := range map[int]*rest.Config{
		1: watchConfig(base, config.Default(), ""),
		2: commonConfig(base, config.Default(), ""),
	} {
		client, err := rest.HTTPClientFor(made)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base.Host, nil)
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
		defer func() { _ = there.Close() }()
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

func TestAWatchsConnectionYieldsWhatComesAndThenTheEnd(t *testing.T) {
	here, there := connected(t)
	sent := bytes.Repeat([]byte("an event of some length "), 10_000) // more than is read ahead
	go func() {
		for part := range slices.Chunk(sent, 7001) {
			_, _ = there.Write(part)
		}
		_ = there.Close()
	}()
	if n, err := here.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: got %d bytes and %v", n, err)
	}
	got, err := io.ReadAll(here)
	must(t, err)
	if !bytes.Equal(got, sent) {
		t.Errorf("got %d bytes, want the %d that were sent", len(got), len(sent))
	}
}

func TestWhatReadsLightlyFailsAsOthersDo(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(here, there net.Conn)
		want    error
	}{
		"its deadline passes":    {func(here, _ net.Conn) { must(t, here.SetReadDeadline(time.Now())) }, os.ErrDeadlineExceeded},
		"it is closed":           {func(here, _ net.Conn) { must(t, here.Close()) }, net.ErrClosed},
		"the peer breaks it off": {func(_, there net.Conn) { must(t, there.(*net.TCPConn).SetLinger(0)); must(t, there.Close()) }, syscall.ECONNRESET},
		"the peer ends it":       {func(_, there net.Conn) { must(t, there.Close()) }, io.EOF},
	} {
		for _, before := range []bool{true, false} {
			here, there := connected(t)
			if before {
				test.happens(here, there)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := here.(watchConn).ahead.Read(make([]byte, 10))
				ended <- err
			}()
			if !before {
				test.happens(here, there)
			}
			if err := <-ended; !errors.Is(err, test.want) {
				t.Errorf("%s, before it reads %v: got %v, want %v", name, before, err, test.want)
			}
		}
	}
}

// serve starts a server that also speaks HTTP/2, and returns its address as a configuration.
func serve(t *testing.T, handle http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// connected returns a watch's connection and its peer's end.
func connected(t *testing.T) (here, there net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	here, err = dialWatch(t.Context(), "tcp", listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = here.Close() })
	there, err = listener.Accept()
	must(t, err)
	t.Cleanup(func() { _ = there.Close() })
	return here, there
}
