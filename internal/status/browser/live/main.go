// Command live runs taint-manager on a real control plane for the page's browser tests. It prints the page's
// address, as a line of JSON, and then executes its input, a line at a time, and answers each with a line of JSON:
//
//	kubectl ARGUMENTS...    runs kubectl as the cluster's administrator
//	apply YAML              applies objects; "\n" stands for a line break
//	node NAME               adds a simulated node
//	restart FLAGS...        ends taint-manager and starts it again with these flags, with its page at the same address
//
// It ends, with all that it has started, when its input does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stage is the cluster that the tests act on.
type stage struct {
	cluster *testcluster.Cluster
	manager *testcluster.Manager
	page    string // address of the page, the same for every run
}

func run(ctx context.Context) (err error) {
	s := &stage{}
	if s.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: os.Stderr}); err != nil {
		return err
	}
	defer func() { _ = s.cluster.Stop() }()
	if s.manager, err = s.cluster.StartManager(ctx); err != nil {
		return err
	}
	defer func() { s.manager.Kill() }()
	s.page = s.manager.Page()
	answer(map[string]string{"page": s.page})
	input := bufio.NewScanner(os.Stdin)
	for ctx.Err() == nil && input.Scan() {
		out, err := s.do(ctx, input.Text())
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		answer(map[string]string{"out": out, "error": failed})
	}
	return input.Err()
}

func answer(what map[string]string) {
	text, _ := json.Marshal(what) // strings only
	fmt.Println(string(text))
}

func (s *stage) do(ctx context.Context, line string) (string, error) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "kubectl":
		out, err := s.cluster.Kubectl(ctx, strings.Fields(rest)...).CombinedOutput()
		return string(out), err
	case "apply":
		return "", s.cluster.Apply(ctx, strings.ReplaceAll(rest, `\n`, "\n"))
	case "node":
		return "", s.cluster.Apply(ctx, testcluster.SimulatedNode(rest))
	case "restart":
		return "", s.restart(ctx, strings.Fields(rest)...)
	}
	return "", fmt.Errorf("there is no command %q", verb)
}

func (s *stage) restart(ctx context.Context, flags ...string) error {
	if err := s.manager.Stop(); err != nil {
		return err
	}
	address := strings.TrimSuffix(strings.TrimPrefix(s.page, "http://"), "/")
	manager, err := s.cluster.StartManager(ctx, append(flags, "--status-address="+address)...)
	if err != nil {
		return err
	}
	s.manager = manager
	return nil
}
