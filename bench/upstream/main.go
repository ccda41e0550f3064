// Command upstream-ccm is upstream's Go framework, k8s.io/cloud-provider, with a provider for the memory cloud that asks
// one question per object, as a typical provider does. It exists to be measured beside Outrigger in the same run, and to
// hand its controllers over to Outrigger and take them back.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
)

const providerName = "memory"

type memoryCloud struct {
	endpoint string
	client   *http.Client
	// cluster is the UID of the namespace kube-system: what is made in the cloud is tagged with it.
	cluster string
	// kinds are the parts of which each load balancer consists, in the order of making.
	kinds []string
}

type instance struct {
	ID         string            `json:"id"`
	ProviderID string            `json:"providerID"`
	Name       string            `json:"name"`
	State      string            `json:"state"`
	Type       string            `json:"type"`
	Zone       string            `json:"zone"`
	Region     string            `json:"region"`
	Addresses  []v1.NodeAddress  `json:"addresses"`
	Labels     map[string]string `json:"labels"`
}

var errNotFound = errors.New("instance not found")

func (c *memoryCloud) get(ctx context.Context, path string, into any) error {
	return c.send(ctx, http.MethodGet, path, nil, into)
}

func (c *memoryCloud) send(ctx context.Context, method, path string, body, into any) error {
	var text io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		text = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.endpoint+path, text)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated:
		return json.NewDecoder(response.Body).Decode(into)
	case http.StatusNotFound:
		_, _ = io.Copy(io.Discard, response.Body)
		return errNotFound
	default:
		_, _ = io.Copy(io.Discard, response.Body)
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
}

// find asks by provider ID where the node has one, else by name.
func (c *memoryCloud) find(ctx context.Context, node *v1.Node) (*instance, error) {
	if id := node.Spec.ProviderID; id != "" {
		var found instance
		err := c.get(ctx, "/instances/"+url.PathEscape(id[strings.LastIndex(id, "/")+1:]), &found)
		return &found, err
	}
	var answer struct {
		Instances []instance `json:"instances"`
	}
	if err := c.get(ctx, "/instances?name="+url.QueryEscape(node.Name), &answer); err != nil {
		return nil, err
	}
	if len(answer.Instances) == 0 {
		return nil, errNotFound
	}
	return &answer.Instances[0], nil
}

func (c *memoryCloud) InstanceExists(ctx context.Context, node *v1.Node) (bool, error) {
	_, err := c.find(ctx, node)
	if errors.Is(err, errNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (c *memoryCloud) InstanceShutdown(ctx context.Context, node *v1.Node) (bool, error) {
	found, err := c.find(ctx, node)
	if err != nil {
		return false, err
	}
	return found.State == "shutdown", nil
}

func (c *memoryCloud) InstanceMetadata(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	found, err := c.find(ctx, node)
	if errors.Is(err, errNotFound) {
		return nil, cloudprovider.InstanceNotFound
	}
	if err != nil {
		return nil, err
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID:       found.ProviderID,
		InstanceType:     found.Type,
		NodeAddresses:    found.Addresses,
		Zone:             found.Zone,
		Region:           found.Region,
		AdditionalLabels: found.Labels,
	}, nil
}

func (c *memoryCloud) Initialize(builder cloudprovider.ControllerClientBuilder, _ <-chan struct{}) {
	client := builder.ClientOrDie("cloud-provider-memory")
	namespace, err := client.CoreV1().Namespaces().Get(context.Background(), metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "the cluster has no identity:", err)
		os.Exit(1)
	}
	c.cluster = string(namespace.UID)
}

func (c *memoryCloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return c, true }
func (c *memoryCloud) Instances() (cloudprovider.Instances, bool)       { return nil, false }
func (c *memoryCloud) InstancesV2() (cloudprovider.InstancesV2, bool)   { return c, true }
func (c *memoryCloud) Zones() (cloudprovider.Zones, bool)               { return nil, false }
func (c *memoryCloud) Clusters() (cloudprovider.Clusters, bool)         { return nil, false }
func (c *memoryCloud) Routes() (cloudprovider.Routes, bool)             { return c, true }
func (c *memoryCloud) ProviderName() string                             { return providerName }
func (c *memoryCloud) HasClusterID() bool                               { return true }

var _ cloudprovider.InstancesV2 = &memoryCloud{}

func open(configuration io.Reader) (cloudprovider.Interface, error) {
	var parsed struct {
		Endpoint          string   `json:"endpoint"`
		LoadBalancerParts []string `json:"loadBalancerParts"`
	}
	if configuration == nil {
		return nil, errors.New("--cloud-config with an endpoint is needed")
	}
	if err := json.NewDecoder(configuration).Decode(&parsed); err != nil {
		return nil, err
	}
	kinds := allKinds
	if parsed.LoadBalancerParts != nil {
		kinds = slices.DeleteFunc(slices.Clone(allKinds), func(kind string) bool {
			return !slices.Contains(parsed.LoadBalancerParts, kind)
		})
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	return &memoryCloud{endpoint: parsed.Endpoint, client: client, kinds: kinds}, nil
}

func main() {
	cloudprovider.RegisterCloudProvider(providerName, open)
	configured, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	initialise := func(completed *config.CompletedConfig) cloudprovider.Interface {
		shared := completed.ComponentConfig.KubeCloudShared.CloudProvider
		cloud, err := cloudprovider.InitCloudProvider(shared.Name, shared.CloudConfigFile)
		if err != nil || cloud == nil {
			fmt.Fprintln(os.Stderr, "no cloud:", err)
			os.Exit(1)
		}
		return cloud
	}
	command := app.NewCloudControllerManagerCommand(
		configured, initialise, app.DefaultInitFuncConstructors, names.CCMControllerAliases(), cliflag.NamedFlagSets{}, wait.NeverStop)
	os.Exit(cli.Run(command))
}
