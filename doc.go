// Package taintmanager evicts pods from nodes whose NoExecute taints they do not tolerate.
//
// It replaces the taint-eviction-controller of kube-controller-manager. A program that already has a pod informer
// passes it in. A program that has none passes nil, and the manager watches pods itself and keeps only the fields that
// it needs. The manager always watches nodes itself:
//
//	m, err := taintmanager.New(client, nil, taintmanager.Options{})
//	if err != nil {
//		return err
//	}
//	// leading must outlive ctx, because its end would cancel the calls in flight that Run waits for.
//	leading, stop := context.WithCancel(context.WithoutCancel(ctx))
//	defer stop()
//	go m.Lead(leading) // under leader election: from OnStartedLeading, with its context
//	return m.Run(ctx)
//
// [Manager.Run] watches the cluster and decides. [Manager.Lead] permits eviction calls until its context ends. A
// standby calls Run but not Lead: its caches and countdowns are as current as the leader's, so it takes over at once.
// With [Options.Journal], countdowns also survive restarts. Package leader has a leader election; pass its
// Election.Leading as [Options.Leading]. Its example is a complete program.
package taintmanager
