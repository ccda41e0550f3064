package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// part is an address, a load balancer, a firewall or a DNS record, found by its tags.
type part struct {
	ID         string                     `json:"id,omitempty"`
	Kind       string                     `json:"kind"`
	Tags       map[string]string          `json:"tags"`
	Attributes map[string]json.RawMessage `json:"attributes"`
	State      string                     `json:"state,omitempty"`
}

// In the order of making; they go in the opposite one.
var allKinds = []string{"address", "load-balancer", "firewall", "dns"}

// A load balancer that is being made is looked at as often as Outrigger's provider for this cloud does it.
const pollInterval = 500 * time.Millisecond

// The order of the fields is that of Outrigger's provider for this cloud: neither changes what the other one has made.
type balancedPort struct {
	Port     int32       `json:"port"`
	Protocol v1.Protocol `json:"protocol"`
	NodePort int32       `json:"nodePort"`
}

type openPort struct {
	Port     int32       `json:"port"`
	Protocol v1.Protocol `json:"protocol"`
}

// partsOf asks for the parts of one Service, by its tag.
func (c *memoryCloud) partsOf(ctx context.Context, service *v1.Service) (map[string]part, error) {
	var answer struct {
		Parts []part `json:"parts"`
	}
	if err := c.get(ctx, "/parts?uid="+url.QueryEscape(string(service.UID)), &answer); err != nil {
		return nil, err
	}
	own := map[string]part{}
	for _, each := range answer.Parts {
		if each.Tags["clusterId"] == c.cluster && each.Tags["uid"] == string(service.UID) {
			own[each.Kind] = each
		}
	}
	return own, nil
}

func (c *memoryCloud) GetLoadBalancer(ctx context.Context, _ string, service *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	parts, err := c.partsOf(ctx, service)
	if err != nil || len(parts) == 0 {
		return nil, false, err
	}
	return statusOf(parts[c.kinds[0]]), true, nil
}

func (c *memoryCloud) GetLoadBalancerName(_ context.Context, _ string, service *v1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(service)
}

func (c *memoryCloud) EnsureLoadBalancer(ctx context.Context, _ string, service *v1.Service, nodes []*v1.Node) (*v1.LoadBalancerStatus, error) {
	parts, err := c.partsOf(ctx, service)
	if err != nil {
		return nil, err
	}
	return c.ensureParts(ctx, service, nodes, parts)
}

// UpdateLoadBalancer makes nothing anew: it is called for Services that are being deleted, too.
func (c *memoryCloud) UpdateLoadBalancer(ctx context.Context, _ string, service *v1.Service, nodes []*v1.Node) error {
	parts, err := c.partsOf(ctx, service)
	if err != nil {
		return err
	}
	if _, ok := parts["load-balancer"]; !ok {
		return fmt.Errorf("%s/%s has no load balancer to change", service.Namespace, service.Name)
	}
	_, err = c.ensureParts(ctx, service, nodes, parts)
	return err
}

// ensureParts makes or changes the parts one after another, and waits until the load balancer serves. All need the IP, which
// comes with the first of them.
func (c *memoryCloud) ensureParts(ctx context.Context, service *v1.Service, nodes []*v1.Node, parts map[string]part) (*v1.LoadBalancerStatus, error) {
	sources := append([]string{}, service.Spec.LoadBalancerSourceRanges...)
	var balanced []balancedPort
	var open []openPort
	for _, port := range service.Spec.Ports {
		balanced = append(balanced, balancedPort{port.Port, port.Protocol, port.NodePort})
		open = append(open, openPort{port.Port, port.Protocol})
	}
	backEnds := []string{}
	for _, node := range nodes {
		backEnds = append(backEnds, node.Spec.ProviderID)
	}
	slices.Sort(backEnds)
	wanted := map[string]map[string]any{
		"address":       {},
		"load-balancer": {"ports": balanced, "backEnds": backEnds},
		"firewall":      {"ports": open, "sources": sources},
		"dns":           {"name": service.Name + "." + service.Namespace + ".memory.test"},
	}
	var first part
	for number, kind := range c.kinds {
		if number > 0 && kind != "firewall" {
			wanted[kind]["ip"] = first.Attributes["ip"]
		}
		made, err := c.ensurePart(ctx, service, parts, kind, wanted[kind])
		if err != nil {
			return nil, err
		}
		if number == 0 {
			first = made
		}
		for made.State == "pending" {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(pollInterval):
			}
			now, err := c.partsOf(ctx, service)
			if err != nil {
				return nil, err
			}
			made = now[kind]
		}
	}
	return statusOf(first), nil
}

func (c *memoryCloud) EnsureLoadBalancerDeleted(ctx context.Context, _ string, service *v1.Service) error {
	parts, err := c.partsOf(ctx, service)
	if err != nil {
		return err
	}
	for _, kind := range slices.Backward(allKinds) {
		if there, ok := parts[kind]; ok {
			err := c.send(ctx, http.MethodDelete, "/parts/"+there.ID, nil, &struct{}{})
			if err != nil && !errors.Is(err, errNotFound) {
				return err
			}
		}
	}
	return nil
}

// ensurePart makes a part, or changes it where it is not as wanted.
func (c *memoryCloud) ensurePart(ctx context.Context, service *v1.Service, there map[string]part, kind string, wanted map[string]any) (part, error) {
	attributes := map[string]json.RawMessage{}
	for name, value := range wanted {
		text, err := json.Marshal(value)
		if err != nil {
			return part{}, err
		}
		attributes[name] = text
	}
	body := part{Kind: kind, Attributes: attributes, Tags: map[string]string{"clusterId": c.cluster, "uid": string(service.UID)}}
	var made part
	existing, ok := there[kind]
	if !ok {
		err := c.send(ctx, http.MethodPost, "/parts", body, &made)
		return made, err
	}
	for name, value := range attributes {
		if !bytes.Equal(existing.Attributes[name], value) {
			err := c.send(ctx, http.MethodPut, "/parts/"+existing.ID, map[string]any{"attributes": attributes}, &made)
			return made, err
		}
	}
	return existing, nil
}

func statusOf(address part) *v1.LoadBalancerStatus {
	var ip string
	if err := json.Unmarshal(address.Attributes["ip"], &ip); err != nil {
		return &v1.LoadBalancerStatus{}
	}
	mode := v1.LoadBalancerIPModeVIP
	return &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: ip, IPMode: &mode}}}
}

var _ cloudprovider.LoadBalancer = &memoryCloud{}
