package config

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Schema returns the JSON Schema of a configuration file with these settings, for editors. It describes the shape of a
// file and the bounds of single values; Decode checks more.
func Schema(settings []Setting) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(fileShape(settings)); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return out.Bytes(), nil
}
