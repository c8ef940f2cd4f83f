package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Visit is called with each object in the order of the dump, as a *v1.Node, *v1.Pod, *policyv1.PodDisruptionBudget,
// *v1.Event, *v1.ConfigMap or *v1.Namespace. Objects of other kinds are skipped.
//
// times are the timestamps in the object: of its creation, heartbeats, conditions, taints and events. The dump is as
// new as the latest of all times, or a little newer.
type Visit func(object any, times []time.Time)

// Read reads a dump to its end. The error is a clause that says what is wrong with the dump and where; the caller
// must then discard the objects that it has received.
func Read(r io.Reader, to Visit) error {
	plain, done, err := decompressed(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return err
	}
	defer done()
	return read(plain, to)
}

// read reads a dump that is not compressed.
func read(buffered *bufio.Reader, to Visit) error {
	if err := skipMark(buffered); err != nil {
		return err
	}
	first, err := firstLine(buffered)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case err != nil:
		return fmt.Errorf("reading it: %w", err)
	}
	if mistake := mistakenFor(first); mistake != "" {
		return errors.New(mistake)
	}
	receiver := &receiver{to: to}
	if first[0] == '{' || first[0] == '[' {
		return readJSON(buffered, receiver)
	}
	return readYAML(buffered, receiver)
}

// mistakenFor returns what a text with this first line is, if it is no dump; "" if it may be one.
func mistakenFor(line string) string {
	switch {
	case line[0] == '<':
		return "it is HTML, so a login page or a proxy has answered, and not the API server"
	case strings.ToUpper(line) == line && strings.Contains(line, "   ") && !strings.ContainsAny(line, ":{[\"#"):
		return "it is a table for people, which lacks most fields"
	}
	for _, begin := range []string{
		"Error from server", "error: ", "No resources found", "Unable to connect", "The connection to the server",
	} {
		if strings.HasPrefix(line, begin) {
			return "it is a message of kubectl: " + beginning(strings.TrimSuffix(line, "."), 300)
		}
	}
	return ""
}

// cutOff is the error of a dump that is truncated after a number of objects.
func cutOff(place string, read int) error {
	return fmt.Errorf("it is cut off at %s, after %d whole objects", place, read)
}

// The byte order marks with which some programs begin a text. PowerShell writes UTF-16 by default.
var (
	markUTF8  = []byte{0xEF, 0xBB, 0xBF}
	markUTF16 = [][]byte{{0xFF, 0xFE}, {0xFE, 0xFF}}
)

// firstLine returns the text from the first character that is not a space to the end of the line, without consuming
// it.
func firstLine(r *bufio.Reader) (string, error) {
	ahead, err := r.Peek(r.Size())
	if text := bytes.TrimLeft(ahead, " \t\r\n"); len(text) > 0 { // the next read returns an error again
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return string(bytes.TrimSpace(line)), nil
	}
	if err == nil {
		err = errors.New("it begins with nothing but spaces")
	}
	return "", err
}

func skipMark(r *bufio.Reader) error {
	ahead, _ := r.Peek(len(markUTF8)) // the next read returns an error again
	for _, mark := range markUTF16 {
		if bytes.HasPrefix(ahead, mark) {
			return errors.New("it is in UTF-16, as PowerShell writes it; write it with '| Out-File -Encoding utf8 FILE'")
		}
	}
	if !bytes.Equal(ahead, markUTF8) {
		return nil
	}
	_, err := r.Discard(len(markUTF8))
	return err
}
