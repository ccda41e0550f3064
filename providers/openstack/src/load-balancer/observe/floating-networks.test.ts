import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import type { ApiClient } from '../../client/api-client.ts';
import { callContext } from '../rig.suite.ts';
import { ExternalNetwork } from './floating-networks.ts';

test('the first external network with a subnet is believed for a minute, and that there is none not at all', async () => {
  const clock = new FakeClock();
  let networks: readonly object[] | Error = [{ id: 'without', subnets: [] }];
  let requests = 0;
  const client = {
    list: () => {
      requests++;
      return networks instanceof Error ? Promise.reject(networks) : Promise.resolve(networks);
    },
  } as unknown as ApiClient;
  const external = new ExternalNetwork(clock);
  const read = (): Promise<string | null> => external.read(client, callContext());
  assert.deepEqual([await read(), await read(), external.id, requests], [null, null, undefined, 2]);
  networks = [...networks, { id: 'public', subnets: ['s'] }, { id: 'other', subnets: ['s'] }];
  assert.deepEqual([await read(), external.id, requests], ['public', 'public', 3]);
  networks = [{ id: 'other', subnets: ['s'] }];
  await clock.advance(59_999);
  assert.deepEqual([await read(), requests], ['public', 3]);
  await clock.advance(1);
  assert.deepEqual([await read(), requests], ['other', 4]);
  networks = new Error('503');
  await clock.advance(60_000);
  await assert.rejects(read());
  assert.equal(external.id, 'other');
  networks = [];
  assert.deepEqual([await read(), external.id], [null, undefined]);
});
