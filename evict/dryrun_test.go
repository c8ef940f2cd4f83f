package evict

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
)

func TestDryRunLogsTheDecisionAndSendsNothing(t *testing.T) {
	var line string
	log := funcr.New(func(_, args string) { line += args }, funcr.Options{})
	outcome := DryRunEvictor{}.Evict(klog.NewContext(t.Context(), log), someRequest())
	if outcome.Kind != eviction.DryRun {
		t.Errorf("outcome %+v, want dry-run", outcome)
	}
	for _, part := range []string{"would evict", `"name"="web-0"`, `"namespace"="shop"`, uid, "maintenance:NoExecute", "deadline"} {
		if !contains(line, part) {
			t.Errorf("log %s, want %q in it", line, part)
		}
	}
}
