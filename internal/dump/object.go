package dump

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is an object or a list. Its members are decoded when its kind is known.
type object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Items      items          `json:"items"`
	Members    jsontext.Value `json:",embed"` // all others

	at     string // where it is: in a document of YAML, or near a byte of JSON
	yaml   bool
	listed bool // it is in a list or an array
}

// items are the items of a list. They are passed on while the list is read.
type items struct {
	list *object
	by   *jsonReader // nil: they are not passed on

	read    bool           // the items were an array
	some    bool           // one of them was passed on
	waiting []*object      // for an apiVersion or a kind that comes after the items
	err     error          // of an item
	other   jsontext.Value // no array, or the member "items" of an object
}

// UnmarshalJSONFrom passes the items on.
func (i *items) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if i.by != nil && d.PeekKind() == '[' && (i.list.Kind == "" || i.list.isList()) {
		before := i.by.to.read
		i.err = i.by.elements(i.list)
		i.read, i.some = true, i.by.to.read > before
		return i.err
	}
	value, err := d.ReadValue()
	i.other = value.Clone()
	return err
}

// isList reports whether the kind is that of a list. In the groups of the kinds that are read, it may be misspelt.
func (o *object) isList() bool {
	return strings.HasSuffix(o.Kind, "List") || !o.foreign() && strings.HasSuffix(strings.ToLower(o.Kind), "list")
}

// kindOfItems returns the kind of the items that do not have one: the API server's own lists have it once.
func (o *object) kindOfItems() string {
	if !o.isList() {
		return ""
	}
	return o.Kind[:len(o.Kind)-len("List")]
}

// inherit takes the apiVersion and the kind from the list, as far as the list has been read.
func (o *object) inherit(list *object) {
	o.APIVersion, o.Kind = cmp.Or(o.APIVersion, list.APIVersion), cmp.Or(o.Kind, list.kindOfItems())
}

// told is what messages say of an object or a list.
type told struct {
	Message      string
	Type, Object jsontext.Value // of a watch event
	Metadata     struct {
		Namespace, Name, Continue string
		RemainingItemCount        jsontext.Value
	}
}

