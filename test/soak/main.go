// Command soak lets two replicas of taint-manager run for long on a real control plane, while users taint 40 nodes and
// replace 400 pods, and parts break, in an order that a seed determines. Then it judges, by the API server's audit log,
// whether a pod was deleted early, wrongly or twice, or was not deleted, and whether the leader's memory and goroutines
// grew. It exits with 1 if a promise is broken.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	own   = "kube-system"    // where taint-manager has its lease and journal
	quiet = time.Minute      // without users and faults, before the end
	every = 45 * time.Second // the time between faults
)

type options struct {
	lasts time.Duration
	seed  uint64
}

func main() {
	report.Main("soak", func(ctx context.Context, args []string) error {
		var o options
		flags := flag.NewFlagSet("soak", flag.ContinueOnError)
		flags.DurationVar(&o.lasts, "for", 10*time.Minute, "how long it lasts, with a quiet minute at its end")
		flags.Uint64Var(&o.seed, "seed", rand.Uint64()%1e6, "of the order of faults and of what users do")
		if err := flags.Parse(args); err != nil {
			return fmt.Errorf("reading the command line: %w", err)
		}
		klog.SetLogger(logr.Discard()) // client-go's complaints about an API server that is down
		return run(ctx, o, os.Stdout)
	})
}

// soak is a control plane with two replicas, and the faults so far.
type soak struct {
	*testcluster.Cluster
	admin    kubernetes.Interface
	out      io.Writer
	config   string        // the path of the configuration file
	witness  load.Identity // a pod that stays
	managers [2]*testcluster.Manager
	faults   []fault
}

// run returns an error unless all promises were kept. It stops everything that it has started.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := start(ctx, dir, out)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.keepLogs())
		}
		err = errors.Join(err, s.stop())
	}()
	s.say("seed %d, for %v", o.seed, o.lasts)
	r := result{options: o, minor: s.Minor()}
	if err := s.play(ctx, &r); err != nil {
		return err
	}
	requests, err := load.ReadAudit(s.AuditLog())
	if err != nil {
		return err
	}
	h, err := read(requests, time.Now())
	if err != nil {
		return err
	}
	h.faults, r.faults = s.faults, s.faults
	r.verdict = h.judge()
	r.write(out)
	if !r.kept() {
		return errors.New("a promise was broken, or nothing was evicted, or the leader grew")
	}
	return nil
}

// start starts the control plane with its nodes, and the replicas.
func start(ctx context.Context, dir string, out io.Writer) (s *soak, err error) {
	s = &soak{out: out, config: filepath.Join(dir, "config.yaml")}
	policy := filepath.Join(dir, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	if err := s.configure(""); err != nil {
		return nil, err
	}
	s.Cluster, err = testcluster.Start(ctx, testcluster.Options{
		WithoutScheduler: true, WithoutControllerManager: true, Log: out,
		AuditLevel: "RequestResponse", APIServerArgs: []string{"--audit-policy-file=" + policy},
	})
	if err != nil {
		return nil, err
	}
	if err := s.populate(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *soak) populate(ctx context.Context) (err error) {
	if s.admin, err = load.NewClient(s.Kubeconfig()); err != nil {
		return err
	}
	for i := range namespaces {
		if err := load.EnsureNamespace(ctx, s.admin, fmt.Sprintf("ns-%d", i)); err != nil {
			return err
		}
	}
	var manifest strings.Builder
	for i := range nodes {
		manifest.WriteString(testcluster.SimulatedNode(nodeName(i)))
	}
	if err := s.Apply(ctx, manifest.String()); err != nil {
		return err
	}
	witness := somePod("witness", 0, 0, []v1.Toleration{{Operator: v1.TolerationOpExists}})
	if err := s.create(ctx, witness); err != nil {
		return err
	}
	s.witness = load.IdentityOf(witness)
	for i := range s.managers {
		if s.managers[i], err = s.StartManager(ctx, "--config="+s.config); err != nil {
			return err
		}
	}
	return nil
}

// play lets users act and things break until the quiet end.
func (s *soak) play(ctx context.Context, r *result) error {
	ends := time.Now().Add(r.lasts)
	sampling, end := context.WithDeadline(ctx, ends)
	defer end()
	group, acting := errgroup.WithContext(sampling)
	users := newUsers(s, rand.New(rand.NewPCG(r.seed, 1)))
	group.Go(func() error { return users.act(acting, ends.Add(-quiet)) })
	group.Go(func() error {
		return s.breakThings(acting, ends.Add(-quiet), rand.New(rand.NewPCG(r.seed, 2)))
	})
	group.Go(func() error { r.memory, r.goroutines = s.sample(acting); return nil })
	err := group.Wait()
	r.changes = users.changes
	return errors.Join(err, ctx.Err())
}

func (s *soak) stop() error {
	for _, m := range s.managers {
		if m != nil {
			m.Kill()
		}
	}
	return s.Stop()
}

// keepLogs copies the logs of all processes to bin.
func (s *soak) keepLogs() error {
	dir := fmt.Sprintf("bin/soak-%d", time.Now().Unix())
	s.say("the logs are in %s", dir)
	return os.CopyFS(dir, os.DirFS(filepath.Dir(s.AuditLog())))
}

func (s *soak) say(format string, args ...any) {
	fmt.Fprintf(s.out, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}
