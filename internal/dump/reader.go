package dump

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// lenient are the options to accept the texts that package encoding/json accepts. In an object that is read, no name
// may be there twice.
var (
	oneOfEach = jsontext.AllowInvalidUTF8(true)
	lenient   = json.JoinOptions(oneOfEach, jsontext.AllowDuplicateNames(true))
)

// Bytes, at most. Objects of JSON that are not read are skipped; what is parsed may take 400 times as many.
const (
	largest    = 32 << 20 // of an object of JSON
	mostParsed = 3 << 20  // of an object that is read, as the API server accepts, and of a piece of YAML
	mostHeld   = 1 << 28  // of the items that wait for the kind of their list
)

// jsonBegins is the first line of JSON: in YAML of one line, names have no quotes.
var jsonBegins = regexp.MustCompile(`^(\[|\{\s*(["}]|$))`)

// reader reads the objects of a file, and lists and arrays of objects, however they are nested. It holds one object at
// a time, and refuses what an API server does not have.
type reader struct {
	*jsontext.Decoder
	tree       *Tree
	collection *Collection
	file       place
	lines      *objectLines
	text       io.LimitedReader // of JSON, up to the end of the largest object
	spare      jsontext.Value   // memory for the members of the next object
	begins     int64            // the byte of JSON near which the object being read begins
	line       int              // the line at which the piece of YAML begins that is being read; 0 in JSON

	promising bool // a file with objects that are read
	held      int  // bytes of the items that wait for the kind of their list, in a list that is in no other
}

// object is an object or a list. Its members are decoded when its kind is known.
type object struct {
	apiVersion, kind string
	members          jsontext.Value // all others; while they are read, with a comma after each, and not closed

	at       string    // where it is: in a document of YAML, or near a byte of JSON
	listed   bool      // it is in a list or an array
	hasItems bool      // it has items, which are passed on while the list is read
	waiting  []*object // items that wait for an apiVersion or a kind that comes after them
}

// foreign reports whether an apiVersion is that of another group than those of the kinds that are read, which have no
// dot. Kinds of such groups may have any name.
func (o *object) foreign() bool {
	group, _, _ := strings.Cut(o.apiVersion, "/")
	return strings.Contains(group, ".")
}

// isList reports whether the kind is that of a list. In the groups of the kinds that are read, it may be misspelt.
func (o *object) isList() bool {
	return strings.HasSuffix(o.kind, "List") || !o.foreign() && strings.HasSuffix(strings.ToLower(o.kind), "list")
}

// inherit takes the apiVersion and the kind, which items of the API server's own lists do not have, from the list, as
// far as the list has been read.
func (o *object) inherit(list *object) {
	o.apiVersion = cmp.Or(o.apiVersion, list.apiVersion)
	if list.isList() {
		o.kind = cmp.Or(o.kind, list.kind[:len(list.kind)-len("List")])
	}
}

// all reads a file that is not compressed. The error is a clause that says what is wrong with it and where.
func (r *reader) all() error {
	for r.lines.next() && len(bytes.TrimSpace(r.lines.rest)) == 0 {
	}
	r.lines.rest = bytes.TrimPrefix(r.lines.rest, []byte("\ufeff")) // some programs begin UTF-8 with a byte order mark
	first := string(bytes.TrimSpace(r.lines.rest))
	for _, f := range noEvidence {
		switch {
		case !f.begins.MatchString(first):
			continue
		case f.beside && !r.file.alone():
			return nil
		}
		return errors.New(strings.Replace(f.what, "%s", truncate.Text(strings.TrimSuffix(first, ".")), 1))
	}
	if jsonBegins.MatchString(first) {
		return r.json()
	}
	return (&yamlReader{reader: r, number: r.lines.number - 1, seen: map[string]bool{}, items: true}).read()
}

// value reads an object, a list or an array, in this list; nil is none. It returns io.EOF at the end of the text.
func (r *reader) value(list *object) error {
	r.begins, r.text.N = r.InputOffset(), largest
	switch r.PeekKind() {
	case '[':
		return contents(r.Decoder, func(string) error { return r.value(list) })
	case '{':
		o := &object{at: r.place(), listed: r.StackDepth() > 0, members: append(r.spare[:0], '{')}
		r.spare = nil
		if err := r.fill(o); err != nil {
			return err
		}
		return r.take(o, list)
	}
	value, err := r.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("expected a Kubernetes object, found %s %s", truncate.Text(string(value)), r.place())
}

// fill may be called more than once for a list.
func (r *reader) fill(o *object) error {
	return contents(r.Decoder, func(name string) error { return r.member(o, name) })
}

// contents reads an array or an object, of which read reads an element, or the value of the member of this name.
func contents(d *jsontext.Decoder, read func(name string) error) error {
	begin, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' && d.PeekKind() != '}' {
		var name jsontext.Token
		if begin.Kind() == '{' {
			name, err = d.ReadToken()
		}
		if err == nil {
			err = read(name.String())
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return err
}

