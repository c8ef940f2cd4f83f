package dump

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options to accept the texts that package encoding/json accepts. In an object that is read, no name
// may be there twice.
var (
	oneOfEach = jsontext.AllowInvalidUTF8(true)
	lenient   = json.JoinOptions(oneOfEach, jsontext.AllowDuplicateNames(true))
)

const (
	largest  = 32 << 20 // bytes of an object, at most; the API server accepts 3 MiB
	mostHeld = 1 << 28  // bytes of the items that wait for the kind of their list, at most
)

// jsonBegins is the first line of JSON: in YAML of one line, names have no quotes.
var jsonBegins = regexp.MustCompile(`^(\[|\{\s*(["}]|$))`)

// reader reads the objects of a file, and lists and arrays of objects, however they are nested. It holds one object at a
// time, and refuses what an API server does not have.
type reader struct {
	*jsontext.Decoder
	tree       *Tree
	collection *Collection
	file       place
	lines      *objectLines
	text       io.LimitedReader // of JSON, up to the end of the largest object

	begins int64          // the byte of JSON near which the object being read begins
	line   int            // the line at which the piece of YAML begins that is being read; 0 in JSON
	spare  jsontext.Value // memory for the members of the next object

	read, wanted int // number of objects, and of those whose kind is read
	held         int // bytes of the items that wait for the kind of their list
}

