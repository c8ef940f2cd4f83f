package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/config"
)

// slowConn sends only when it is let, and remembers what it was to send at once.
type slowConn struct {
	net.Conn
	let    chan error
	sends  []string
	closed bool
}

func (c *slowConn) Write(b []byte) (int, error) {
	c.sends = append(c.sends, string(b))
	return len(b), <-c.let
}

func (c *slowConn) Close() error {
	c.closed = true
	return nil
}

func TestWhatIsWrittenDuringASendIsSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &slowConn{let: make(chan error)}
		g := newGatherer(conn)
		write(t, g, "a")
		synctest.Wait()
		for _, text := range []string{"b", "c", "d"} {
			write(t, g, text)
		}
		conn.let <- nil
		conn.let <- nil
		write(t, g, "e")
		conn.let <- nil
		synctest.Wait()
		if got := strings.Join(conn.sends, " "); got != "a bcd e" {
			t.Errorf("got the sends %q, want %q", got, "a bcd e")
		}
	})
}

func TestAFailedSendClosesTheConnectionAndFailsWhatIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, broken := &slowConn{let: make(chan error)}, errors.New("broken")
		g := newGatherer(conn)
		write(t, g, "a")
		synctest.Wait()
		write(t, g, "b") // is lost with the connection
		conn.let <- broken
		synctest.Wait()
		if _, err := g.Write([]byte("c")); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		if len(conn.sends) != 1 || !conn.closed {
			t.Errorf("got the sends %q, closed %v; want the first alone, and true", conn.sends, conn.closed)
		}
	})
}

func TestWritersWaitWhileMuchIsToBeSent(t *testing.T) {
	for name, outcome := range map[string]error{"until it is sent": nil, "until that fails": errors.New("broken")} {
		synctest.Test(t, func(t *testing.T) {
			conn := &slowConn{let: make(chan error)}
			g := newGatherer(conn)
			write(t, g, "a")
			synctest.Wait()
			write(t, g, strings.Repeat("b", mostWaiting))
			wrote := make(chan error, 1)
			go func() {
				_, err := g.Write([]byte("c"))
				wrote <- err
			}()
			synctest.Wait()
			if len(wrote) != 0 {
				t.Errorf("%s: it did not wait", name)
			}
			conn.let <- outcome
			close(conn.let) // all that comes later is sent at once
			if err := <-wrote; !errors.Is(err, outcome) {
				t.Errorf("%s: got %v, want %v", name, err, outcome)
			}
		})
	}
}

func TestWhatManyWriteArrivesWholeAndInTheOrderOfEach(t *testing.T) {
	const writers, each = 8, 2000
	here, there := net.Pipe()
	g := newGatherer(here)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				_, _ = fmt.Fprintf(g, "%d %06d\n", w, i)
			}
		})
	}
	got := make([]byte, writers*each*len("0 000000\n"))
	_, err := io.ReadFull(there, got)
	must(t, err)
	writing.Wait()
	next := make([]int, writers)
	for line := range bytes.Lines(got) {
		var w, i int
		if _, err := fmt.Sscanf(string(line), "%d %d\n", &w, &i); err != nil || next[w] != i {
			t.Fatalf("got %q, want number %d of its writer (%v)", line, next[w], err)
		}
		next[w]++
	}
}

func TestManyCallsAtOnceGetTheirOwnAnswers(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	client, err := rest.HTTPClientFor(mainConfig(base, config.Default(), build{}))
	must(t, err)
	defer client.CloseIdleConnections()
	var calls sync.WaitGroup
	for i := range 32 {
		calls.Go(func() {
			for k := range 20 {
				// From a byte to much more than may wait to be sent.
				text := strings.Repeat("x", 1+(20*i+k)*500)
				if err := echoed(t, client, base.Host, text); err != nil {
					t.Errorf("call %d of worker %d: %v", k, i, err)
				}
			}
		})
	}
	calls.Wait()
}

func echoed(t *testing.T, client *http.Client, url, text string) error {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err == nil && string(got) != text {
		err = fmt.Errorf("got %d bytes, want the %d that were sent", len(got), len(text))
	}
	return err
}

func write(t *testing.T, g *gatherer, text string) {
	t.Helper()
	if n, err := g.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("writing %d bytes: got %d and %v", len(text), n, err)
	}
}
