// Package dump reads the output of "kubectl get nodes,pods,pdb -A -o json" (or "-o yaml"), object by object.
//
// [Read] distinguishes JSON from YAML by itself. It accepts lists, arrays and single objects, lists within lists, and
// several documents one after the other. Of JSON it holds one object at a time, so a dump of any size is read in little
// memory; only items without a kind are held, if the kind of their list comes after them. YAML is limited to 64 MiB.
// The objects are Kubernetes' own types, without what is long and never needed, such as containers. Other kinds are
// skipped.
//
// Read refuses what would lack objects without a word: one page of a longer list, a list without "items", the answer to
// a request that failed, objects of which only the metadata is there, and an object whose apiVersion or kind does not
// exist, such as "kind: pod" or "kind: Podd".
//
// Read refuses a dump that is truncated or malformed, and names the place: the line at which a document of YAML begins,
// the byte in JSON. It finds a truncation anywhere in JSON, and in a YAML list as kubectl writes it; in YAML of single
// objects, a truncation between two lines looks like the end of the dump.
package dump

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Visit is called with each object in the order of the dump, as a *v1.Node, *v1.Pod, *policyv1.PodDisruptionBudget,
// *v1.Event, *v1.ConfigMap or *v1.Namespace. Objects of other kinds are skipped.
//
// times are the timestamps in the object: of its creation, heartbeats, conditions, taints and events. The dump is as
// new as the latest of all times, or a little newer.
type Visit func(object any, times []time.Time)

// The first bytes of compressed files, and the byte order marks with which some programs begin a text. PowerShell
// writes UTF-16 by default.
const (
	markGzip     = "\x1f\x8b"
	markZstd     = "\x28\xb5\x2f\xfd"
	markUTF8     = "\xef\xbb\xbf"
	markUTF16    = "\xff\xfe"
	markUTF16Big = "\xfe\xff"
)

// otherFormats are formats in which files are often passed on and that are not read, with their mark at a byte.
var otherFormats = []struct {
	name, mark string
	at         int
}{{"bzip2", "BZh", 0}, {"xz", "\xfd7zXZ", 0}, {"zip", "PK\x03\x04", 0}, {"tar", "ustar", 257}}

// Read reads a dump to its end. The error is a clause that says what is wrong with the dump and where; the caller
// must then discard the objects that it has received.
func Read(r io.Reader, to Visit) error {
	plain := bufio.NewReaderSize(r, 1<<16)
	switch {
	case beginsWith(plain, markGzip):
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return fmt.Errorf("it begins as gzip does, and is not: %w", err)
		}
		plain = bufio.NewReaderSize(unzipped, 1<<16)
	case beginsWith(plain, markZstd):
		unpacked, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return fmt.Errorf("it begins as zstd does, and is not: %w", err)
		}
		defer unpacked.Close()
		plain = bufio.NewReaderSize(unpacked, 1<<16)
	}
	return read(plain, &receiver{to: to})
}

// beginsWith reports whether the text begins with the mark. It consumes nothing.
func beginsWith(r *bufio.Reader, mark string) bool {
	ahead, _ := r.Peek(len(mark)) // the next read returns an error again
	return string(ahead) == mark
}

// read reads a dump that is not compressed.
func read(plain *bufio.Reader, to *receiver) error {
	if beginsWith(plain, markUTF8) {
		_, _ = plain.Discard(len(markUTF8)) // they are in the buffer
	}
	first, err := firstLine(plain)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case err != nil:
		return fmt.Errorf("reading it: %w", err)
	}
	if mistake := mistakenFor(first); mistake != "" {
		return errors.New(mistake)
	}
	if first[0] == '{' || first[0] == '[' {
		return readJSON(plain, to)
	}
	return readYAML(plain, to)
}

// firstLine returns the text from the first character that is not a space to the end of the line, without consuming
// it.
func firstLine(r *bufio.Reader) (string, error) {
	ahead, err := r.Peek(r.Size())
	if text := bytes.TrimSpace(ahead); len(text) > 0 { // the next read returns an error again
		line, _, _ := bytes.Cut(text, []byte("\n"))
		return string(bytes.TrimSpace(line)), nil
	}
	if err == nil {
		err = errors.New("it begins with nothing but spaces")
	}
	return "", err
}

// mistakenFor returns what a text with this first line is, if it is no dump; "" if it may be one.
func mistakenFor(line string) string {
	switch {
	case strings.HasPrefix(line, markUTF16), strings.HasPrefix(line, markUTF16Big):
		return "it is in UTF-16, as > of PowerShell writes it, where '| Out-File -Encoding utf8 FILE' takes its place"
	case line[0] == '<':
		return "it is HTML, so a login page or a proxy has answered, and not the API server"
	case strings.ToUpper(line) == line && strings.Contains(line, "   ") && !strings.ContainsAny(line, ":{[\"#"):
		return "it is a table for people, which lacks most fields"
	}
	for _, f := range otherFormats {
		if len(line) > f.at && strings.HasPrefix(line[f.at:], f.mark) {
			return "it is in the format " + f.name + ", where JSON and YAML are read, also compressed by gzip or zstd"
		}
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
