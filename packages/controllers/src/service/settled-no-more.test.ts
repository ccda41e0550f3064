/** What was settled once is not given back without a look, once a look has shown something else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type LoadBalancerObservation } from '@outrigger/cloud-provider';
import { FLOATING, ips, refusedSpec, servedAtFloating, VIP } from './floating-address.suite.ts';
import { nodeOf, webSpec } from './rig.suite.ts';
import { actionOn, IDLE, OTHER, partOf, READY, type Told } from './told-cloud.suite.ts';
import { readyCondition } from './well-known-names.ts';

const MINUTE_MS = 60_000;
const LONG_MS = 60 * MINUTE_MS;

const readyOf = ({ rig }: Told): string | undefined =>
  rig.api.get('web')?.status?.conditions?.find(({ type }) => type === readyCondition)?.status;

/** The floating address is another's by now. */
function lose(told: Told): void {
  told.parts = [
    { ...partOf('load-balancer a'), addresses: [VIP] },
    { ...partOf('address b'), owner: OTHER, addresses: [FLOATING] },
  ];
}

test('a wish that comes back after its address was lost is looked at', async () => {
  for (const ms of [LONG_MS, MINUTE_MS / 2]) {
    const told = await servedAtFloating();
    const { api, clock } = told.rig;
    told.serve = (parts) => ({
      actions: [],
      complete: true,
      ingress: parts.some((part) => part.owner !== OTHER && part.addresses?.includes(FLOATING))
        ? [{ ip: FLOATING }]
        : [{ ip: VIP }],
    });
    lose(told);
    api.apply('web', refusedSpec);
    await clock.advance(ms);
    assert.deepEqual(ips(told), ms === LONG_MS ? [] : [FLOATING]);
    api.apply('web', webSpec);
    await clock.advance(10_000);
    assert.deepEqual([ips(told), readyOf(told)], [[VIP], 'True'], `${ms}`);
    await told.rig.stop();
  }
});

test('… or after its load balancer was deleted, which is made again, also where it has a host name alone', async () => {
  for (const ingress of [[{ ip: FLOATING }], [{ hostname: 'lb.test' }]]) {
    const told = await servedAtFloating();
    const { api, clock, provider } = told.rig;
    const addresses = [VIP, FLOATING];
    told.serve = (parts) =>
      parts.length > 0 ? { ...READY, ingress } : { ...IDLE, actions: [actionOn('create', 'load-balancer')] };
    told.apply = () => {
      told.parts = [{ ...partOf('load-balancer b'), addresses }];
      return { kind: 'done' };
    };
    api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
    await clock.advance(10_000);
    assert.deepEqual(provider.applied, []);
    told.parts = [];
    api.apply('web', refusedSpec);
    await clock.advance(LONG_MS);
    api.apply('web', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
    await clock.advance(10 * MINUTE_MS);
    assert.deepEqual(provider.applied, ['create load-balancer undefined']);
    assert.equal(readyOf(told), 'True');
    await told.rig.stop();
  }
});

test('… or after nodes have left and come back, between which the address was lost', async () => {
  const told = await servedAtFloating();
  const { api, clock } = told.rig;
  told.serve = () => ({ ...IDLE, refused: new CloudError('conflict', 'the address is in use') });
  lose(told);
  api.nodes.put(nodeOf('n2'));
  await clock.advance(LONG_MS);
  assert.deepEqual(ips(told), []);
  api.nodes.remove('n2');
  await clock.advance(LONG_MS);
  assert.deepEqual([ips(told), readyOf(told)], [[], 'False']);
  await told.rig.stop();
});

/** It is looked at again after half an hour. While `isDown()`, the cloud cannot be asked. */
const servedAgain = (isDown = (): boolean => false): Promise<Told> =>
  servedAtFloating((early) => {
    early.serve = () => ({ ...READY, ingress: [{ ip: FLOATING }], againAfterMs: 30 * MINUTE_MS });
    const { provider } = early.rig;
    const observe = provider.observe.bind(provider);
    const failed: LoadBalancerObservation = { kind: 'failed', error: new CloudError('unavailable', 'down') };
    provider.observe = (services, call) =>
      isDown() ? Promise.resolve(services.map(() => failed)) : observe(services, call);
  });

test('what a second look has taken away is not given back while the cloud cannot be asked', async () => {
  let isDown = false;
  const told = await servedAgain(() => isDown);
  const { clock } = told.rig;
  told.serve = () => ({ ...IDLE, refused: new CloudError('conflict', 'the address is in use') });
  lose(told);
  await clock.advance(LONG_MS);
  assert.deepEqual([ips(told), readyOf(told)], [[], 'False']);
  isDown = true;
  await clock.advance(LONG_MS);
  assert.deepEqual([ips(told), readyOf(told)], [[], 'False']);
  await told.rig.stop();
});

test('a plan that fails after a look hides behind nothing that was settled', async () => {
  const told = await servedAgain();
  const { clock } = told.rig;
  told.serve = () => {
    throw new CloudError('not-owned', 'the address is of another');
  };
  lose(told);
  await clock.advance(31 * MINUTE_MS);
  assert.equal(readyOf(told), 'False');
  await clock.advance(LONG_MS);
  assert.deepEqual([ips(told), readyOf(told)], [[], 'False']);
  assert.ok(told.rig.reasons('web').includes('UpdateLoadBalancerFailed'));
  await told.rig.stop();
});

test('while a second look has it refused, the list says so, with what is planned', async () => {
  const told = await servedAgain();
  assert.equal(told.rig.listed('web')?.state, 'ready');
  told.serve = () => ({ ...IDLE, refused: new CloudError('conflict', 'the address is in use') });
  await told.rig.clock.advance(31 * MINUTE_MS);
  const { planned = [], state } = told.rig.listed('web') ?? {};
  assert.notEqual(state, 'ready');
  assert.match(JSON.stringify(planned), /in use/u);
  await told.rig.stop();
});
