package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

type route struct {
	ID          string `json:"id,omitempty"`
	Destination string `json:"destination"`
	InstanceID  string `json:"instanceId"`
	NodeName    string `json:"nodeName"`
	ClusterID   string `json:"clusterId"`
}

// outcome is what the cloud says of each item of a batch.
type outcome struct {
	Results []struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"results"`
}

func (o outcome) err() error {
	for _, result := range o.Results {
		if result.Kind == "failed" {
			return fmt.Errorf("the cloud refuses: %s", result.Message)
		}
	}
	return nil
}

func (c *memoryCloud) ListRoutes(ctx context.Context, _ string) ([]*cloudprovider.Route, error) {
	var answer struct {
		Routes []route `json:"routes"`
	}
	if err := c.get(ctx, "/routes", &answer); err != nil {
		return nil, err
	}
	var own []*cloudprovider.Route
	for _, each := range answer.Routes {
		if each.ClusterID == c.cluster {
			own = append(own, &cloudprovider.Route{
				Name:            each.ID,
				TargetNode:      types.NodeName(each.NodeName),
				DestinationCIDR: each.Destination,
			})
		}
	}
	return own, nil
}

func (c *memoryCloud) CreateRoute(ctx context.Context, _ string, _ string, wanted *cloudprovider.Route) error {
	var instances struct {
		Instances []instance `json:"instances"`
	}
	if err := c.get(ctx, "/instances?name="+string(wanted.TargetNode), &instances); err != nil {
		return err
	}
	if len(instances.Instances) == 0 {
		return cloudprovider.InstanceNotFound
	}
	body := map[string]any{"routes": []route{{
		Destination: wanted.DestinationCIDR,
		InstanceID:  instances.Instances[0].ID,
		NodeName:    string(wanted.TargetNode),
		ClusterID:   c.cluster,
	}}}
	var answer outcome
	if err := c.send(ctx, http.MethodPost, "/routes:batchCreate", body, &answer); err != nil {
		return err
	}
	return answer.err()
}

func (c *memoryCloud) DeleteRoute(ctx context.Context, _ string, unwanted *cloudprovider.Route) error {
	var answer outcome
	ids := []string{strings.TrimSpace(unwanted.Name)}
	if err := c.send(ctx, http.MethodPost, "/routes:batchDelete", map[string]any{"ids": ids}, &answer); err != nil {
		return err
	}
	return answer.err()
}

var _ cloudprovider.Routes = &memoryCloud{}