// tell returns what can be read of it.
func (o *object) tell() (t told) {
	_ = json.Unmarshal(o.Members, &t, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	return t
}

// leftOut counts the objects that follow on later pages of a list: "500 more pods were"; "" if there are none.
func (o *object) leftOut() string {
	list, thing := o.tell().Metadata, strings.ToLower(cmp.Or(o.kindOfItems(), "object"))
	switch left := strings.Trim(string(list.RemainingItemCount), `"`); left {
	case "1":
		return "1 more " + thing + " was"
	case "", "0", "null":
		if list.Continue == "" {
			return ""
		}
		return "more " + thing + "s were"
	default:
		return beginning(left, 80) + " more " + thing + "s were"
	}
}

// name returns the object's namespace and name, as people write them.
func (o *object) name() string {
	of := o.tell().Metadata
	return strings.TrimPrefix(of.Namespace+"/"+of.Name, "/")
}

// receiver passes objects to a visitor, and refuses what an API server does not have.
type receiver struct {
	by    *jsontext.Decoder // is reset for each file
	to    Visit
	hole  func(Hole)
	loose bool            // what is no object is skipped
	nulls bool            // the string "null" stands for null
	pods  map[string]bool // see Collection.PodLists

	read, wanted int  // number of objects, and of those whose kind is read
	held         int  // bytes of the items that wait for the kind of their list
	logs         bool // logs of containers were skipped
}

// mostHeld is the maximum number of bytes of items that wait for the kind of their list.
const mostHeld = 1 << 28

// object passes on a list, or an object of this list; nil is none.
func (r *receiver) object(o, of *object) error {
	if o.Items.read || o.Items.other != nil && (o.Kind == "" || o.isList()) {
		return r.list(o)
	}
	if of != nil {
		o.inherit(of)
		if o.APIVersion == "" || o.Kind == "" {
			o.Members = o.Members.Clone()
			if r.held += len(o.Members); r.held > mostHeld {
				return fmt.Errorf("the list %s has its kind after more than %d MiB; write it with -o json", of.at, mostHeld>>20)
			}
			of.Items.waiting = append(of.Items.waiting, o)
			return nil
		}
	}
	return r.pass(o)
}

// pass passes an object on if its kind is one of those that are read. It returns an error if the object has no kind, if
// its kind does not exist, if the object is the answer to a request that failed, or if it is wanted and can't be
// read or has a name that no API server accepts.
func (r *receiver) pass(o *object) error {
	if o.Kind == "" {
		switch of := o.tell(); {
		case of.Type.Kind() == '"' && of.Object.Kind() == '{':
			return errors.New("it is a stream of watch events, which has several states of an object; write it " +
				"without --output-watch-events")
		case !r.loose:
			return fmt.Errorf("the object %s has no kind", o.at)
		}
	}
	r.read++
	if typed := o.empty(); typed != nil {
		return r.passWanted(o, typed)
	}
	switch refusal := o.refused(); {
	case refusal == "", r.loose && o.other():
	case r.loose && o.Kind == "Status":
		r.hole(Hole{What: "it " + refusal})
	default:
		return fmt.Errorf("the object %s %s", o.at, refusal)
	}
	return nil
}

// passWanted passes on an object whose kind is read, unless it has a value that no API server stores.
func (r *receiver) passWanted(o *object, typed metav1.Object) error {
	r.wanted++
	if r.nulls {
		o.Members = withNulls(o.Members)
	}
	if err := o.decode(typed); err != nil {
		return o.unreadable(err)
	}
	switch name := typed.GetName(); {
	case name == "":
		return fmt.Errorf("the %s %s has no name, so it may be cut off", o.Kind, o.at)
	case name[0] == '-': // commands would take it as a flag
		return fmt.Errorf("the %s %s has the name %q, which no API server accepts", o.Kind, o.at, name)
	}
	if what, mask := o.maskedKey(typed); what != "" {
		why := fmt.Sprintf("a %s was skipped, because its %s is masked (%s)", o.Kind, what, mask)
		r.hole(Hole{What: why, Skipped: o.Kind})
		return nil
	}
	typed = asRead(typed, o.APIVersion)
	dropMaskedUIDs(typed)
	if errs := impossible(typed); len(errs) > 0 {
		what := fmt.Sprintf("%s %s was skipped: %v", o.Kind, o.name(), errs.ToAggregate())
		r.hole(Hole{What: what, Namespace: typed.GetNamespace(), Skipped: o.Kind})
		return nil
	}
	if o.Kind == "Pod" && o.listed {
		r.pods[typed.GetNamespace()] = true
	}
	r.to(typed, times(typed))
	return nil
}

// unreadable returns why an object can't be read whose kind is. A dialect is named by the tool that writes it.
func (o *object) unreadable(err error) error {
	switch {
	case bytes.Contains(o.Members, []byte("$(time-offset-nanosecond ")):
		return errors.New("it is a snapshot of kwokctl, whose times are offsets to the moment of its export, which it " +
			"does not have; write it with kubectl")
	case nullText.Match(o.Members):
		return fmt.Errorf(`the %s %s %s has the string "null" for null, as Rancher's support-bundle-kit writes it; `+
			"give the whole bundle", o.Kind, o.name(), o.at)
	}
	return fmt.Errorf("the %s %s %s can't be read: %w", o.Kind, o.name(), o.at, err)
}

// maskedKey returns which part of the key of an object is masked: others may have the same mask. The key of a ConfigMap
// or a Lease does not matter, as only those of the manager are looked for.
func (o *object) maskedKey(typed metav1.Object) (what, mask string) {
	switch name, namespace := typed.GetName(), typed.GetNamespace(); {
	case o.Kind == "ConfigMap", o.Kind == "Lease":
	case Masked(name):
		return "name", name
	case Masked(namespace):
		return "namespace", namespace
	}
	return "", ""
}

// list passes on the items that wait for the end of the list. It returns an error if the list is one page of a longer
// list, or if it has no kind in YAML: kubectl writes the kind after the items.
func (r *receiver) list(o *object) error {
	switch more := o.leftOut(); {
	case !o.Items.read && o.Items.other.Kind() != 'n':
		return fmt.Errorf(`the "items" of the list %s must be an array, and not %s`, o.at,
			beginning(string(o.Items.other), 80))
	case o.yaml && o.Kind == "":
		return fmt.Errorf("the list %s has no kind, so it may be cut off", o.at)
	case more != "":
		return fmt.Errorf("the list %s is one page of a longer list: %s left out", o.at, more)
	}
	if o.kindOfItems() == "Pod" && !o.foreign() && !o.Items.some && len(o.Items.waiting) == 0 {
		r.pods[""] = true
	}
	for _, item := range o.Items.waiting {
		item.inherit(o)
		if err := r.pass(item); err != nil {
			return err
		}
	}
	return nil
}

// beginning returns a text, or its first characters if it is longer than most bytes. A string of JSON keeps its quotes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	short := strings.ToValidUTF8(text[:most], "") + "..."
	if text[0] == '"' {
		short += `"`
	}
	return short
}
