package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vapi/rest"
	"github.com/vmware/govmomi/vapi/tags"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// control is what tests change the vCenter by: POST /<what> with an object as JSON.
type control struct {
	model  *simulator.Model
	wire   *wire
	client *vim25.Client
	tags   *tags.Manager
}

func newControl(model *simulator.Model, wire *wire, address *url.URL) (http.Handler, error) {
	ctx := context.Background()
	transport := soap.NewClient(address, true)
	transport.UserAgent = labAgent
	client, err := vim25.NewClient(ctx, transport)
	if err != nil {
		return nil, err
	}
	own := url.UserPassword(labAgent, labAgent)
	if err := session.NewManager(client).Login(ctx, own); err != nil {
		return nil, err
	}
	restClient := rest.NewClient(client)
	if err := restClient.Login(ctx, own); err != nil {
		return nil, err
	}
	c := &control{model: model, wire: wire, client: client, tags: tags.NewManager(restClient)}
	mux := http.NewServeMux()
	on(mux, "machines", c.machines)
	on(mux, "objects", c.objects)
	on(mux, "guest", c.guest)
	on(mux, "hardware", c.hardware)
	on(mux, "power", c.power)
	on(mux, "destroy", c.destroy)
	on(mux, "unregister", c.unregister)
	on(mux, "create", c.create)
	on(mux, "rename", c.rename)
	on(mux, "migrate", c.migrate)
	on(mux, "connection", c.connection)
	on(mux, "host", c.host)
	on(mux, "folder", c.folder)
	on(mux, "tag", c.tag)
	on(mux, "untag", c.untag)
	on(mux, "hide", c.hide)
	on(mux, "sessions", c.sessions)
	on(mux, "password", c.password)
	on(mux, "down", c.down)
	on(mux, "rules", c.rules)
	on(mux, "fault", c.fault)
	on(mux, "calls", c.calls)
	return mux, nil
}

func on[T any](mux *http.ServeMux, what string, act func(context.Context, T) (any, error)) {
	mux.HandleFunc("POST /"+what, func(response http.ResponseWriter, request *http.Request) {
		var input T
		decoder := json.NewDecoder(request.Body)
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&input)
		var output any
		if err == nil {
			output, err = act(request.Context(), input)
		}
		if err != nil {
			http.Error(response, fmt.Sprintf("%s: %v", what, err), http.StatusBadRequest)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(response).Encode(output)
	})
}

type nothing struct{}

// `vm-42`.
type machineInput struct {
	Machine string `json:"machine"`
}

func machineReference(value string) types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: "VirtualMachine", Value: value}
}

func (c *control) vm(value string) (*simulator.VirtualMachine, error) {
	vm, ok := c.model.Map().Get(machineReference(value)).(*simulator.VirtualMachine)
	if !ok {
		return nil, fmt.Errorf("there is no machine %q", value)
	}
	return vm, nil
}

// Waits for a task, whose error it answers.
func wait(ctx context.Context, task *object.Task, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return nothing{}, task.Wait(ctx)
}

func (c *control) object(value string) *object.VirtualMachine {
	return object.NewVirtualMachine(c.client, machineReference(value))
}

type machine struct {
	Reference    string `json:"reference"`
	Name         string `json:"name"`
	BiosUUID     string `json:"biosUuid"`
	InstanceUUID string `json:"instanceUuid"`
	Address      string `json:"address"`
	Host         string `json:"host"`
	Pool         string `json:"pool"`
	Parent       string `json:"parent"`
}

func (c *control) machines(context.Context, nothing) (any, error) {
	all := []machine{}
	for _, entity := range c.model.Map().All("VirtualMachine") {
		vm := entity.(*simulator.VirtualMachine)
		one := machine{
			Reference: vm.Self.Value, Name: vm.Name, BiosUUID: vm.Config.Uuid, InstanceUUID: vm.Config.InstanceUuid,
			Address: vm.Guest.IpAddress, Parent: vm.Parent.Value,
		}
		if vm.Runtime.Host != nil {
			one.Host = vm.Runtime.Host.Value
		}
		if vm.ResourcePool != nil {
			one.Pool = vm.ResourcePool.Value
		}
		all = append(all, one)
	}
	return all, nil
}

