package fieldmask

import (
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
)

// Wrap returns a transport like next whose watches have only the fields that this program uses. It is made for
// rest.Config.Wrap.
func Wrap(next http.RoundTripper) http.RoundTripper { return masking{next} }

type masking struct{ next http.RoundTripper }

// RoundTrip sends the request, and replaces the body of a watch.
func (m masking) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := m.next.RoundTrip(r)
	if err == nil && isWatch(answer) {
		answer.Body = &stream{body: answer.Body}
		answer.ContentLength = -1
		answer.Header.Del("Content-Length")
	}
	return answer, err
}

// isWatch reports whether the body is a stream of events in protobuf.
func isWatch(answer *http.Response) bool {
	kind, parameters, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return err == nil && kind == runtime.ContentTypeProtobuf && parameters["stream"] == "watch"
}
