// Package dump reads the output of "kubectl get nodes,pods,pdb -A -o json" (or "-o yaml"), object by object.
//
// [Read] distinguishes JSON from YAML by itself. It accepts lists, arrays and single objects, lists within lists, and
// several documents one after the other. It holds one object at a time, so a dump of any size is read in little memory;
// only items without a kind are held, if the kind of their list comes after them.
// The objects are Kubernetes' own types, without what is long and never needed, such as containers. Other kinds are
// skipped.
//
// Read refuses what would lack objects without a word: one page of a longer list, a list without "items", the answer to
// a request that failed, objects of which only the metadata is there, and an object whose apiVersion or kind does not
// exist, such as "kind: pod" or "kind: Podd".
//
// Read refuses a dump that is truncated or malformed, and names the place: the line in YAML, the byte in JSON. It
// finds a truncation anywhere in JSON, and in a YAML list as kubectl writes it; in YAML of single objects, a
// truncation between two lines looks like the end of the dump.
package dump
