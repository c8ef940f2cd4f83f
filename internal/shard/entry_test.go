package shard

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Each evaluation deletes the pod from maps that are empty in most clusters.
func TestDeletingFromAnEmptyMapAllocatesNothing(t *testing.T) {
	pods := map[types.UID]string{}
	if n := testing.AllocsPerRun(100, func() { deleteAndShrink(&pods, "a") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
