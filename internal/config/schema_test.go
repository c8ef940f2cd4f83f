package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/internal/config"
)

// schemaPart is a part of a JSON Schema.
type schemaPart struct {
	Description string
	Properties  map[string]*schemaPart
	Items       *schemaPart
}

// undescribed returns the paths without a description.
func (s *schemaPart) undescribed(path string) (paths []string) {
	if s.Description == "" {
		paths = append(paths, path)
	}
	for name, property := range s.Properties {
		paths = append(paths, property.undescribed(path+"."+name)...)
	}
	if s.Items != nil {
		paths = append(paths, s.Items.undescribed(path+"[]")...)
	}
	return paths
}

func TestEachFieldOfPoliciesAndGuardsIsDescribed(t *testing.T) {
	written := config.Schema(nil)
	var root schemaPart
	if err := json.Unmarshal([]byte(written), &root); err != nil {
		t.Fatal(err)
	}
	if paths := root.undescribed("file"); len(paths) > 0 || len(root.Properties) != 4 {
		t.Errorf("%d fields; without a description: %v", len(root.Properties), paths)
	}
	for line := range strings.Lines(read(t, "../descriptions.txt")) {
		if _, description, found := strings.Cut(strings.TrimSpace(line), " "); found && !strings.Contains(written, `"`+description+`"`) {
			t.Errorf("a description of no field: %s", line)
		}
	}
}
