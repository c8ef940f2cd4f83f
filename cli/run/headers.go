package run

import "net/http"

// maxHeaderBytes is the maximum size of the headers of a request to the secure port. A service account's token has 2 kB
// at most. The API server is asked about each token, so a stranger's long token costs both processes.
const maxHeaderBytes = 16 << 10

// boundHeaders refuses requests with headers of more than maxHeaderBytes before they reach the next handler.
func boundHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		size := 0
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value)
			}
		}
		if size > maxHeaderBytes {
			http.Error(answer, "the headers have more than 16 KiB", http.StatusRequestHeaderFieldsTooLarge)
			return
		}
		next.ServeHTTP(answer, r)
	})
}
