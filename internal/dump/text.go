package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// message is a line that kubectl writes to its standard error.
var message = regexp.MustCompile(`^(Warning: |[EWI][0-9]{4} [0-9:.]+ )`)

// objectLines reads a text in which messages of kubectl and the logs of containers, which "kubectl cluster-info dump"
// writes to the standard output, become empty lines.
type objectLines struct {
	from   *bufio.Reader
	rest   []byte // of the line that has been read, or of a part of it
	long   bool   // the next part continues the line
	number int    // of the line

	skip bool   // the line is no part of an object
	logs bool   // there were logs
	log  []byte // the line that ends the log that is being skipped
	err  error  // that ends the text
}

func (l *objectLines) Read(p []byte) (n int, _ error) {
	for n < len(p) && (len(l.rest) > 0 || l.next()) {
		copied := copy(p[n:], l.rest)
		l.rest = l.rest[copied:]
		n += copied
	}
	if n == 0 {
		return 0, l.err
	}
	return n, nil
}

// next reads a line, or a part of a long one. It returns false at the end.
func (l *objectLines) next() bool {
	for l.rest = nil; l.err == nil && len(l.rest) == 0; {
		l.rest, l.err = l.from.ReadSlice('\n')
		if !l.long {
			l.number++
			l.skip = l.skips(l.rest)
		}
		if l.long = errors.Is(l.err, bufio.ErrBufferFull); l.long {
			l.err = nil
		}
		if l.skip {
			l.rest = l.rest[len(bytes.TrimRight(l.rest, "\n")):]
		}
	}
	return len(l.rest) > 0
}

// failure returns the error, or a clause that explains it if the text ends where it must not.
func (l *objectLines) failure(err error) error {
	switch ended := errors.Is(l.err, io.EOF); {
	case l.err != nil && !ended:
		return fmt.Errorf("reading it failed after line %d: %w", l.number-1, l.err)
	case ended && l.log != nil:
		return fmt.Errorf("it is truncated within a log, where %q is missing", l.log)
	}
	return err
}

// skips reports whether a line is a message, or in a log.
func (l *objectLines) skips(line []byte) bool {
	what, begins := bytes.CutPrefix(line, []byte("==== START logs for "))
	switch {
	case l.log == nil && begins:
		l.logs, l.log = true, append([]byte("==== END logs for "), bytes.TrimRight(what, "\r\n")...)
	case l.log == nil:
		return len(line) > 0 && strings.IndexByte("WEI", line[0]) >= 0 && message.Match(line)
	case bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), l.log): // the log may end without a line break
		l.log = nil
	}
	return true
}

var re = regexp.MustCompile // for which a byte that is not UTF-8 is U+FFFD

// noEvidence has what is often kept of a cluster and has no objects that can be read, by its first line. What is beside
// objects in a folder is skipped there.
var noEvidence = []struct {
	begins *regexp.Regexp
	beside bool
	what   string // %s is the first line
}{
	{re(`^\x{FFFD}+.?\0`), false, "it is in UTF-16 (in PowerShell, use '| Out-File -Encoding utf8 FILE' instead of >)"},
	{re(`^$`), false, "it is empty"},
	{re(`^<`), false, "it is HTML: a login page or a proxy answered instead of the API server"},
	{re(`^7z\x{FFFD}{2}'\x1c`), false, "it is a 7z archive (only tar and zip archives are supported)"},
	{re(`^.{16}\x{FFFD}{2}\f`), false, "it is a snapshot of etcd, which cannot be parsed"},
	{re(`^(# HELP |# TYPE |kube_)`), false, "it contains metrics, which lack tolerations"},
	{re(`^(Error from server|error: |No resources|Unable to |The connection to)`), false, "it is a kubectl message: %s"},
	{re(`^Name:  `), true, "it is the output of kubectl describe, which cannot be parsed"},
	{re(`^\{"kind":"Event","apiVersion":"audit\.k8s\.io/`), true, "it is an audit log, which lacks most objects"},
	{re(`^[^a-z:{\["#]*   [^a-z:{\["#]*$`), true, "it is a human-readable table, which lacks most fields"},
}

