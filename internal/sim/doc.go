// Package sim simulates clusters in which taint-manager runs, from a seed, and lets an oracle judge every
// step.
//
// A world has an API server in memory, users, a node lifecycle controller and kubelets, and one to three
// replicas of the program. The replicas are made of the program's own parts where these know no clock of
// their own: the cache ([cluster.Feed]), the journal's rules, the shards' Step, and the requests and the
// table of outcomes of package evict. What lies between them - leader election, the journal's
// store, the live confirmation - is played by small stand-ins, each in a file of its own.
//
// Everything in a world runs on one goroutine, in simulated time, and draws from the seed alone: one seed
// gives one trace, to the letter. Whatever can go wrong does: watches lag, break and forget, requests fail,
// hang and lose their answers, clocks are wrong and are set, processes freeze and are killed.
//
// The oracle (package oracle) knows what was really true, and judges by that and by what each process was
// shown.
package sim
