package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// How long a record of what has been seen to happen may take to get into the log, and how often to look.
const (
	auditDelay = 10 * time.Second
	auditPoll  = 10 * time.Millisecond
)

// audit reads what is added to the API server's audit log.
type audit struct {
	file  *os.File
	lines *bufio.Reader
}

// followAudit begins at the present end of the log.
func followAudit(path string) (*audit, error) {
	file, err := os.Open(path)
	if err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, fmt.Errorf("the audit log: %w", err)
	}
	return &audit{file: file, lines: bufio.NewReader(file)}, nil
}

func (a *audit) close() { _ = a.file.Close() }

// firstDelete is when the API server received the first DELETE of that pod. It waits for the record, which is
// written after the watch has shown that the pod is gone. It is to be asked once, as it reads on.
func (a *audit) firstDelete(ctx context.Context, pod string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, auditDelay)
	defer cancel()
	for {
		line, err := a.line(ctx)
		if err != nil {
			return time.Time{}, fmt.Errorf("looking for the DELETE of pod %s in the audit log: %w", pod, err)
		}
		var r struct {
			Verb      string
			ObjectRef struct{ Resource, Subresource, Name string }

			RequestReceivedTimestamp time.Time
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return time.Time{}, fmt.Errorf("the audit log: %w", err)
		}
		if r.Verb == "delete" && r.ObjectRef.Resource == "pods" && r.ObjectRef.Subresource == "" && r.ObjectRef.Name == pod {
			return r.RequestReceivedTimestamp, nil
		}
	}
}

// line is the next whole line; the last one may still be being written.
func (a *audit) line(ctx context.Context) ([]byte, error) {
	var line []byte
	for {
		part, err := a.lines.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err := pause(ctx, auditPoll); err != nil {
			return nil, err
		}
	}
}