// yamlReader reads YAML one piece at a time: a document, or an item of a list or an array as kubectl writes it, which
// begins with a dash at the left margin. A second apiVersion or kind there begins another document, as in files that
// were appended to each other.
type yamlReader struct {
	*reader

	number int    // of the line
	piece  []byte // whole lines
	begins int    // the line at which it begins
	skip   bool   // the last line is in a long member

	seen  map[string]bool // whether the document has an apiVersion and a kind at the left margin
	list  *object         // which the document is; nil if it is none
	items bool            // a line with a dash begins an item, of the list or of an array
}

func (y *yamlReader) read() error {
	lines := bufio.NewScanner(y.lines)
	lines.Buffer(nil, mostParsed)
	for lines.Scan() && len(y.piece)+len(lines.Bytes()) < mostParsed {
		y.number++
		if err := y.add(bytes.TrimRight(lines.Bytes(), " \r")); err != nil {
			return err
		}
	}
	switch err := y.lines.failure(nil); {
	case err != nil:
		return err
	case len(y.piece)+len(lines.Bytes()) >= mostParsed, lines.Err() != nil:
		const what = "the YAML at line %d has more than %d MiB without an end; write it with -o json"
		return fmt.Errorf(what, y.begins, mostParsed>>20)
	}
	return y.add([]byte("---"))
}

// add ends the piece and the document that end before this line, and adds the line to the piece to which it belongs.
func (y *yamlReader) add(line []byte) (err error) {
	name, _, _ := bytes.Cut(line, []byte(":"))
	ends := bytes.HasPrefix(line, []byte("---")) || string(line) == "..."
	if margin := len(line) > 0 && strings.IndexByte(" \t#", line[0]) < 0; margin && y.items {
		err = y.pass()
		y.items = line[0] == '-'
	}
	if err == nil && (ends || y.seen[string(name)]) {
		err = y.finish()
		y.items = ends
	}
	switch {
	case err != nil:
		return err
	case ends:
		line = line[len("---"):] // what follows is the next document's
	case string(name) == "apiVersion", string(name) == "kind":
		y.seen[string(name)] = true
	case y.list == nil && string(line) == "items:":
		y.line = y.begins
		y.list = &object{at: y.place(), hasItems: true, members: jsontext.Value("{")}
		err = y.pass()
		y.items = true
		return err
	}
	y.take(line)
	return nil
}

// long has the members of a spec or a status that are most of a pod or a node, and that no answer needs.
var long = map[string]bool{"containers:": true, "initContainers:": true, "volumes:": true, "images:": true}

// take adds a line to the piece. The line becomes empty, so that lines count on, if it belongs to a long member in the
// form of kubectl: parsing YAML takes time.
func (y *yamlReader) take(line []byte) {
	text := bytes.TrimLeft(line, " \t")
	column := len(line) - len(text) // of the text, from that of the members of the object
	if y.items {
		column -= len("- ")
	}
	blank := len(text) == 0 || text[0] == '#'
	if len(y.piece) == 0 {
		if blank {
			return
		}
		y.begins, y.skip = y.number, false
	}
	if !blank && (column < 2 || column == 2 && text[0] != '-') {
		y.skip = column == 2 && long[string(text)]
	}
	if !y.skip {
		y.piece = append(y.piece, line...)
	}
	y.piece = append(y.piece, '\n')
}

// pass passes on the piece: a document, an array with one item or, beside the items of a list, its members.
func (y *yamlReader) pass() error {
	text, err := yaml.YAMLToJSONStrict(y.piece)
	if err != nil {
		cause := truncate.Text(strings.Join(strings.Fields(err.Error()), " ")) // it has a line for each duplicate key
		return fmt.Errorf("invalid document at line %d (lines are counted from there): %s", y.begins, cause)
	}
	y.line, y.begins, y.piece = y.begins, y.number, y.piece[:0]
	y.Reset(bytes.NewBuffer(text), lenient)
	switch {
	case string(text) == "null":
		return nil
	case y.list != nil && !y.items && text[0] == '{':
		return y.fill(y.list)
	}
	return y.value(y.list)
}

func (y *yamlReader) finish() error {
	err := y.pass()
	list := y.list
	if y.list, y.held = nil, 0; list != nil && err == nil {
		err = y.reader.take(list, nil)
	}
	clear(y.seen)
	return err
}