type namedObject struct {
	Type      string `json:"type"`
	Reference string `json:"reference"`
	Name      string `json:"name"`
	Parent    string `json:"parent"`
}

// Hosts, clusters, datacenters, folders and resource pools.
func (c *control) objects(context.Context, nothing) (any, error) {
	all := []namedObject{}
	for _, kind := range []string{"HostSystem", "ClusterComputeResource", "Datacenter", "Folder", "ResourcePool"} {
		for _, entity := range c.model.Map().All(kind) {
			one := namedObject{Type: kind, Reference: entity.Reference().Value, Name: entity.Entity().Name}
			if parent := entity.Entity().Parent; parent != nil {
				one.Parent = parent.Value
			}
			all = append(all, one)
		}
	}
	return all, nil
}

type guestInput struct {
	machineInput
	guest
}

func (c *control) guest(_ context.Context, input guestInput) (any, error) {
	vm, err := c.vm(input.Machine)
	if err != nil {
		return nil, err
	}
	update(c.model, vm, input.changes())
	return nothing{}, nil
}

type hardwareInput struct {
	machineInput
	UUID          string            `json:"uuid"`
	CPUs          int32             `json:"cpus"`
	MemoryMB      int64             `json:"memoryMB"`
	GuestID       string            `json:"guestId"`
	GuestFullName string            `json:"guestFullName"`
	ExtraConfig   map[string]string `json:"extraConfig"`
}

func (c *control) hardware(ctx context.Context, input hardwareInput) (any, error) {
	spec := types.VirtualMachineConfigSpec{
		Uuid: input.UUID, NumCPUs: input.CPUs, MemoryMB: input.MemoryMB, GuestId: input.GuestID,
	}
	for key, value := range input.ExtraConfig {
		spec.ExtraConfig = append(spec.ExtraConfig, &types.OptionValue{Key: key, Value: value})
	}
	task, err := c.object(input.Machine).Reconfigure(ctx, spec)
	if output, err := wait(ctx, task, err); err != nil || input.GuestFullName == "" {
		return output, err
	}
	vm, err := c.vm(input.Machine)
	if err != nil {
		return nil, err
	}
	update(c.model, vm, []types.PropertyChange{{Name: "config.guestFullName", Val: input.GuestFullName}, {Name: "summary.config.guestFullName", Val: input.GuestFullName}})
	return nothing{}, nil
}

type powerInput struct {
	machineInput
	State string `json:"state"`
}

func (c *control) power(ctx context.Context, input powerInput) (any, error) {
	vm := c.object(input.Machine)
	switch input.State {
	case "poweredOn":
		task, err := vm.PowerOn(ctx)
		return wait(ctx, task, err)
	case "poweredOff":
		task, err := vm.PowerOff(ctx)
		return wait(ctx, task, err)
	case "suspended":
		task, err := vm.Suspend(ctx)
		return wait(ctx, task, err)
	}
	return nil, fmt.Errorf("there is no power state %q", input.State)
}

func (c *control) destroy(ctx context.Context, input machineInput) (any, error) {
	vm, err := c.vm(input.Machine)
	if err != nil {
		return nil, err
	}
	if vm.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn {
		if _, err := c.power(ctx, powerInput{input, "poweredOff"}); err != nil {
			return nil, err
		}
	}
	task, err := c.object(input.Machine).Destroy(ctx)
	return wait(ctx, task, err)
}

// Out of the inventory; its files stay.
func (c *control) unregister(ctx context.Context, input machineInput) (any, error) {
	if _, err := c.power(ctx, powerInput{input, "poweredOff"}); err != nil {
		return nil, err
	}
	return nothing{}, c.object(input.Machine).Unregister(ctx)
}

