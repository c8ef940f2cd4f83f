package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/taint-manager/taint-manager/policy"
)

// The fields with which every configuration file begins.
const (
	APIVersion = "taint-manager/v1alpha1"
	Kind       = "TaintManagerConfiguration"
)

// MaxFileSize is the maximum size of a file, in bytes: that of a ConfigMap.
const MaxFileSize = 1 << 20

// maxRefusals is the maximum number of refusals that are reported for one file.
const maxRefusals = 100

// File is the content of a configuration file other than the settings.
type File struct {
	Policies []policy.Policy `json:"policies,omitempty"`
	Guards   policy.Guards   `json:"guards,omitzero"`

	// Set has the lines of the settings in the file, by their flags.
	Set map[string]int `json:"-"`

	name     string
	toFields *strings.Replacer // replaces flags by fields
}

// Refusal converts the refusal of a flag to the refusal of the flag's field in this file.
func (f *File) Refusal(r Refusal) Refusal {
	return f.refusal(f.Set[r.Flag], f.toFields.Replace("--"+r.Flag), visible(r.Value), r.Allowed, r.Next)
}

// refusal returns the refusal of a field. It replaces flags by fields in the texts.
func (f *File) refusal(line int, field, value, allowed, next string) Refusal {
	return Refusal{
		File: f.name, Line: line, Field: field, Value: value, Allowed: f.toFields.Replace(allowed),
		Next: f.toFields.Replace(next),
	}
}

// Decode parses a file of YAML or JSON, and sets the settings that are in the file. settings returns all settings, with
// rules that depend on the current values. Refusals are sorted by line. If there are refusals, the file and the
// settings must not be used.
func Decode(name string, data []byte, settings func() []Setting) (*File, []Refusal) {
	root, refusal := parse(name, data)
	if refusal != nil {
		return nil, []Refusal{*refusal}
	}
	file := &File{Set: map[string]int{}, name: name, toFields: flagsToFields(settings())}
	d := &decoder{file: file, nodes: map[string]*yaml.Node{}}
	value := d.value(root, fileShape(settings()), "")
	d.malformed = slices.Clone(d.refusals)
	if d.excess == 0 { // otherwise there is enough to fix
		d.policies(value)
		d.rules(settings())
	}
	return file, d.sorted()
}

// flagsToFields returns a replacer that turns the flags in the texts of settings into fields.
func flagsToFields(settings []Setting) *strings.Replacer {
	longestFirst := slices.Clone(settings) // one flag may be the prefix of another
	slices.SortFunc(longestFirst, func(a, b Setting) int { return len(b.Flag) - len(a.Flag) })
	var pairs []string
	for _, s := range longestFirst {
		pairs = append(pairs, "--"+s.Flag, s.Field)
	}
	return strings.NewReplacer(pairs...)
}

// parse refuses data that are not a single readable document.
func parse(name string, data []byte) (*yaml.Node, *Refusal) {
	whole := func(line int, allowed, next string) (*yaml.Node, *Refusal) {
		return nil, &Refusal{File: name, Line: line, Allowed: allowed, Next: next}
	}
	switch {
	case len(data) > MaxFileSize:
		return whole(0, fmt.Sprintf("it takes %d bytes at most, as a ConfigMap does", MaxFileSize),
			"leave out what does not belong there")
	case !utf8.Valid(data):
		return whole(0, "it takes text in UTF-8", "save it as UTF-8")
	case bytes.HasPrefix(data, []byte("{")): // JSON may have tabs between its values, and has none within them
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := documents.Decode(&document)
	if errors.Is(err, io.EOF) {
		return whole(0, "it is empty", "'taint-manager config defaults' prints a file to begin with")
	}
	if err == nil {
		err = documents.Decode(&second) // io.EOF if nothing follows
	}
	switch {
	case err == nil:
		return whole(second.Line, "it takes one document", "leave out what follows ---")
	case !errors.Is(err, io.EOF):
		return whole(0, "it is not YAML or JSON ("+shortened(strings.TrimPrefix(err.Error(), "yaml: "))+")",
			"'taint-manager config defaults' prints a file that is")
	}
	return document.Content[0], nil
}

// decoder decodes one file.
type decoder struct {
	file      *File
	nodes     map[string]*yaml.Node // by path
	refusals  []Refusal
	malformed []Refusal // the refusals of values of a wrong shape
	excess    int       // the number of refusals beyond maxRefusals
}

// refuse refuses the value at a path, or its absence.
func (d *decoder) refuse(path, allowed, next string) {
	value, around := "", path
	if n := d.nodes[path]; n != nil {
		value = shown(n)
	}
	for d.nodes[around] == nil {
		around = parent(around)
	}
	d.refuseField(d.nodes[around].Line, path, value, allowed, next)
}

// refuseField refuses a field; value is empty if the field has no value.
func (d *decoder) refuseField(line int, path, value, allowed, next string) {
	if len(d.refusals) == maxRefusals {
		d.excess++
		return
	}
	if path == "" {
		value = "" // it would be the whole file
	}
	d.refusals = append(d.refusals, d.file.refusal(line, path, value, allowed, next))
}

// sorted returns the refusals sorted by line, and how many more there are.
func (d *decoder) sorted() []Refusal {
	slices.SortStableFunc(d.refusals, func(a, b Refusal) int { return a.Line - b.Line })
	if d.excess == 0 {
		return d.refusals
	}
	return append(d.refusals, Refusal{
		File: d.file.name, Allowed: fmt.Sprintf("there are %d more refusals", d.excess), Next: "mend these first",
	})
}

// parent returns the path around a path; "" for the whole file.
func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// value decodes one value with all its parts, and sets the settings in them. It returns the value for package json; nil
// if the value is refused.
func (d *decoder) value(n *yaml.Node, s *shape, path string) any {
	d.nodes[path] = n
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.refuse(path, "anchors and aliases are not taken", "write the value itself")
	case n.Tag != "" && n.Style&yaml.TaggedStyle != 0:
		d.refuse(path, "tags such as "+shortened(n.Tag)+" are not taken", "write the value alone")
	case n.ShortTag() == "!!null" || n.Kind != yaml.ScalarNode && len(n.Content) == 0:
		d.refuse(path, "it is empty", "leave it out, or write "+s.allowed())
	case s.Items != nil:
		return d.list(n, s, path)
	case s.parse == nil:
		return d.object(n, s, path)
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, "it takes "+s.allowed(), "write one value")
	default:
		return d.single(n, s, path)
	}
	return nil
}

