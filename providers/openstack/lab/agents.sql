insert into agents
  (id, agent_type, `binary`, topic, host, admin_state_up, created_at, started_at, heartbeat_timestamp, configurations, `load`, resource_versions)
select uuid(), 'Open vSwitch agent', 'neutron-openvswitch-agent', 'N/A', hosts.name, 1, now(), now(), '2099-01-01',
  '{"bridge_mappings": {"outside": "br-outside"}, "tunnel_types": ["vxlan"], "tunneling_ip": "10.255.0.1", "datapath_type": "system", "ovs_hybrid_plug": false}',
  0, '{}'
from (select 'compute-1' as name union select 'compute-2' union select 'compute-3') as hosts;

create event plug_ports on schedule every 1 second do
  update ports join ml2_port_bindings on ml2_port_bindings.port_id = ports.id
  set ports.status = 'ACTIVE'
  where ports.status = 'DOWN' and ml2_port_bindings.vif_type = 'ovs' and ports.device_owner like 'compute:%';
