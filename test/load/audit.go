package load

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

// auditPoll is how often the audit log is read for a new line.
const auditPoll = 10 * time.Millisecond

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

// AuditLog reads the API server's audit log, record by record.
type AuditLog struct {
	file  *os.File
	lines *bufio.Reader
}

// OpenAuditLog opens the log at its beginning, or at its present end.
func OpenAuditLog(path string, atEnd bool) (*AuditLog, error) {
	file, err := os.Open(path)
	if err == nil && atEnd {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	return &AuditLog{file: file, lines: bufio.NewReader(file)}, nil
}

// Close closes the file.
func (a *AuditLog) Close() { _ = a.file.Close() }

// Rest returns all records up to the present end of the log.
func (a *AuditLog) Rest() (list []AuditRecord, err error) {
	for {
		line, err := a.lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		r, err := parse(line)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
}

// Next waits for the next record.
func (a *AuditLog) Next(ctx context.Context) (AuditRecord, error) {
	var line []byte
	for {
		part, err := a.lines.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			return parse(line)
		}
		if !errors.Is(err, io.EOF) {
			return AuditRecord{}, fmt.Errorf("reading the audit log: %w", err)
		}
		if err := Pause(ctx, auditPoll); err != nil {
			return AuditRecord{}, err
		}
	}
}

func parse(line []byte) (r AuditRecord, err error) {
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("reading the audit log: %w", err)
	}
	return r, nil
}
