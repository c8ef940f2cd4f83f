package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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
	if s.setting != nil && s.setting.most > s.setting.least {
		schema["minimum"], schema["maximum"] = s.setting.least, s.setting.most
	}
	return schema
}

func (s *shape) typeSchema() map[string]any {
	switch {
	case s.kind != nil:
		return maps.Clone(s.kind.schema)
	case s.items != nil:
		schema := map[string]any{"type": "array", "minItems": 1, "items": s.items.schema()}
		if s.most > 0 {
			schema["maxItems"] = s.most
		}
		return schema
	case s.isLabels():
		return map[string]any{"type": "object", "minProperties": 1, "additionalProperties": text.schema}
	}
	return s.objectSchema()
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
