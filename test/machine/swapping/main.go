// Command swapping exits with 1 if this machine is swapping memory. In this case, it also appends its argument to the
// list of what is skipped.
package main

import (
	"fmt"
	"os"

	"github.com/taint-manager/taint-manager/test/machine"
)

func main() {
	if why := machine.Skip(os.Args[1]); why != "" {
		fmt.Println(why)
		os.Exit(1)
	}
}
