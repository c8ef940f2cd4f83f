package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/internal/config"
)

func TestLimitsAreOffUnlessTheyAreSet(t *testing.T) {
	for _, test := range []struct {
		qps       float32
		burst     int
		wantQPS   float32
		wantBurst int
	}{
		{0, 0, -1, 0},
		{-1, 0, -1, 0},
		{20, 0, 20, 20},
		{1.5, 0, 1.5, 2},
		{20, 30, 20, 30},
	} {
		c := config.Default()
		c.ClientConnection.QPS, c.ClientConnection.Burst = test.qps, test.burst
		if qps, burst := limits(c); qps != test.wantQPS || burst != test.wantBurst {
			t.Errorf("--kube-api-qps=%v --kube-api-burst=%d: got %v, %d; want %v, %d", test.qps, test.burst, qps, burst, test.wantQPS, test.wantBurst)
		}
	}
}

func TestTheLeaseHasAClientWithoutLimitsWhoseCallsEndInTime(t *testing.T) {
	for _, test := range []struct{ lease, renew, want time.Duration }{
		{15 * time.Second, 10 * time.Second, 5 * time.Second},
		{60 * time.Second, 50 * time.Second, 25 * time.Second},
		{60 * time.Second, 10 * time.Second, 5 * time.Second},
		{2 * time.Second, 1900 * time.Millisecond, time.Second},
	} {
		c := config.Default()
		c.ClientConnection.QPS = 20
		c.LeaderElection.LeaseDuration.Duration, c.LeaderElection.RenewDeadline.Duration = test.lease, test.renew
		made := leaseConfig(&rest.Config{}, c)
		if made.Timeout != test.want || made.QPS != -1 {
			t.Errorf("lease %s, renewal %s: got timeout %s and QPS %v, want %s and -1", test.lease, test.renew, made.Timeout, made.QPS, test.want)
		}
	}
}

func TestTheClientSaysWhoItIsAndSpeaksProtobuf(t *testing.T) {
	made := commonConfig(&rest.Config{}, config.Default(), "taint-manager/v1.2.3 (linux/amd64)")
	if made.UserAgent != "taint-manager/v1.2.3 (linux/amd64)" || made.ContentType != config.ContentTypeProtobuf || made.Timeout != 0 {
		t.Errorf("got %q, %q, %s", made.UserAgent, made.ContentType, made.Timeout)
	}
}

func TestADialerAndAWrapperOfTheConfigurationStay(t *testing.T) {
	dialed, wrapped := errors.New("dialed"), 0
	base := &rest.Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, dialed }}
	base.Wrap(func(next http.RoundTripper) http.RoundTripper { wrapped++; return next })
	for _, made := range []*rest.Config{separate(commonConfig(base, config.Default(), "")), leaseConfig(base, config.Default())} {
		made.WrapTransport(http.DefaultTransport)
		if _, err := made.Dial(t.Context(), "tcp", "a:1"); !errors.Is(err, dialed) {
			t.Errorf("got %v", err)
		}
	}
	if wrapped != 2 {
		t.Errorf("wrapped %d times, want 2", wrapped)
	}
}
