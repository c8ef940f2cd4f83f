// Package taintmanager evicts pods from nodes whose NoExecute taints they do not tolerate.
//
// It takes the place of the taint-eviction-controller of kube-controller-manager. A program that has an
// informer of pods already hands it in; one that has none passes nil, and the manager watches pods, too,
// keeping only the fields that it needs. Nodes it always watches by itself:
//
//	m, err := taintmanager.New(client, nil, taintmanager.Options{})
//	if err != nil {
//		return err
//	}
//	// Calls under way outlive ctx until Run has waited for them.
//	leading, stop := context.WithCancel(context.WithoutCancel(ctx))
//	defer stop()
//	go m.Lead(leading) // under leader election: from OnStartedLeading, with its context
//	return m.Run(ctx)
//
// [Manager.Run] watches and judges. [Manager.Lead] permits eviction calls until its context ends.
// A standby runs without leading: its caches and countdowns are as current as the leader's, so that
// it takes over at once. With [Options.Journal], countdowns survive restarts, too. Package leader has a leader
// election whose clock is for [Options.Leading]; its example is a whole program.
package taintmanager
