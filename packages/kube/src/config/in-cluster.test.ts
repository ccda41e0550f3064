import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { silentLogger } from '../logger.ts';
import { isInCluster, loadInClusterConfig, SERVICE_ACCOUNT_DIRECTORY } from './in-cluster.ts';

const readFile = (path: string): Promise<string> =>
  path === `${SERVICE_ACCOUNT_DIRECTORY}/token` ? Promise.resolve('t') : Promise.reject(new Error('ENOENT'));
const base = { readFile, clock: new FakeClock(), logger: silentLogger };

test('outside of a pod it says so', async () => {
  assert.equal(isInCluster({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), false);
  await assert.rejects(loadInClusterConfig({ ...base, env: {} }), { code: 'config-not-found' });
});

test('a pod gives server, CA file and namespace, which is default when it cannot be read', async () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  assert.equal(isInCluster(env), true);
  const config = await loadInClusterConfig({ ...base, env });
  assert.equal(config.server, 'https://10.0.0.1:443');
  assert.equal(config.namespace, 'default');
  assert.ok(config.tls?.ca && 'file' in config.tls.ca);
  assert.equal(config.tls.ca.file, `${SERVICE_ACCOUNT_DIRECTORY}/ca.crt`);
});
