/** A second look that decides nothing, and a failure after it, take nothing from a Service that serves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type LoadBalancerObservation, type PartAnswer } from '@outrigger/cloud-provider';
import { FLOATING, ips, servedAtFloating, VIP } from './floating-address.suite.ts';
import { IDLE, OTHER, partOf, READY, type Told } from './told-cloud.suite.ts';
import { readyCondition } from './well-known-names.ts';

const MINUTE_MS = 60_000;
const AGAIN_MS = 30 * MINUTE_MS;

const READY_AGAIN = { ...READY, ingress: [{ ip: FLOATING }], againAfterMs: AGAIN_MS };
const down: LoadBalancerObservation = { kind: 'failed', error: new CloudError('unavailable', 'down') };

const readyOf = ({ rig }: Told): string | undefined =>
  rig.api.get('web')?.status?.conditions?.find(({ type }) => type === readyCondition)?.status;

interface Cloud {
  isDown: boolean;
  /** Of this part; `undefined`: no part can be asked about. */
  answer: PartAnswer | undefined;
}

test('a second look that is refused as it is, and not merely for now, is told', async () => {
  const told = await servedAgain({ isDown: false, answer: undefined });
  const { clock, events, provider } = told.rig;
  const observe = provider.observe.bind(provider);
  const error = new CloudError('forbidden', 'no role');
  let looks = 0;
  provider.observe = (services) => {
    looks += 1;
    return Promise.resolve(services.map(() => ({ kind: 'failed', error })));
  };
  await clock.advance(AGAIN_MS + MINUTE_MS);
  assert.equal(readyOf(told), 'False');
  assert.match(events.at(-1)?.message ?? '', /no role/u);
  assert.deepEqual(ips(told), [FLOATING]);
  const before = looks;
  for (let i = 0; i < 60; i++) {
    told.rig.api.services.put({
      ...told.rig.api.get('web'),
      status: { loadBalancer: { ingress: [{ ip: FLOATING }] } },
    });
    await clock.advance(10_000);
  }
  assert.ok(looks - before <= 4, `${looks - before} looks in ten minutes`);
  provider.observe = observe;
  const served = looks;
  await clock.advance(20 * MINUTE_MS);
  // One that is ready needs no condition, where another has taken it away.
  assert.deepEqual([readyOf(told), looks], [undefined, served]);
  await told.rig.stop();
});

/** It is looked at again after half an hour. */
async function servedAgain(cloud: Cloud): Promise<Told> {
  return servedAtFloating((early) => {
    const { provider } = early.rig;
    early.parts = [...early.parts, partOf('firewall f')];
    early.serve = () => READY_AGAIN;
    const observe = provider.observe.bind(provider);
    provider.observe = (services, call) =>
      cloud.isDown ? Promise.resolve(services.map(() => down)) : observe(services, call);
    const { answer } = cloud;
    if (answer) provider.read = (parts) => Promise.resolve(parts.map(() => cloud.answer ?? answer));
  });
}

const without = (told: Told, kind: string): void => {
  told.parts = told.parts.filter((part) => part.kind !== kind);
};

/** What the second look shows. */
const looks: Readonly<Record<string, { readonly answer?: PartAnswer; readonly show: (told: Told) => void }>> = {
  'a part that is at work': {
    show: (told) => void (told.serve = () => ({ ...IDLE, ingress: [{ ip: FLOATING }] })),
  },
  'less than there is, as the cloud says when it is asked': {
    answer: { kind: 'there' },
    show: (told) => without(told, 'firewall'),
  },
  'less than there is, which the cloud cannot be asked about': {
    answer: { kind: 'failed', error: new CloudError('unavailable', 'down') },
    show: (told) => without(told, 'firewall'),
  },
};

for (const [what, { answer, show }] of Object.entries(looks)) {
  test(`it stays Ready, and says nothing: ${what}`, async () => {
    const cloud: Cloud = { isDown: false, answer };
    const told = await servedAgain(cloud);
    const { api, clock, events } = told.rig;
    const [parts, patches] = [told.parts, api.patches.length];
    show(told);
    await clock.advance(AGAIN_MS - 8_000);
    cloud.isDown = true;
    await clock.advance(15 * MINUTE_MS);
    assert.deepEqual([events, readyOf(told) ?? 'True', api.patches.length - patches], [[], 'True', 0]);
    cloud.isDown = false;
    told.parts = parts;
    told.serve = () => READY_AGAIN;
    await clock.advance(15 * MINUTE_MS);
    assert.deepEqual([events, readyOf(told) ?? 'True', api.patches.length - patches], [[], 'True', 0]);
    await told.rig.stop();
  });
}

test('… but an address that its looks leave out goes, and is not given back while the cloud cannot be asked', async () => {
  const cloud: Cloud = { isDown: false, answer: undefined };
  const told = await servedAgain(cloud);
  const { clock } = told.rig;
  told.serve = () => IDLE;
  told.parts = [
    { ...partOf('load-balancer a'), addresses: [VIP] },
    partOf('firewall f'),
    { ...partOf('address b'), owner: OTHER, addresses: [FLOATING] },
  ];
  await clock.advance(AGAIN_MS + 5 * MINUTE_MS);
  assert.deepEqual(ips(told), []);
  cloud.isDown = true;
  await clock.advance(60 * MINUTE_MS);
  assert.deepEqual([ips(told), readyOf(told)], [[], 'False']);
  await told.rig.stop();
});

test('… and that the cloud refuses to say whether its load balancer is there is told', async () => {
  const answer: PartAnswer = { kind: 'failed', error: new CloudError('forbidden', 'no role') };
  const told = await servedAgain({ isDown: false, answer });
  told.parts = [];
  await told.rig.clock.advance(AGAIN_MS + 10 * MINUTE_MS);
  assert.equal(readyOf(told), 'False');
  assert.match(JSON.stringify(told.rig.events), /UpdateLoadBalancerFailed/u);
  await told.rig.stop();
});
