package main

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/test/load"
)

// quietClient returns a client that writes nothing between the lines of the timeline. It is not throttled, so it has no
// waiting to report either.
func quietClient(kubeconfig string) (kubernetes.Interface, error) {
	klog.SetLogger(logr.Discard())
	return load.NewClient(kubeconfig)
}