type createInput struct {
	// The machine that it is a clone of, beside which it is put.
	Like    string `json:"like"`
	Name    string `json:"name"`
	UUID    string `json:"uuid"`
	Address string `json:"address"`
}

// A machine that runs. Answers its reference.
func (c *control) create(ctx context.Context, input createInput) (any, error) {
	like, err := c.vm(input.Like)
	if err != nil {
		return nil, err
	}
	folder := object.NewFolder(c.client, *like.Parent)
	spec := types.VirtualMachineCloneSpec{
		Location: types.VirtualMachineRelocateSpec{Host: like.Runtime.Host, Pool: like.ResourcePool}, PowerOn: true,
	}
	// Never the name that it is to have: a clone's files are named by it, and those of a machine that had it may be there.
	task, err := c.object(input.Like).Clone(ctx, folder, "clone-"+input.UUID, spec)
	if err != nil {
		return nil, err
	}
	info, err := task.WaitForResult(ctx)
	if err != nil {
		return nil, err
	}
	reference := info.Result.(types.ManagedObjectReference).Value
	vm, err := c.vm(reference)
	if err != nil {
		return nil, err
	}
	update(c.model, vm, identity(input.Name, input.UUID))
	update(c.model, vm, guest{HostName: input.Name, IPAddress: input.Address, Nics: []nic{{
		Network: "nodes", DeviceConfigID: 4000, Connected: true, Addresses: []nicAddress{{input.Address, 16}},
	}}}.changes())
	return machineInput{reference}, nil
}

type renameInput struct {
	machineInput
	Name string `json:"name"`
}

func (c *control) rename(ctx context.Context, input renameInput) (any, error) {
	task, err := c.object(input.Machine).Rename(ctx, input.Name)
	return wait(ctx, task, err)
}

type migrateInput struct {
	machineInput
	// `host-21`. A machine that goes to another cluster goes to that one's root resource pool.
	Host string `json:"host"`
}

func (c *control) migrate(_ context.Context, input migrateInput) (any, error) {
	vm, err := c.vm(input.Machine)
	if err != nil {
		return nil, err
	}
	reference := types.ManagedObjectReference{Type: "HostSystem", Value: input.Host}
	host, ok := c.model.Map().Get(reference).(*simulator.HostSystem)
	if !ok {
		return nil, fmt.Errorf("there is no host %q", input.Host)
	}
	changes := []types.PropertyChange{{Name: "runtime.host", Val: reference}, {Name: "summary.runtime.host", Val: reference}}
	if cluster, ok := c.model.Map().Get(*host.Parent).(*simulator.ClusterComputeResource); ok {
		if now, ok := c.model.Map().Get(*vm.Runtime.Host).(*simulator.HostSystem); ok && *now.Parent != *host.Parent {
			changes = append(changes, types.PropertyChange{Name: "resourcePool", Val: *cluster.ResourcePool})
		}
	}
	update(c.model, vm, changes)
	return nothing{}, nil
}

type connectionInput struct {
	machineInput
	// `connected`, `disconnected`, `orphaned`, `inaccessible`, `invalid`. Of one that is neither connected nor disconnected vCenter
	// does not know the configuration.
	State string `json:"state"`
}

func (c *control) connection(_ context.Context, input connectionInput) (any, error) {
	vm, err := c.vm(input.Machine)
	if err != nil {
		return nil, err
	}
	c.connect(vm, types.VirtualMachineConnectionState(input.State))
	return nothing{}, nil
}

func (c *control) connect(vm *simulator.VirtualMachine, state types.VirtualMachineConnectionState) {
	c.wire.lock.Lock()
	delete(c.wire.unknown, vm.Self.Value)
	if state != types.VirtualMachineConnectionStateConnected && state != types.VirtualMachineConnectionStateDisconnected {
		c.wire.unknown[vm.Self.Value] = true
	}
	c.wire.lock.Unlock()
	update(c.model, vm, []types.PropertyChange{{Name: "runtime.connectionState", Val: state}, {Name: "summary.runtime.connectionState", Val: state}})
}

