//go:build !race

package run

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestIdleConnectionsOfAStrangerCostLittleAndKeepNobodyOut serves over TLS. Another process, the stranger, opens 3000
// connections and keeps them, then opens more as fast as it can.
func TestIdleConnectionsOfAStrangerCostLittleAndKeepNobodyOut(t *testing.T) {
	address := serveTLS(t)
	probe := func() {
		t.Helper()
		began := time.Now()
		if code := getTLS(t, address, "/livez"); code != http.StatusOK || time.Since(began) > 5*time.Second {
			t.Errorf("a probe was answered with %d after %v, want 200 within the timeout of the manifests' probes", code, time.Since(began))
		}
	}
	probe()
	before := residentMemory(t)
	stranger := exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestStranger", "-test.v")
	stranger.Env = append(os.Environ(), "STRANGER_OF="+address)
	out, err := stranger.StdoutPipe()
	must(t, err)
	must(t, stranger.Start())
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "3000 opened") {
	}
	cost := residentMemory(t) - before
	t.Logf("3000 idle connections cost %.1f MB", float64(cost)/1e6)
	if cost > 20e6 {
		t.Errorf("3000 idle connections cost %.1f MB, want less than 20 MB", float64(cost)/1e6)
	}
	for range 20 {
		probe()
	}
}

// TestStranger is the process of a stranger. It runs only as a child of the test above.
func TestStranger(t *testing.T) {
	address := os.Getenv("STRANGER_OF")
	if address == "" {
		t.Skip("this is the child of another test")
	}
	var kept []net.Conn
	for n := 0; ; n++ {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 5 * time.Second}
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			continue // it has no more ports or files
		}
		kept = append(kept, conn)
		if n < 3000 {
			_ = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}).Handshake()
		} else if len(kept) > 4000 {
			_ = kept[n-4000].Close()
		}
		if n == 3000 {
			fmt.Println("3000 opened")
		}
	}
}

// residentMemory returns the resident memory of this process in bytes.
func residentMemory(t *testing.T) (bytes int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err) // not Linux
	}
	_, line, _ := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(line, &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10
}
