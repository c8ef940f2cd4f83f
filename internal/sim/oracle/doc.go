// Package oracle judges what taint-manager does in a simulated cluster.
//
// It is told the true history: every version of every node and pod, with the moment at which the API
// server wrote it; what each process was shown of it and when; what each process recorded and took
// over from others; and every request. From that it works out, by brute force and on its own, between
// which two moments the deadline of each pod may lie, and says what was wrong. It shares no code with
// the program: it imports neither taint nor journal.
//
// All moments are true times since the epoch of the world, whatever the clocks of the processes say.
//
// # How bounds are found
//
// The lower bound comes from the true history: a taint, and a binding, counts from the moment at which
// the API server wrote it, never from an earlier one. The upper bound is the moment at which the process
// was shown it. Section 3 of the design permits the process to believe something else where it could not
// see; each such permission is a sentence at the place in this package that grants it. What a process
// believes moves to another one only through a record.
package oracle
