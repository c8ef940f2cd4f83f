// Package oracle judges the actions of taint-manager in a simulated cluster.
//
// The simulation gives it the true history: every version of every node and pod, with the moment at which the API
// server wrote it; what each process was shown of it and when; what each process recorded and adopted from others;
// and every request. From that it computes, by brute force, the bounds of each pod's deadline, and reports
// violations. It shares no code with the program: it imports neither taint nor journal.
//
// All moments are true times since the epoch of the world, whatever the clocks of the processes show.
//
// # How bounds are found
//
// The lower bound comes from the true history: a taint, and a binding, counts from the moment at which the API
// server wrote it, never from an earlier one. The upper bound is the moment at which the process was shown it.
// docs/semantics.md permits the process to assume something else where it could not observe the truth. Each such
// permission is quoted where this package grants it. What a process assumes reaches another process only through a
// record.
package oracle
