package run

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// tokenReviewer returns a kubeconfig for an API server that knows no token, and the number of tokens that it was asked
// about.
func tokenReviewer(t *testing.T) (kubeconfig string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": map[string]any{"authenticated": false},
		})
	}))
	t.Cleanup(api.Close)
	return kubeconfigOf(t, api.URL), asked
}

// kubeconfigOf writes a kubeconfig for an API server, and returns its name.
func kubeconfigOf(t *testing.T, server string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(file, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: a,
		clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {}}]}`,
		server), 0o600))
	return file
}

func TestTheAPIServerIsNotAskedAboutTheLongTokenOfAStranger(t *testing.T) {
	kubeconfig, asked := tokenReviewer(t)
	address := serveTLS(t, func(s *settings) {
		s.authentication.RemoteKubeConfigFile, s.authentication.SkipInClusterLookup = kubeconfig, true
		s.authorization.RemoteKubeConfigFile = kubeconfig
	})
	for _, http2 := range []bool{false, true} {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: http2, DisableKeepAlives: true,
		}}
		for _, test := range []struct {
			bytes, code int
			asks        int32
		}{
			{12_000, http.StatusUnauthorized, 1},
			{17_000, http.StatusRequestHeaderFieldsTooLarge, 0},
			{900_000, http.StatusRequestHeaderFieldsTooLarge, 0},
		} {
			before := asked.Load()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/healthz", nil)
			must(t, err)
			request.Header.Set("Authorization", fmt.Sprintf("Bearer %t%s", http2, strings.Repeat("a", test.bytes)))
			answer, err := client.Do(request)
			must(t, err)
			_ = answer.Body.Close()
			if asks := asked.Load() - before; answer.StatusCode != test.code || asks != test.asks {
				t.Errorf("HTTP/2 %t, a token of %d bytes: got %d, and the API server was asked about %d tokens; want %d and %d",
					http2, test.bytes, answer.StatusCode, asks, test.code, test.asks)
			}
		}
	}
}
