// A real kubelet with nothing below it: its own command line, API client, TLS, authentication, /configz and /flagz; in place of a
// container runtime, cgroups, cAdvisor and mounts it has the fakes with which kubemark makes hollow nodes. kubemark's own command
// has no --cloud-provider, and sets a provider ID of its own.
//
//	hollow-kubelet --kubeconfig=… --cloud-provider=external --root-dir=… --cert-dir=… --node-ip=… --address=…
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/flagz"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	internalapi "k8s.io/cri-api/pkg/apis"
	fakeremote "k8s.io/cri-client/pkg/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		klog.ErrorS(err, "hollow kubelet")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}

func run(ctx context.Context, args []string) error {
	server, err := options.NewKubeletServer()
	if err != nil {
		return err
	}
	hollow(server)
	given := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	server.AddFlags(given)
	options.AddGlobalFlags(given)
	if err := given.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(server.RootDirectory, 0o700); err != nil {
		return err
	}
	server.PodLogsDir = server.RootDirectory + "/pod-logs"

	runtime := fakeremote.NewFakeRemoteRuntime()
	endpoint := "unix://" + server.RootDirectory + "/cri.sock"
	if err := runtime.Start(endpoint); err != nil {
		return err
	}
	defer runtime.Stop()
	server.ContainerRuntimeEndpoint = endpoint
	server.ImageServiceEndpoint = endpoint

	// No clients: the kubelet makes its own, of the kubeconfig.
	var images internalapi.ImageManagerService = runtime.ImageService
	dependencies := kubemark.NewHollowKubelet(&server.KubeletFlags, &server.KubeletConfiguration, nil, nil,
		&cadvisortest.Fake{NodeName: server.HostnameOverride}, images, runtime.RuntimeService, cm.NewStubContainerManager(),
	).KubeletDeps
	if dependencies.TLSOptions, err = app.InitializeTLS(ctx, &server.KubeletFlags, &server.KubeletConfiguration); err != nil {
		return err
	}
	dependencies.Flagz = flagz.NamedFlagSetsReader{
		FlagSets: cliflag.NamedFlagSets{FlagSets: map[string]*pflag.FlagSet{"kubelet": given}},
	}
	return app.Run(ctx, server, dependencies, utilfeature.DefaultFeatureGate)
}

// hollow sets what cannot be without a machine below, before the flags are read.
func hollow(server *options.KubeletServer) {
	server.CgroupsPerQOS = false
	server.EnforceNodeAllocatable = []string{}
	server.MakeIPTablesUtilChains = false
	// The host may still have them.
	server.FailCgroupV1 = false
	// There is no flag for it, and by default an unchanged status is written every five minutes.
	server.NodeStatusReportFrequency.Duration = 10 * time.Second
}
