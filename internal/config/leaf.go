package config

import (
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/taint-manager/taint-manager/policy"
)

const durationPattern = `^[+-]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// The shapes of single values.
var (
	text = shape{
		Type: "string", tags: []string{"!!str"}, takes: "text", next: "put it in quotes if it is meant as text",
		parse: func(n *yaml.Node) (any, error) { return n.Value, nil },
	}
	boolean = shape{
		Type: "boolean", tags: []string{"!!bool"}, takes: "true or false", next: "write true or false",
		parse: func(n *yaml.Node) (any, error) { return strconv.ParseBool(n.Value) },
	}
	integer = shape{
		Type: "integer", tags: []string{"!!int"}, takes: "whole numbers",
		next:  "write digits alone, and at most 2147483647",
		parse: func(n *yaml.Node) (any, error) { return strconv.ParseInt(n.Value, 10, 32) },
	}
	number = shape{
		Type: "number", tags: []string{"!!int", "!!float"}, takes: "numbers", next: "write it as 20 or 0.5",
		parse: func(n *yaml.Node) (any, error) { return strconv.ParseFloat(n.Value, 64) },
	}
	duration = shape{
		Type: "string", Pattern: durationPattern, tags: []string{"!!str"},
		takes: "Go durations such as 90s, 30m or 1h30m", next: "write each number with its unit, and a day as 24h",
		parse: func(n *yaml.Node) (any, error) {
			_, err := time.ParseDuration(n.Value)
			return n.Value, err
		},
	}
	moment = shape{
		Type: "string", Format: "date-time", tags: []string{"!!str", "!!timestamp"},
		takes: "moments such as 2026-11-22T10:00:00Z", next: "'date -u +%FT%TZ' prints the present one",
		parse: func(n *yaml.Node) (any, error) {
			_, err := time.Parse(time.RFC3339, n.Value)
			return n.Value, err // a text, because package json refuses to write the zone +24:00
		},
	}
	countOrPercentage = shape{
		AnyOf: []shape{
			{Type: "integer", Minimum: new(float64)}, {Type: "string", Pattern: policy.PercentagePattern},
		},
		tags: []string{"!!int", "!!str"}, takes: "a whole number, or a percentage such as 50%",
		next: "write it as 10 or 50%",
		parse: func(n *yaml.Node) (any, error) {
			if n.ShortTag() == "!!str" {
				return n.Value, nil
			}
			return strconv.ParseInt(n.Value, 10, 32)
		},
	}
)

// leaves are the single values other than texts, by the names of types: the Go types in policies and guards, and the
// types of flags. The leaf of a flag's list is that of the items.
var leaves = map[string]*shape{
	"bool": &boolean, "int": &integer, "int32": &integer, "Level": &integer, "int32Slice": &integer,
	"float32": &number, "float64": &number, "duration": &duration, "v1.Duration": &duration, "v1.Time": &moment,
	"intstr.IntOrString": &countOrPercentage,
}

// read returns the single value of n. It returns false if n is not such a value in its usual notation.
func (s *shape) read(n *yaml.Node) (value any, ok bool) {
	if !slices.Contains(s.tags, n.ShortTag()) {
		return nil, false
	}
	value, err := s.parse(n)
	return value, err == nil
}