type hostInput struct {
	Host string `json:"host"`
	// `connected`, `disconnected`, `notResponding`. Machines of a host that is not connected are disconnected.
	State string `json:"state"`
}

func (c *control) host(_ context.Context, input hostInput) (any, error) {
	reference := types.ManagedObjectReference{Type: "HostSystem", Value: input.Host}
	host, ok := c.model.Map().Get(reference).(*simulator.HostSystem)
	if !ok {
		return nil, fmt.Errorf("there is no host %q", input.Host)
	}
	state := types.HostSystemConnectionState(input.State)
	update(c.model, host, []types.PropertyChange{{Name: "runtime.connectionState", Val: state}, {Name: "summary.runtime.connectionState", Val: state}})
	of := types.VirtualMachineConnectionStateDisconnected
	if state == types.HostSystemConnectionStateConnected {
		of = types.VirtualMachineConnectionStateConnected
	}
	for _, entity := range c.model.Map().All("VirtualMachine") {
		if vm := entity.(*simulator.VirtualMachine); vm.Runtime.Host != nil && *vm.Runtime.Host == reference {
			c.connect(vm, of)
		}
	}
	return nothing{}, nil
}

type folderInput struct {
	machineInput
	Name string `json:"name"`
}

// Moves a machine into a new folder beside it. Answers the folder's reference.
func (c *control) folder(ctx context.Context, input folderInput) (any, error) {
	vm, err := c.vm(input.Machine)
	if err != nil {
		return nil, err
	}
	made, err := object.NewFolder(c.client, *vm.Parent).CreateFolder(ctx, input.Name)
	if err != nil {
		return nil, err
	}
	task, err := made.MoveInto(ctx, []types.ManagedObjectReference{vm.Self})
	if _, err := wait(ctx, task, err); err != nil {
		return nil, err
	}
	return map[string]string{"folder": made.Reference().Value}, nil
}

type tagInput struct {
	Type      string `json:"type"`
	Reference string `json:"reference"`
	Category  string `json:"category"`
	Name      string `json:"name"`
}

func (c *control) tag(ctx context.Context, input tagInput) (any, error) {
	category, err := c.tags.GetCategory(ctx, input.Category)
	if err != nil {
		made := &tags.Category{Name: input.Category, Cardinality: "MULTIPLE", AssociableTypes: []string{}}
		id, err := c.tags.CreateCategory(ctx, made)
		if err != nil {
			return nil, err
		}
		made.ID = id
		category = made
	}
	id := ""
	if tag, err := c.tags.GetTagForCategory(ctx, input.Name, category.ID); err == nil {
		id = tag.ID
	} else if id, err = c.tags.CreateTag(ctx, &tags.Tag{Name: input.Name, CategoryID: category.ID}); err != nil {
		return nil, err
	}
	return nothing{}, c.tags.AttachTag(ctx, id, objectReference(input))
}

func (c *control) untag(ctx context.Context, input tagInput) (any, error) {
	tag, err := c.tags.GetTagForCategory(ctx, input.Name, input.Category)
	if err != nil {
		return nil, err
	}
	return nothing{}, c.tags.DetachTag(ctx, tag.ID, objectReference(input))
}

func objectReference(input tagInput) mo.Reference {
	return types.ManagedObjectReference{Type: input.Type, Value: input.Reference}
}

type hideInput struct {
	// References of all machines that the user may not see.
	Machines []string `json:"machines"`
}

func (c *control) hide(_ context.Context, input hideInput) (any, error) {
	c.wire.lock.Lock()
	defer c.wire.lock.Unlock()
	c.wire.hidden = map[string]bool{}
	for _, reference := range input.Machines {
		c.wire.hidden[reference] = true
	}
	return nothing{}, nil
}

type sessionsInput struct {
	Kill bool `json:"kill"`
}

