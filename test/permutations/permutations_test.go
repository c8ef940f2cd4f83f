package permutations_test

import (
	"fmt"
	"testing"

	"github.com/taint-manager/taint-manager/test/permutations"
)

func TestAllOrdersOfFourAreDifferent(t *testing.T) {
	list, orders := []int{1, 2, 3, 4}, map[string]bool{}
	for order := range permutations.Of(list) {
		orders[fmt.Sprint(order)] = true
	}
	if len(orders) != 24 || fmt.Sprint(list) != "[1 2 3 4]" {
		t.Errorf("got %d orders, and the list is left as %v", len(orders), list)
	}
}

func TestTheOrdersEndWhenTheyAreNoLongerWanted(t *testing.T) {
	n := 0
	for range permutations.Of([]int{1, 2, 3}) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("got %d orders, want 2", n)
	}
}
