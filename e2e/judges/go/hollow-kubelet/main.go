// A real kubelet with nothing below it: its own command line, API client, TLS, authentication, /configz and /flagz; in place of a
// container runtime, cgroups, cAdvisor and mounts it has the fakes with which kubemark makes hollow nodes. kubemark's own command
// has no --cloud-provider, and sets a provider ID of its own. Of each container, which runs nothing, the log has one line: its name.
//
//	hollow-kubelet --kubeconfig=… --cloud-provider=external --root-dir=… --cert-dir=… --node-ip=… --address=…
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/flagz"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	internalapi "k8s.io/cri-api/pkg/apis"
	apitest "k8s.io/cri-api/pkg/apis/testing"
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
	if err := os.MkdirAll(server.PodLogsDir, 0o700); err != nil {
		return err
	}

	runtime := fakeremote.NewFakeRemoteRuntime()
	endpoint := "unix://" + server.RootDirectory + "/cri.sock"
	if err := runtime.Start(endpoint); err != nil {
		return err
	}
	defer runtime.Stop()
	go writeLogs(ctx, runtime.RuntimeService, server.PodLogsDir)
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

// writeLogs gives each container a log file, as a runtime does: kubemark's has none.
func writeLogs(ctx context.Context, service *apitest.FakeRuntimeService, folder string) {
	for ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		service.Lock()
		for id, container := range service.Containers {
			if container.LogPath != "" {
				continue
			}
			path := filepath.Join(folder, id+".log")
			line := fmt.Sprintf("%s stdout F %s\n", time.Now().UTC().Format(time.RFC3339Nano), container.Metadata.Name)
			if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
				klog.ErrorS(err, "log of a container", "path", path)
				continue
			}
			container.LogPath = path
		}
		service.Unlock()
	}
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
