// Upstream's specs of [sig-cloud-provider], which run only where the provider is called aws or gce: here that is the cloud in memory.
// DeleteNode takes the machine away, and with it the kubelet that ran on it.
//
//	cloud-specs -kubeconfig=… -provider=aws -cloud=http://127.0.0.1:… -kubelets=node-1=1234,node-2=1235
package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	v1 "k8s.io/api/core/v1"
	_ "k8s.io/kubernetes/test/e2e/cloud"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
)

var (
	cloud    = flag.String("cloud", "", "where the control endpoint of the cloud in memory is")
	kubelets = flag.String("kubelets", "", "name=pid of each node's kubelet, by commas")
)

type memoryCloud struct{ framework.NullProvider }

// DeleteNode knows the machine by the provider ID that the cloud-controller-manager has given to the node.
func (memoryCloud) DeleteNode(node *v1.Node) error {
	parsed, err := url.Parse(node.Spec.ProviderID)
	if err != nil || parsed.Scheme != "memory" {
		return fmt.Errorf("provider ID %q: %w", node.Spec.ProviderID, err)
	}
	request, err := http.NewRequest(http.MethodDelete, *cloud+"/control/instances/"+path.Base(parsed.Path), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", request.URL, response.Status)
	}
	return endKubelet(node.Name)
}

func endKubelet(node string) error {
	for _, pair := range strings.Split(*kubelets, ",") {
		if name, pid, _ := strings.Cut(pair, "="); name == node {
			number, err := strconv.Atoi(pid)
			if err != nil {
				return err
			}
			return syscall.Kill(number, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("no kubelet of node %s in %q", node, *kubelets)
}

// suite is what Ginkgo needs of a testing.T.
type suite struct{ failed bool }

func (s *suite) Fail() { s.failed = true }

func main() {
	framework.RegisterProvider("aws", func() (framework.ProviderInterface, error) { return memoryCloud{}, nil })
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	configuration, reporter := framework.CreateGinkgoConfig()
	if t := new(suite); !ginkgo.RunSpecs(t, "cloud specs", configuration, reporter) || t.failed {
		os.Exit(1)
	}
}
