package dump

import "fmt"

// cut is the error of a dump that is truncated.
type cut struct {
	place string
	read  int // objects
}

func (c cut) Error() string {
	return fmt.Sprintf("it is cut off at %s, after %d whole objects", c.place, c.read)
}