// object is an object or a list. Its members are decoded when its kind is known.
type object struct {
	apiVersion, kind string
	members          jsontext.Value // all others; while they are read, with a comma after each, and not closed

	at     string // where it is: in a document of YAML, or near a byte of JSON
	listed bool   // it is in a list or an array

	hasItems bool      // it has an array of items, which are passed on while the list is read
	some     bool      // there is an object among them
	waiting  []*object // items that wait for an apiVersion or a kind that comes after them
	other    string    // how the member "items" begins if it is no array of a list
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

// mayBeList reports whether the object is a list, as far as it has been read.
func (o *object) mayBeList() bool { return o.kind == "" || o.isList() }

// kindOfItems returns the kind of the items that do not have one: the API server's own lists have it once.
func (o *object) kindOfItems() string {
	if !o.isList() {
		return ""
	}
	return o.kind[:len(o.kind)-len("List")]
}

// inherit takes the apiVersion and the kind from the list, as far as the list has been read.
func (o *object) inherit(list *object) {
	o.apiVersion, o.kind = cmp.Or(o.apiVersion, list.apiVersion), cmp.Or(o.kind, list.kindOfItems())
}

// all reads a file that is not compressed. The error is a clause that says what is wrong with it and where.
func (r *reader) all(plain *bufio.Reader) error {
	ahead, err := plain.Peek(plain.Size()) // the next read returns an error again
	text, marked := bytes.CutPrefix(ahead, []byte("\ufeff"))
	if marked { // some programs begin UTF-8 with a byte order mark
		_, _ = plain.Discard(len("\ufeff"))
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	first := string(bytes.TrimSpace(line))
	switch mistake, beside := mistakenFor(first); {
	case first == "" && errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case beside && !r.file.alone():
		return nil
	case mistake != "":
		return errors.New(mistake)
	}
	if !jsonBegins.MatchString(first) {
		return (&yamlReader{to: r, seen: map[string]bool{}}).read(plain)
	}
	r.text.R = plain
	r.Reset(&r.text, lenient)
	for err = nil; err == nil; {
		err = r.value(nil)
	}
	return r.failure(err)
}

// value reads an object, a list or an array, in this list; nil is none. It returns io.EOF at the end of the text.
func (r *reader) value(list *object) error {
	r.begins, r.text.N = r.InputOffset(), largest
	switch r.PeekKind() {
	case '[':
		return contents(r.Decoder, func() error { return r.value(list) })
	case '{':
		o := r.begin()
		if err := r.fill(o); err != nil {
			return err
		}
		return r.take(o, list)
	}
	value, err := r.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("expected a Kubernetes object, found %s %s", beginning(string(value), 80), r.place())
}

// contents reads an array or an object, of which read reads an element or a member.
func contents(d *jsontext.Decoder, read func() error) error {
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' && d.PeekKind() != '}' {
		err = read()
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return err
}

// begin returns the object or list that begins here.
func (r *reader) begin() *object {
	o := &object{at: r.place(), listed: r.StackDepth() > 0, members: append(r.spare[:0], '{')}
	r.spare = nil
	return o
}

// fill may be called more than once for a list.
func (r *reader) fill(o *object) error {
	return contents(r.Decoder, func() error { return r.member(o) })
}

func (r *reader) member(o *object) error {
	token, err := r.ReadToken()
	if err != nil {
		return err
	}
	name := token.String()
	if name == "items" && r.PeekKind() == '[' && o.mayBeList() {
		o.hasItems = true
		return r.value(o)
	}
	value, err := r.ReadValue()
	if err != nil {
		return err
	}
	switch name {
	case "apiVersion":
		err = json.Unmarshal(value, &o.apiVersion, lenient)
	case "kind":
		err = json.Unmarshal(value, &o.kind, lenient)
	case "items":
		o.other = beginning(string(value), 80)
	default:
		o.members, _ = jsontext.AppendQuote(o.members, cmp.Or(coreNames[name], name)) // invalid UTF-8 is replaced
		o.members = append(append(append(o.members, ':'), value...), ',')
	}
	if err != nil {
		return fmt.Errorf("invalid object %s: %w", o.at, err)
	}
	return nil
}

// take passes on a list, or an object of this list; nil is none.
func (r *reader) take(o, list *object) error {
	o.members = append(bytes.TrimSuffix(o.members, []byte(",")), '}')
	r.spare = o.members
	switch {
	case o.hasItems || o.other != "" && o.mayBeList():
		return r.list(o)
	case list == nil:
		return r.pass(o)
	}
	list.some = true
	if o.inherit(list); o.apiVersion != "" && o.kind != "" {
		return r.pass(o)
	}
	o.members = o.members.Clone()
	list.waiting = append(list.waiting, o)
	if r.held += len(o.members); r.held > mostHeld {
		return fmt.Errorf("the list %s has its kind after more than %d MiB; use -o json", list.at, mostHeld>>20)
	}
	return nil
}

// list passes on the items that wait for the end of the list. It returns an error if the list is one page of a longer
// list, or if it has no kind in YAML: kubectl writes the kind after the items.
func (r *reader) list(o *object) error {
	switch more := o.leftOut(); {
	case !o.hasItems && o.other != "null":
		return fmt.Errorf(`invalid "items" of the list %s: must be an array, found %s`, o.at, o.other)
	case r.line > 0 && o.kind == "":
		return fmt.Errorf("the list %s has no kind, so it may be truncated", o.at)
	case more != "":
		return fmt.Errorf("the list %s is one page of a longer list: %s left out", o.at, more)
	}
	if o.kindOfItems() == "Pod" && !o.foreign() && !o.some {
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
	r.read++
	if w := o.wanted(); w != nil {
		r.wanted++
		return r.passWanted(o, w)
	}
	why, inFolder := o.refused(), !r.file.alone()
	switch {
	case why == watchEvents:
		return errors.New(why)
	case why == "", inFolder && (o.kind == "" || o.isList() && !wantedBegins.MatchString("kind: "+o.kind)):
		return nil
	case inFolder && o.kind == "Status":
		r.tree.hole(r.file, Hole{What: "it " + why})
		return nil
	}
	return fmt.Errorf("the object %s %s", o.at, why)
}

// passWanted passes on an object whose kind is read, unless a part of its key is masked, which other objects may have in
// common, or it has a value that no API server stores.
func (r *reader) passWanted(o *object, w *wantedKind) error {
	if tool := r.collection.Tool; tool != nil && tool.nulls {
		for range 2 { // a comma belongs to one match only
			o.members = nullText.ReplaceAll(o.members, []byte("${1}null${2}"))
		}
	}
	typed, err := o.decode(w)
	if err != nil {
		return err
	}
	name, namespace := typed.GetName(), typed.GetNamespace()
	part, value := "name", name
	if !Masked(name) {
		part, value = "namespace", namespace
	}
	switch errs := impossible(typed); {
	case name == "":
		return fmt.Errorf("the %s %s has no name, so it may be truncated", o.kind, o.at)
	case name[0] == '-': // commands would take it as a flag
		return fmt.Errorf("the %s %s has the name %q, which no API server accepts", o.kind, o.at, name)
	case !w.ours && Masked(value):
		what := fmt.Sprintf("a %s was skipped, because its %s is masked (%s)", o.kind, part, value)
		r.tree.hole(r.file, Hole{What: what, Skipped: o.kind})
	case len(errs) > 0:
		what := fmt.Sprintf("%s %s was skipped: %v", o.kind, key(namespace, name), errs.ToAggregate())
		r.tree.hole(r.file, Hole{What: what, Namespace: namespace, Skipped: o.kind})
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

// failure returns an error that names the defect of the text itself, which is JSON, and its place; nil at its end.
func (r *reader) failure(err error) error {
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	end := r.InputOffset() + int64(len(r.UnreadBuffer()))
	broken := r.lines.err
	truncated := errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case r.text.N <= 0 && (truncated || errors.Is(err, io.EOF)):
		return fmt.Errorf("the object near byte %d is larger than an API server allows", r.begins)
	case errors.Is(err, io.EOF):
		return nil
	case broken != nil && errors.Is(err, broken):
		return fmt.Errorf("reading it failed at byte %d: %w", end, broken)
	case truncated:
		return fmt.Errorf("it is truncated at byte %d, after %d complete objects", end, r.read)
	case invalid:
		return fmt.Errorf("invalid JSON after byte %d and %d complete objects: %w", syntax.ByteOffset, r.read, syntax.Err)
	}
	return err
}
