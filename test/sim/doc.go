// Package sim simulates clusters in which taint-manager runs, from a seed. An oracle judges every step.
//
// A world has an API server in memory, users, a node lifecycle controller, kubelets, and one to three replicas of
// the program. The replicas consist of the program's own parts where these have no clock of their own: the cache
// ([cluster.Feed]), the journal and the Step of its store, the Steps of the shards, of the dispatcher and of the
// guards, and the calls of package evict, from the live confirmation to the outcome. Only leader election is a
// stand-in.
//
// A world runs on one goroutine, in simulated time, and draws from the seed alone: the same seed gives the same
// trace. Watches lag, break and lose their place; requests fail, hang and lose their answers; clocks are wrong and
// are set; processes freeze and are killed.
//
// The oracle (package oracle) knows the true history. It judges by that, and by what each process was shown.
package sim
