/** A provider of nodes, routes and load balancers of four parts, as a newcomer writes it on the kit, over the cloud that it was written for. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  isCloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { loadProvider, openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock, type Clock } from '@outrigger/kube';
import { ACME_TOKEN, failAcme, startAcmeCloud } from './acme.suite.ts';
import type { RunningFakeCloud } from './fake/index.ts';
import { desiredOf, serviceOf } from './parts/part-cloud.suite.ts';

const file = fileURLToPath(new URL('../examples/acme-cloud.ts', import.meta.url));

async function open({ endpoint }: RunningFakeCloud, clock: Clock, token = ACME_TOKEN): Promise<OpenedProvider> {
  const provider = await loadProvider(file, { builtIn: {}, workingDirectory: '/' });
  return openProvider(provider, {
    cluster: { id: 'cluster', name: 'test' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    config: { fileName: 'cloud.yaml', text: `endpoint: ${endpoint}\ntoken: ${token}\n` },
  });
}

test('it has at most 150 lines', async () => {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.ok(lines.length <= 150, `${lines.length} lines`);
});

interface LoadBalancerRig extends AsyncDisposable {
  readonly cloud: RunningFakeCloud;
  readonly balancers: LoadBalancers;
  readonly call: CallContext;
}

async function balancersOf(): Promise<LoadBalancerRig> {
  const cloud = await startAcmeCloud(systemClock);
  const opened = await open(cloud, systemClock);
  const balancers = opened.capabilities.loadBalancers;
  assert.ok(balancers);
  return {
    cloud,
    balancers,
    call: opened.callContext({ signal: new AbortController().signal, priority: 'normal' }),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

/** Observes, plans and applies until all is as it should be; gives back the addresses. */
async function bring({ balancers, call }: LoadBalancerRig, desired: DesiredLoadBalancer): Promise<readonly string[]> {
  for (let round = 0; round < 20; round++) {
    const [seen] = await balancers.observe([desired.service], call);
    assert.ok(seen?.kind === 'parts');
    const plan = balancers.plan(desired, seen.parts);
    if (plan.complete) return plan.ingress.map(({ ip = '' }) => ip);
    for (const action of plan.actions) await balancers.apply(action, desired, call);
  }
  return assert.fail('it does not come to an end');
}

const countsOf = ({ cloud }: LoadBalancerRig): readonly number[] =>
  ['addresses', 'load-balancers', 'firewalls', 'records'].map((path) => cloud.resource(path).size);

test('a load balancer of four parts comes, is changed, and goes; a second look changes nothing', async () => {
  await using rig = await balancersOf();
  const service = serviceOf([80, 443]);
  const [ip, ...more] = await bring(rig, desiredOf(service));
  assert.match(ip ?? '', /^203\.0\.113\./);
  assert.deepEqual([more, countsOf(rig)], [[], [1, 1, 1, 1]]);
  const writes = (): number => rig.cloud.calls.all().filter(({ method }) => method !== 'GET').length;
  const before = writes();
  await bring(rig, desiredOf(service));
  assert.equal(writes(), before);
  await bring(rig, desiredOf(service, ['c']));
  assert.equal(writes(), before + 1);
  const [balancer] = rig.cloud.resource('load-balancers').all();
  assert.deepEqual(balancer?.['targets'], ['acme://c']);
  assert.deepEqual(await bring(rig, desiredOf(service, [], false)), []);
  assert.deepEqual(countsOf(rig), [0, 0, 0, 0]);
});

test('answers that are lost leave nothing behind, and nothing is made twice', async () => {
  await using rig = await balancersOf();
  const desired = desiredOf(serviceOf([80]));
  for (let round = 0; round < 6; round++) {
    const [seen] = await rig.balancers.observe([desired.service], rig.call);
    assert.ok(seen?.kind === 'parts');
    const [action] = rig.balancers.plan(desired, seen.parts).actions;
    if (!action) break;
    failAcme(rig.cloud, { kind: 'lost' });
    await assert.rejects(rig.balancers.apply(action, desired, rig.call), (error) => isCloudError(error, 'unavailable'));
    failAcme(rig.cloud, undefined);
  }
  await bring(rig, desired);
  assert.deepEqual(countsOf(rig), [1, 1, 1, 1]);
  await bring(rig, { ...desired, wanted: false });
  assert.deepEqual(countsOf(rig), [0, 0, 0, 0]);
});

test('of another cluster nothing is touched; what is asked about directly is proved', async () => {
  await using rig = await balancersOf();
  const labels = { 'outrigger-cluster': 'another', 'outrigger-uid': 'me' };
  rig.cloud.resource('addresses').put({ id: 'theirs', labels });
  rig.cloud.resource('addresses').put({ id: 'nobodys' });
  const desired = desiredOf(serviceOf([80]));
  await bring(rig, desired);
  const answers = await rig.balancers.read?.(
    ['theirs', 'nobodys', 'gone', '../servers'].map((id) => ({ kind: 'address', id, owner: desired.owner })),
    rig.call,
  );
  assert.deepEqual(
    answers?.map(({ kind }) => kind),
    ['absent', 'there', 'absent', 'absent'],
  );
  await bring(rig, { ...desired, wanted: false });
  assert.deepEqual(rig.cloud.resource('addresses').ids(), ['theirs', 'nobodys']);
});

test('a wrong annotation refuses the plan and names itself; a wrong token and a wrong config are clear', async () => {
  await using rig = await balancersOf();
  const wrong = serviceOf([80], undefined, { annotations: { 'lb.acme.example/size': 'huge' } });
  const { refused } = rig.balancers.plan(desiredOf(wrong), []);
  assert.match(refused?.message ?? '', /lb\.acme\.example\/size: "huge" is not one of small, large/);
  await using other = await open(rig.cloud, systemClock, 'wrong');
  const node = { name: 'a', uid: 'a', labels: {}, annotations: {} };
  const answer = await other.lookups?.lookUp(node, { need: 'state', signal: new AbortController().signal });
  assert.ok(answer?.result.kind === 'failed' && isCloudError(answer.result.error, 'unauthenticated'));
  const provider = await loadProvider(file, { builtIn: {}, workingDirectory: '/' });
  await assert.rejects(
    async () => provider.checkConfig?.({ fileName: 'cloud.yaml', text: 'endpoint: acme\n' }),
    /cloud\.yaml:1: endpoint must be an http/,
  );
});
