package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/taint-manager/taint-manager/policy"
)

// Schema returns the JSON Schema of a configuration file with these settings, for editors. It describes the shape of a
// file and the bounds of single values; Decode checks more.
func Schema(settings []Setting) ([]byte, error) {
	root := fileShape(settings).schema()
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = Kind
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return out.Bytes(), nil
}

func (s *shape) schema() map[string]any {
	schema := s.typeSchema()
	if s.about != "" {
		schema["description"] = s.about
	}
	if len(s.words) > 0 {
		schema["enum"] = s.words
	}
	if s.setting != nil {
		s.setting.describe(schema)
	}
	return schema
}

// describe adds the bounds of a setting.
func (s *Setting) describe(schema map[string]any) {
	if s.most > s.least {
		schema["minimum"], schema["maximum"] = s.least, s.most
	}
}

const durationPattern = `^[+-]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

func (s *shape) typeSchema() map[string]any {
	switch s.kind {
	case object:
		return s.objectSchema()
	case list:
		schema := map[string]any{"type": "array", "minItems": 1, "items": s.items.schema()}
		if s.items.child("method") != nil {
			schema["maxItems"] = policy.MaxPolicies
		}
		return schema
	case labels:
		return map[string]any{"type": "object", "minProperties": 1, "additionalProperties": map[string]any{"type": "string"}}
	case boolean:
		return map[string]any{"type": "boolean"}
	case integer:
		return map[string]any{"type": "integer"}
	case number:
		return map[string]any{"type": "number"}
	case duration:
		return map[string]any{"type": "string", "pattern": durationPattern}
	case share:
		return map[string]any{"anyOf": []any{
			map[string]any{"type": "integer", "minimum": 0},
			map[string]any{"type": "string", "pattern": policy.PercentagePattern},
		}}
	case moment:
		return map[string]any{"type": "string", "format": "date-time"}
	default:
		return map[string]any{"type": "string"}
	}
}

func (s *shape) objectSchema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range s.fields {
		f := &s.fields[i]
		properties[f.name] = f.schema()
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "minProperties": 1, "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}