// object decodes the fields of an object. Refused fields are left out.
func (d *decoder) object(n *yaml.Node, s *shape, path string) any {
	if n.Kind != yaml.MappingNode {
		d.refuse(path, "it takes "+s.allowed(), "write them indented below it")
		return nil
	}
	values, seen := map[string]any{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, shortened(key.Value))
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			d.refuseField(key.Line, path, shown(key), "names of fields are texts", "it takes "+s.allowed())
		case seen[key.Value]:
			d.refuseField(key.Line, at, shown(value), "the field is there twice", "leave one out")
		case s.property(key.Value) == nil:
			d.refuseField(key.Line, at, shown(value), "there is no such field",
				"there are "+strings.Join(s.names, ", "))
		default:
			if decoded := d.value(value, s.property(key.Value), at); decoded != nil {
				values[key.Value] = decoded
			}
		}
		seen[key.Value] = true
	}
	for _, name := range s.Required {
		if !seen[name] {
			d.refuse(join(path, name), "it is missing", "it takes "+s.Properties[name].allowed())
		}
	}
	return values
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// list decodes a list. Refused items are nil, so that the others keep their indexes.
func (d *decoder) list(n *yaml.Node, s *shape, path string) any {
	if n.Kind != yaml.SequenceNode {
		d.refuse(path, "it takes a list", "write it as [...], or each item after '- '")
		return nil
	}
	values := make([]any, len(n.Content))
	for i, item := range n.Content {
		values[i] = d.value(item, s.Items, fmt.Sprintf("%s[%d]", path, i))
	}
	if !slices.Contains(values, nil) {
		d.write(n, s, path, values...)
	}
	return values
}

// single decodes a value without parts.
func (d *decoder) single(n *yaml.Node, s *shape, path string) any {
	value, ok := s.read(n)
	switch {
	case !ok:
		d.refuse(path, "it takes "+s.allowed(), s.nextAfterKind(n))
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, n.Value):
		d.refuse(path, "it takes "+s.allowed(), s.nextAfterWord(n.Value))
	default:
		d.write(n, s, path, value)
		return value
	}
	return nil
}

// write sets the setting of a shape to these items, or to a single value. Shapes of policies and guards have none.
func (d *decoder) write(n *yaml.Node, s *shape, path string, values ...any) {
	if s.setting == nil {
		return
	}
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	d.file.Set[s.setting.Flag] = n.Line
	if err := s.setting.set(texts); err != nil {
		d.refuse(path, "it takes "+s.allowed(), s.setting.next)
	}
}

// policies reads policies and guards, without their refused parts, and validates them.
func (d *decoder) policies(value any) {
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, d.file)
	}
	if err != nil {
		d.refuse("policies", "it can't be read ("+shortened(err.Error())+")",
			"'taint-manager config schema' says what it takes")
		return
	}
	for _, p := range policy.Validate(d.file.Policies, d.file.Guards) {
		if !d.isConsequence(p.Path, false) {
			d.refuse(p.Path, p.Allowed, p.Next)
		}
	}
}

// rules checks the settings against their rules, which may depend on several of them.
func (d *decoder) rules(settings []Setting) {
	for _, s := range settings {
		if s.refused && !d.isConsequence(s.Field, s.compares) {
			d.refuse(s.Field, "it takes "+s.takes, s.next)
		}
	}
}

// isConsequence reports whether the refusal of a path may only be a consequence of a malformed value in the path, or
// around it. A malformed value beside the path counts in two cases: the path has no value, so that its name may be
// misspelt; or its value is compared with the values beside it.
func (d *decoder) isConsequence(path string, compared bool) bool {
	beside := parent(path) != "" && (compared || d.nodes[path] == nil)
	return slices.ContainsFunc(d.malformed, func(r Refusal) bool {
		return within(r.Field, path) || within(path, r.Field) || beside && parent(r.Field) == parent(path)
	})
}

// within reports whether the path inner is outer, or a part of outer.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && outer != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// shown returns a value in a few words.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "{...}"
	case yaml.SequenceNode:
		return "[...]"
	case yaml.AliasNode:
		return "*" + visible(shortened(n.Value))
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return strconv.Quote(shortened(n.Value))
	}
	return visible(shortened(n.Value))
}

// shortened truncates a long text.
func shortened(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