// How many sessions clients have opened and not closed.
func (c *control) sessions(ctx context.Context, input sessionsInput) (any, error) {
	if input.Kill {
		soapSessions, restSessions := c.wire.killSessions()
		return map[string]int{"soap": soapSessions, "rest": restSessions}, nil
	}
	c.wire.lock.Lock()
	keys := make([]string, 0, len(c.wire.sessions))
	for key := range c.wire.sessions {
		keys = append(keys, key)
	}
	rest := len(c.wire.rest)
	user := c.wire.user
	c.wire.lock.Unlock()
	open := 0
	for _, key := range keys {
		ask := types.SessionIsActive{This: *c.client.ServiceContent.SessionManager, SessionID: key, UserName: user}
		if answer, err := methods.SessionIsActive(ctx, c.client, &ask); err == nil && answer.Returnval {
			open++
		}
	}
	return map[string]int{"soap": open, "rest": rest}, nil
}

type passwordInput struct {
	Password string `json:"password"`
}

// Another password for the user; sessions stay.
func (c *control) password(_ context.Context, input passwordInput) (any, error) {
	c.wire.lock.Lock()
	defer c.wire.lock.Unlock()
	c.wire.password = input.Password
	return nothing{}, nil
}

type downInput struct {
	Down bool `json:"down"`
}

func (c *control) down(_ context.Context, input downInput) (any, error) {
	c.wire.lock.Lock()
	defer c.wire.lock.Unlock()
	c.wire.down = input.Down
	return nothing{}, nil
}

type rulesInput struct {
	// All rules of the wire; what was there before is no more, and neither are the simulator's.
	Rules []*rule `json:"rules"`
}

func (c *control) rules(_ context.Context, input rulesInput) (any, error) {
	c.wire.lock.Lock()
	defer c.wire.lock.Unlock()
	c.wire.rules = input.Rules
	c.model.Service.ClearFaultRules()
	return nothing{}, nil
}

type faultInput struct {
	Method string `json:"method"`
	// Default: every one.
	Type string `json:"type"`
	// `NotAuthenticated`, `NoPermission`, `ManagedObjectNotFound`, `InvalidArgument`, `Timeout`, `Network`, `Generic`.
	Fault string `json:"fault"`
	Skip  int    `json:"skip"`
	// 0: until the rules are cleared.
	Count int `json:"count"`
	// Of 1. Default: 1.
	Probability float64 `json:"probability"`
}

var faults = map[string]simulator.FaultType{
	"NotAuthenticated": simulator.FaultTypeNotAuthenticated, "NoPermission": simulator.FaultTypeNoPermission,
	"ManagedObjectNotFound": simulator.FaultTypeManagedObjectNotFound, "InvalidArgument": simulator.FaultTypeInvalidArgument,
	"Timeout": simulator.FaultTypeTimeout, "Network": simulator.FaultTypeNetworkFailure, "Generic": simulator.FaultTypeGeneric,
}

// A fault by the simulator's own rules.
func (c *control) fault(_ context.Context, input faultInput) (any, error) {
	fault, ok := faults[strings.TrimSpace(input.Fault)]
	if !ok {
		return nil, fmt.Errorf("there is no fault %q", input.Fault)
	}
	one := &simulator.FaultInjectionRule{
		MethodName: input.Method, ObjectType: input.Type, ObjectName: "*", FaultType: fault, Enabled: true,
		SkipCount: input.Skip, MaxCount: input.Count, Probability: input.Probability,
	}
	if one.ObjectType == "" {
		one.ObjectType = "*"
	}
	if one.Probability == 0 {
		one.Probability = 1
	}
	c.model.Service.AddFaultRule(one)
	return nothing{}, nil
}

type callsInput struct {
	// Forgets them after this answer.
	Reset bool `json:"reset"`
}

// All requests since they were forgotten last, in order.
func (c *control) calls(_ context.Context, input callsInput) (any, error) {
	c.wire.lock.Lock()
	defer c.wire.lock.Unlock()
	all := append([]call{}, c.wire.calls...)
	if input.Reset {
		c.wire.calls = nil
	}
	return all, nil
}
