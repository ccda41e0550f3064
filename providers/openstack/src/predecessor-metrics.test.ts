import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestNameOf } from './predecessor-metrics.ts';

test('requests have the names of cloud-provider-openstack, and what it never asks for has none', () => {
  const names: Readonly<Record<string, string | undefined>> = {
    'GET /v2.0/lbaas/loadbalancers': 'loadbalancer_list',
    'GET /v2.0/lbaas/loadbalancers/{id}': 'loadbalancer_get',
    'POST /v2.0/lbaas/loadbalancers': 'loadbalancer_create',
    'DELETE /v2.0/lbaas/loadbalancers/{id}': 'loadbalancer_delete',
    'PUT /v2.0/lbaas/listeners/{id}': 'loadbalancer_listener_update',
    'GET /v2.0/lbaas/pools/{id}/members': 'loadbalancer_member_list',
    'PUT /v2.0/lbaas/pools/{id}/members': 'loadbalancer_members_update',
    'PUT /v2.0/lbaas/pools/{id}/members/{id}': 'loadbalancer_member_update',
    'POST /v2.0/lbaas/healthmonitors': 'loadbalancer_healthmonitor_create',
    'POST /v2.0/floatingips': 'floating_ip_create',
    'GET /v2.0/security-group-rules': 'security_group_rule_list',
    'PUT /v2.0/ports/{id}': 'port_update',
    'GET /servers/detail': 'server_list',
    'GET /servers/detail?name': 'server_list',
    'GET /servers/{id}': 'server_get',
    'PUT /routers/{id}/add_extraroutes': 'router_update',
    'PUT /v2.0/floatingips/{id}/tags': undefined,
    'POST /auth/tokens': undefined,
    'GET / (versions)': undefined,
    nonsense: undefined,
  };
  for (const [operation, name] of Object.entries(names)) assert.equal(requestNameOf(operation), name, operation);
});
