package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/taint-manager/taint-manager/policy"
)

// kind is a kind of single values in the file.
type kind struct {
	tags   []string // YAML's tags of such values
	takes  string   // describes such values
	next   string   // the next step after any other value
	schema shape

	// parse returns the value. Package json writes the result so that the types of policies read it.
	parse func(n *yaml.Node) (any, error)
}

const durationPattern = `^[+-]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

var (
	text = &kind{
		tags: []string{"!!str"}, takes: "text", next: "put it in quotes if it is meant as text",
		schema: shape{Type: "string"},
		parse:  func(n *yaml.Node) (any, error) { return n.Value, nil },
	}
	boolean = &kind{
		tags: []string{"!!bool"}, takes: "true or false", next: "write true or false",
		schema: shape{Type: "boolean"},
		parse:  func(n *yaml.Node) (any, error) { return strconv.ParseBool(n.Value) },
	}
	integer = &kind{
		tags: []string{"!!int"}, takes: "whole numbers from -2147483648 to 2147483647", next: "write digits alone",
		schema: shape{Type: "integer"},
		parse:  func(n *yaml.Node) (any, error) { return strconv.ParseInt(n.Value, 10, 32) },
	}
	number = &kind{
		tags: []string{"!!int", "!!float"}, takes: "numbers", next: "write it as 20 or 0.5",
		schema: shape{Type: "number"},
		parse:  func(n *yaml.Node) (any, error) { return strconv.ParseFloat(n.Value, 64) },
	}
	duration = &kind{
		// The next step is that of suggestedDuration.
		tags: []string{"!!str"}, takes: "Go durations such as 90s, 30m or 1h30m",
		schema: shape{Type: "string", Pattern: durationPattern},
		parse: func(n *yaml.Node) (any, error) {
			_, err := time.ParseDuration(n.Value)
			return n.Value, err
		},
	}
	moment = &kind{
		tags: []string{"!!str", "!!timestamp"}, takes: "moments such as 2026-11-22T10:00:00Z",
		next:   "write it in quotes",
		schema: shape{Type: "string", Format: "date-time"},
		parse: func(n *yaml.Node) (any, error) {
			_, err := time.Parse(time.RFC3339, n.Value)
			return n.Value, err // a text, because package json refuses to write the zone +24:00
		},
	}
	countOrPercentage = &kind{
		tags: []string{"!!int", "!!str"}, takes: "a whole number, or a percentage such as 50%",
		next: "write it as 10 or 50%",
		schema: shape{AnyOf: []shape{
			{Type: "integer", Minimum: new(float64)}, {Type: "string", Pattern: policy.PercentagePattern},
		}},
		parse: func(n *yaml.Node) (any, error) {
			if n.ShortTag() == "!!str" {
				return n.Value, nil
			}
			return strconv.ParseInt(n.Value, 10, 32)
		},
	}
)

// kinds are the kinds of values other than texts, by the names of types: the Go types in policies and guards, and the
// types of flags. The kind of a flag's list is the kind of the items.
var kinds = map[string]*kind{
	"bool": boolean, "int": integer, "int32": integer, "Level": integer, "int32Slice": integer,
	"float32": number, "float64": number, "duration": duration, "v1.Duration": duration, "v1.Time": moment,
	"intstr.IntOrString": countOrPercentage,
}

// shape returns the shape of values of the kind; of these words, if there are any.
func (k *kind) shape(about string, words ...string) shape {
	s := k.schema
	s.kind, s.Description, s.Enum = k, about, words
	return s
}

// read returns the value of n. It returns false if n is not a value of the kind in its usual notation.
func (k *kind) read(n *yaml.Node) (value any, ok bool) {
	if !slices.Contains(k.tags, n.ShortTag()) {
		return nil, false
	}
	value, err := k.parse(n)
	return value, err == nil
}

var daysOrNumber = regexp.MustCompile(`^([0-9]{1,5})([dw]?)$`)

// suggestedDuration returns the duration in Go's syntax that may have been intended.
func suggestedDuration(written string) string {
	found := daysOrNumber.FindStringSubmatch(written)
	if found == nil {
		return "such a duration"
	}
	count, _ := strconv.Atoi(found[1])
	switch found[2] {
	case "d":
		return fmt.Sprintf("%dh for days of 24 hours", 24*count)
	case "w":
		return fmt.Sprintf("%dh for weeks of 168 hours", 168*count)
	}
	return found[1] + "s for seconds"
}
