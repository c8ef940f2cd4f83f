package source

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// readDevices adds devices, claims and DeviceTaintRules, and reads the version of the server. found reports whether
// there are any, or whether that is unknown. A server without their API has none.
func (c Cluster) readDevices(ctx context.Context, to *foresight.Builder, r *foresight.Reading) (found bool, err error) {
	for _, resource := range []string{"resourceslices", "devicetaintrules", "resourceclaims"} {
		err := c.each(ctx, resource, "", metav1.ListOptions{}, func(object any) {
			found = true
			to.Add(object)
		})
		switch {
		case apierrors.IsForbidden(err):
			found, r.DevicesUnknown = true, "this user may not list "+resource
		case err != nil && !apierrors.IsNotFound(err):
			return found, err
		}
	}
	server, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return found, c.refused("get /version", err)
	}
	r.Kubernetes, err = kubernetesVersion(server.GitVersion)
	return found, err
}

// kubernetesVersion returns the version that is written as 1.37, v1.37.2 or v1.37.2-vendor.3.
func kubernetesVersion(written string) (device.Version, error) {
	v, err := version.ParseGeneric(written)
	if err != nil || v.Major() != 1 {
		return 0, flags.Refusal{
			Flag: "kubernetes-version", Value: written, Allowed: "it is no version of Kubernetes", Next: "write it as 1.37",
		}
	}
	return device.Version(v.Minor()*1000 + min(v.Patch(), 999)), nil
}