func (r *reader) member(o *object, name string) error {
	if name == "items" && (o.kind == "" || o.isList()) {
		o.hasItems = r.PeekKind() == '[' || r.PeekKind() == 'n'
		if r.PeekKind() == '[' {
			return r.value(o)
		}
	}
	value, err := r.ReadValue()
	switch name {
	case "apiVersion":
		_ = json.Unmarshal(value, &o.apiVersion, lenient) // it stays empty if it is no text
	case "kind":
		_ = json.Unmarshal(value, &o.kind, lenient)
	default:
		o.members, _ = jsontext.AppendQuote(o.members, cmp.Or(coreNames[name], name)) // invalid UTF-8 is replaced
		o.members = append(append(append(o.members, ':'), value...), ',')
	}
	return err
}

// take passes on a list, or an object of this list; nil is none.
func (r *reader) take(o, list *object) error {
	o.members = append(bytes.TrimSuffix(o.members, []byte(",")), '}')
	r.spare = o.members
	switch {
	case o.hasItems:
		return r.list(o)
	case list == nil:
		return r.pass(o)
	}
	if o.inherit(list); o.apiVersion != "" && o.kind != "" {
		return r.pass(o)
	}
	o.members = o.members.Clone()
	list.waiting = append(list.waiting, o)
	if r.held += len(o.members) + int(unsafe.Sizeof(*o)); r.held > mostHeld {
		return fmt.Errorf("the list %s has its kind after more than %d MiB; use -o json", list.at, mostHeld>>20)
	}
	return nil
}

// list passes on the items that wait for the end of the list. It returns an error if the list is one page of a longer
// list, or if it has no kind in YAML: kubectl writes the kind after the items.
func (r *reader) list(o *object) error {
	switch {
	case r.line > 0 && o.kind == "":
		return fmt.Errorf("the list %s has no kind, so it may be truncated", o.at)
	case o.tell().Metadata.Continue != "":
		return fmt.Errorf("the list %s is one page of a longer list: more objects were left out", o.at)
	}
	if o.kind == "PodList" && !o.foreign() {
		r.collection.PodLists[""] = true
	}
	for _, item := range o.waiting {
		item.inherit(o)
		if err := r.pass(item); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an object on if its kind is one of those that are read. It returns an error if the object must not be
// skipped, although its kind is another. A folder has answers of the API server that are no objects.
func (r *reader) pass(o *object) error {
	if w := o.wanted(); w != nil {
		r.promising = true
		return r.passWanted(o, w)
	}
	why, noObject := o.refused(), o.kind == "" || o.isList() && !wantedBegins.MatchString("kind: "+o.kind)
	if why == "" || noObject && why != watchEvent && !r.file.alone() {
		return nil
	}
	return fmt.Errorf("the object %s %s", o.at, why)
}

// passWanted passes on an object whose kind is read, unless a part of its key is masked, which other objects may have
// in common, or it has a value that no API server stores.
func (r *reader) passWanted(o *object, w *wantedKind) error {
	if tool := r.collection.Tool; tool != nil && tool.nulls {
		for range 2 { // a comma belongs to one match only
			o.members = nullText.ReplaceAll(o.members, []byte("${1}null${2}"))
		}
	}
	if len(o.members) > mostParsed {
		return fmt.Errorf("the %s %s is larger than an API server allows", o.kind, o.at)
	}
	typed, err := o.decode(w)
	if err != nil {
		return err
	}
	name, namespace := typed.GetName(), typed.GetNamespace()
	id := key(namespace, name)
	switch errs := impossible(typed); {
	case name == "":
		return fmt.Errorf("the %s %s has no name, so it may be truncated", o.kind, o.at)
	case name[0] == '-': // commands would take it as a flag
		return fmt.Errorf("the %s %s has the name %q, which no API server accepts", o.kind, o.at, name)
	case !w.ours && Masked(id):
		r.tree.hole(r.file, Hole{What: o.kind + " " + id + " was skipped, because its name is masked"})
	case len(errs) > 0:
		what := fmt.Sprintf("%s %s was skipped: %v", o.kind, id, errs.ToAggregate())
		r.tree.hole(r.file, Hole{What: what, Namespace: namespace})
	default:
		r.collection.add(typed, o.listed, r.file)
	}
	return nil
}

func (r *reader) place() string {
	if r.line > 0 {
		return fmt.Sprintf("in the document at line %d", r.line)
	}
	return fmt.Sprintf("near byte %d", r.begins)
}

// json returns an error that names the defect of the text itself and its place.
func (r *reader) json() (err error) {
	r.text.R = r.lines
	for r.Reset(&r.text, lenient); err == nil; r.held = 0 {
		err = r.value(nil)
	}
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	ended, truncated := errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case r.text.N <= 0 && (truncated || ended):
		return fmt.Errorf("the object near byte %d is larger than an API server allows", r.begins)
	case ended:
		return nil
	case truncated:
		return fmt.Errorf("it is truncated at byte %d", r.InputOffset()+int64(len(r.UnreadBuffer())))
	case invalid:
		return fmt.Errorf("invalid JSON after byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	return err
}
