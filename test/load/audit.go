package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A Request is a request in the API server's audit log.
type Request struct {
	Verb string
	User struct{ Username string }

	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct{ Code int }

	RequestReceivedTimestamp, StageTimestamp time.Time
	RequestObject, ResponseObject            json.RawMessage // at the level RequestResponse
}

// ReadAudit returns the requests in an audit log, without a last line that the API server has not finished.
func ReadAudit(path string) (list []Request, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	for line := range bytes.Lines(text[:bytes.LastIndexByte(text, '\n')+1]) {
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w: %.200s", err, line)
		}
		list = append(list, r)
	}
	return list, nil
}
