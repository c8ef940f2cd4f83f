// Package dump reads what "kubectl get nodes,pods,pdb -A -o json" (or "-o yaml") wrote, object by object.
//
// [Read] tells JSON from YAML by itself. It takes lists, single objects, and several documents one
// after the other. It holds one object at a time, so a dump of any size is read in little memory. Of
// an object only the fields that a verdict, a plan or an explanation needs are filled. Kinds that
// nobody asked for are passed over.
//
// A dump that is cut off or malformed is refused with the place: the line in YAML, the byte in JSON.
// A cut is found wherever it is in JSON, and in what kubectl writes as a YAML list; in YAML of single
// objects one that falls between two lines can't be told from an end.
package dump
