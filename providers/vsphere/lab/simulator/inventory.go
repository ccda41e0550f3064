package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// How much there is of what.
type shape struct {
	name                                            string
	datacenters, clusters, hosts, folders, machines int
}

// Of names alone, so that each run has the same.
func uuidOf(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(strings.Join(parts, "/"))).String()
}

// A vCenter with machines whose guests say what they are.
func create(shape shape) (*simulator.Model, string, error) {
	model := simulator.VPX()
	model.Datacenter = shape.datacenters
	model.Cluster = shape.clusters
	model.ClusterHost = shape.hosts
	model.Host = 0
	model.Folder = shape.folders
	model.Pool = 1
	model.Machine = shape.machines
	instanceUUID := uuidOf("vcenter", shape.name)
	// Each simulator has the same one by itself, and two vCenters never have.
	model.ServiceContent.About.InstanceUuid = instanceUUID
	if err := model.Create(); err != nil {
		return nil, "", err
	}
	machines := model.Map().All("VirtualMachine")
	// By the number in vm-42, which is the order in which they were made.
	number := func(entity mo.Entity) int {
		value := entity.Reference().Value
		n, _ := strconv.Atoi(value[strings.LastIndex(value, "-")+1:])
		return n
	}
	sort.Slice(machines, func(i, j int) bool { return number(machines[i]) < number(machines[j]) })
	for index, machine := range machines {
		name := fmt.Sprintf("%s-%d", shape.name, index)
		address := fmt.Sprintf("10.%d.%d.%d", 10+int(shape.name[0])%100, index/250, index%250+1)
		update(model, machine, identity(name, uuidOf(shape.name, name)))
		update(model, machine, guest{HostName: name, IPAddress: address, Nics: []nic{{
			Network: "nodes", DeviceConfigID: 4000, Connected: true,
			MacAddress: fmt.Sprintf("00:50:56:%02x:%02x:%02x", int(shape.name[0]), index/256, index%256),
			Addresses:  []nicAddress{{Address: address, PrefixLength: 16}},
		}}}.changes())
	}
	return model, instanceUUID, nil
}

func update(model *simulator.Model, object mo.Reference, changes []types.PropertyChange) {
	context := model.Service.Context
	context.WithLock(object, func() { context.Update(object, changes) })
}

func identity(name, biosUUID string) []types.PropertyChange {
	instance := uuidOf("instance", biosUUID)
	return []types.PropertyChange{
		{Name: "name", Val: name}, {Name: "config.name", Val: name}, {Name: "summary.config.name", Val: name},
		{Name: "config.uuid", Val: biosUUID}, {Name: "summary.config.uuid", Val: biosUUID},
		{Name: "config.instanceUuid", Val: instance}, {Name: "summary.config.instanceUuid", Val: instance},
	}
}

// What VMware Tools report of a machine.
type guest struct {
	HostName  string `json:"hostName"`
	IPAddress string `json:"ipAddress"`
	Nics      []nic  `json:"nics"`
}

type nic struct {
	Network        string       `json:"network"`
	MacAddress     string       `json:"macAddress"`
	DeviceConfigID int32        `json:"deviceConfigId"`
	Connected      bool         `json:"connected"`
	Addresses      []nicAddress `json:"addresses"`
}

type nicAddress struct {
	Address      string `json:"address"`
	PrefixLength int32  `json:"prefixLength"`
}

func (g guest) changes() []types.PropertyChange {
	nics := []types.GuestNicInfo{}
	for _, nic := range g.Nics {
		info := types.GuestNicInfo{
			Network: nic.Network, MacAddress: nic.MacAddress, DeviceConfigId: nic.DeviceConfigID,
			Connected: nic.Connected, IpConfig: &types.NetIpConfigInfo{},
		}
		for _, address := range nic.Addresses {
			info.IpAddress = append(info.IpAddress, address.Address)
			info.IpConfig.IpAddress = append(info.IpConfig.IpAddress, types.NetIpConfigInfoIpAddress{
				IpAddress: address.Address, PrefixLength: address.PrefixLength, State: "preferred",
			})
		}
		nics = append(nics, info)
	}
	return []types.PropertyChange{
		{Name: "guest.hostName", Val: g.HostName}, {Name: "summary.guest.hostName", Val: g.HostName},
		{Name: "guest.ipAddress", Val: g.IPAddress}, {Name: "summary.guest.ipAddress", Val: g.IPAddress},
		{Name: "guest.net", Val: nics},
		{Name: "guest.toolsRunningStatus", Val: string(types.VirtualMachineToolsRunningStatusGuestToolsRunning)},
	}
}
