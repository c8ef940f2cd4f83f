package report

import (
	"strings"
	"testing"
)

func TestTheDocumentGetsTheTablesInThePlaceOfTheOldOnes(t *testing.T) {
	document := "before\n" + tableBegins + "old\n" + tableEnds + "after\n"
	once, err := Insert(document, sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n" + tableBegins, tableEnds + "after\n", "| **Many pods at once** | | | | | |",
		"| rate | 95 pods/s (88-120) | plain workers: 110 pods/s (100-120) | 0.95 (0.8-1) | at least 0.9 | met |",
		"|  |  | original, default: 7 pods/s | 13.6 (12.6-17.1) | at least 30 | **missed** |",
		"|  |  | original, no limits: none | none | reported |  |",
		"| peak memory | 90 MB |  |  | at most 80 MB | **missed** |",
		"| nothing to aim at | none | 1x: none | none | reported |  |",
		"| cost | 10x: 3 ms | 1x: 2 ms | 1.5 | at most 1.25 | **missed** |",
	} {
		if !strings.Contains(once, want) {
			t.Errorf("the document lacks %q:\n%s", want, once)
		}
	}
	if strings.Contains(once, "old\n") {
		t.Error("the document has the old table")
	}
	if twice, err := Insert(once, sample()); err != nil || twice != once {
		t.Errorf("again: %v, and another document:\n%s", err, twice)
	}
	for _, bad := range []string{"", tableBegins, tableEnds, tableEnds + tableBegins} {
		if _, err := Insert(bad, sample()); err == nil {
			t.Errorf("%q has a place for the table", bad)
		}
	}
}
