// Package evict makes eviction calls. It is the only room that writes pods.
//
// [Pool] owns the slots: it hands out permissions to start a call, as many as there are workers, and
// only while this process leads. [API] makes the call; [DryRun] only says which it would make; a
// caller may bring an [Evictor] of their own. [Confirmed] asks the API server for the node before it
// lets a call through.
//
// What it promises: no call starts while this process does not lead, nor for a taint that is not on
// the node at that moment, however far the cache lags; each call carries the UID of
// the pod that was judged, so that another pod of the same name is never touched; each call ends in
// exactly one outcome, by the table that [Rows] shows; while the API server is away or asks to wait,
// all calls wait together.
package evict
