package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// AuditRecord is a request that the API server has logged.
type AuditRecord struct {
	Verb string
	User struct{ Username string }

	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct{ Code int }

	RequestReceivedTimestamp time.Time
}

// ReadAuditLog returns all records that the API server has written to its audit log.
func ReadAuditLog(path string) (list []AuditRecord, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // the API server may be writing the last line
	for line := range bytes.Lines(whole) {
		var r AuditRecord
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		list = append(list, r)
	}
	return list, nil
}
