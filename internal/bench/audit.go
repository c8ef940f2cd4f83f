package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// audit reads what is added to the API server's audit log.
type audit struct{ file *os.File }

// followAudit begins at the present end of the log.
func followAudit(path string) (audit, error) {
	file, err := os.Open(path)
	if err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return audit{}, fmt.Errorf("the audit log: %w", err)
	}
	return audit{file}, nil
}

func (a audit) close() { _ = a.file.Close() }

// firstDelete is when the API server received the first DELETE of that pod, which has been answered. All
// that is in the log is read, so that it is to be asked once.
func (a audit) firstDelete(pod string) (time.Time, error) {
	lines := bufio.NewScanner(a.file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Verb      string
			ObjectRef struct{ Resource, Subresource, Name string }

			RequestReceivedTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return time.Time{}, fmt.Errorf("the audit log: %w", err)
		}
		if r.Verb == "delete" && r.ObjectRef.Resource == "pods" && r.ObjectRef.Subresource == "" && r.ObjectRef.Name == pod {
			return r.RequestReceivedTimestamp, nil
		}
	}
	if err := lines.Err(); err != nil {
		return time.Time{}, fmt.Errorf("the audit log: %w", err)
	}
	return time.Time{}, fmt.Errorf("the audit log has no DELETE of pod %s", pod)
}
