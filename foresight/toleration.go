package foresight

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// granted formats a toleration with the time for which it tolerates a taint.
func granted(t *v1.Toleration) string {
	if t.TolerationSeconds == nil {
		return taint.TolerationString(t) + " without a limit"
	}
	return fmt.Sprintf("%s for %d s", taint.TolerationString(t), *t.TolerationSeconds)
}

// unquoted formats a toleration without the quotes that it has within a sentence.
func unquoted(t *v1.Toleration) string {
	if t == nil {
		return ""
	}
	return strings.Trim(taint.TolerationString(t), `"`)
}
