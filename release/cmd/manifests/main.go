// Command manifests renders deploy/chart into the other files of deploy. It runs in the folder release.
package main

import (
	"fmt"
	"os"

	"github.com/taint-manager/taint-manager/release/manifests"
)

func main() {
	if err := manifests.Write(".."); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}
