// Command embedder runs the manager under leader election, with what the library exports.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/leader"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func run(ctx context.Context, config *rest.Config) error {
	clock := taintmanager.NewServerClock()
	config.Wrap(clock.RoundTripper)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	identity, err := leader.NewIdentity()
	if err != nil {
		return err
	}
	election := leader.New(leader.Defaults(), client.CoordinationV1(), identity)
	m, err := taintmanager.New(client, nil, taintmanager.Options{
		Leading: election.Leading, Identity: identity,
		Ahead: clock.Ahead, Rules: taint.Rules{},
		Journal:  taintmanager.NewJournal(client, "kube-system", "embedder"),
		Policies: []policy.Policy{{Name: "drain", Method: policy.Evict}},
		Ended: func(e taintmanager.Eviction, o taintmanager.Outcome, _ time.Time) {
			log.Println(e.Pod.Key(), o.Kind == eviction.Accepted)
		},
	})
	if err != nil {
		return fmt.Errorf("embedding the manager: %w", err)
	}
	return leader.Run(ctx, m, election.Campaign)
}

func main() {
	config, err := rest.InClusterConfig()
	if err == nil {
		err = run(context.Background(), config)
	}
	log.Fatal(err)
}
