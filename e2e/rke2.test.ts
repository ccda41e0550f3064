import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';
import { rke2Node, type Rke2Role } from './rke2.ts';

const OFF = 'disable-cloud-controller: true\n';
const EXTERNAL = 'kubelet-arg:\n- cloud-provider=external\n';

const seen = (role: Rke2Role, config: string, serverConfig = config): object => {
  const { metadata, spec } = rke2Node({ name: 'n', role, config, serverConfig });
  return {
    isTainted: spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT) ?? false,
    providerID: spec?.providerID,
    role: metadata?.labels?.['node-role.kubernetes.io/control-plane'],
    args: metadata?.annotations?.['rke2.io/node-args'],
  };
};

test('with both settings a server and an agent wait for an external manager, and say how they were started', () => {
  assert.deepEqual(seen('server', OFF + EXTERNAL), {
    isTainted: true,
    providerID: undefined,
    role: 'true',
    args: '["server","--disable-cloud-controller","true","--kubelet-arg","cloud-provider=external"]',
  });
  assert.deepEqual(seen('agent', EXTERNAL, OFF + EXTERNAL), {
    isTainted: true,
    providerID: undefined,
    role: undefined,
    args: '["agent","--kubelet-arg","cloud-provider=external"]',
  });
  assert.ok((seen('agent', 'cloud-provider-name: external', OFF) as { isTainted: boolean }).isTainted);
});

test('without one of them a node waits for nobody', () => {
  const without = (config: string, serverConfig: string): unknown => {
    const { isTainted, providerID } = seen('agent', config, serverConfig) as Record<string, unknown>;
    return [isTainted, providerID];
  };
  assert.deepEqual(without('token: x', OFF), [false, undefined]);
  assert.deepEqual(without('kubelet-arg: cloud-provider=aws', OFF), [false, undefined]);
  assert.deepEqual(without(EXTERNAL, EXTERNAL), [false, 'rke2://n']);
});

test("a key that is misspelt, or the other role's, and what RKE2 refuses, are refused", () => {
  assert.throws(() => seen('server', 'disable-cloud-controler: true'), /RKE2 server here: disable-cloud-controler$/u);
  assert.throws(() => seen('agent', OFF, OFF), /RKE2 agent here: disable-cloud-controller$/u);
  assert.throws(
    () => seen('server', 'cloud-provider-name: external\nnode-external-ip: 192.0.2.1'),
    /node-external-ip/u,
  );
});
