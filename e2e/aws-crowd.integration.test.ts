/** 1,000 nodes and 200 Services come at once to the bundled program with the fake AWS, then a part of both goes: who is served, by how many requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, systemClock, type Node, type Service } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { fakeLabCloud } from '../providers/aws/lab/fake-cloud.suite.ts';
import { officialConfig } from '../providers/aws/lab/official.ts';
import { LAB_ENV, type SeededInstance } from '../providers/aws/lab/seed-account.ts';
import { bundledProgram } from './aws/bundled-program.ts';
import { isInitialised } from './initialised-node.ts';
import { waitUntil } from './wait-until.ts';

const NODES = 1_000;
const SERVICES = 200;
/** Which most Services have as their targets, by label. */
const POOL = 20;
/** The others have all nodes. */
const WIDE_SERVICES = 4;
const LEAVING_NODES = 50;
const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
/** AWS lets an account make one load balancer in five seconds, for which no test waits. */
const LIMITS = 'aws=1000:1000';

function nodeOf({ address: ip, name }: SeededInstance, i: number): Node {
  const node = hollowNode({ name, ip, images: 0, ...(i < POOL && { labels: { pool: 'edge' } }) });
  const conditions = (node.status?.conditions ?? []).map((one) =>
    one.type === 'Ready' ? { ...one, status: 'True' as const } : one,
  );
  return { ...node, status: { ...node.status, conditions } };
}

function serviceOf(i: number): Service {
  const name = `web-${i}`;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: 'default',
      uid: `${i.toString(16).padStart(8, '0')}-4b5a-4978-8796-a5b4c3d2e1f0`,
      annotations: {
        [`${PREFIX}type`]: 'nlb',
        ...(i >= WIDE_SERVICES && { [`${PREFIX}target-node-labels`]: 'pool=edge' }),
      },
    },
    spec: {
      type: 'LoadBalancer',
      selector: { app: name },
      ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_000 + i }],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
  };
}

test('1,000 nodes and 200 Services at once on AWS', { timeout: 1_800_000 }, async (t) => {
  const { account, aws } = fakeLabCloud(NODES, systemClock);
  Object.assign(aws.knobs, { mostNetworkLoadBalancers: SERVICES, ec2LagMs: 200, elbLagMs: 200 });
  const { client, log, manager, readLog, store } = await bundledProgram(t, aws, {
    config: (endpoint) => officialConfig(account, endpoint),
    env: LAB_ENV,
    flags: ['--configure-cloud-routes=false', `--cloud-call-limits=${LIMITS}`],
  });
  const put = (one: Node | Service): void => void store.put(one as Parameters<typeof store.put>[0]);
  const services = (): readonly Service[] => store.list({ plural: 'services' });
  const balanced = (): readonly Service[] => services().filter(({ spec }) => spec?.type === 'LoadBalancer');
  /** Of each target group. */
  const targets = (): readonly number[] => {
    const { targetGroups, targets: register } = aws.account;
    const sizes = targetGroups
      .all()
      .map(({ id }) => register.of(id).filter((one) => one.drainsUntil === undefined).length);
    return sizes.toSorted((a, b) => b - a);
  };
  const until = (what: string, holds: () => boolean): Promise<number> =>
    waitUntil(what, async () => holds(), {
      patienceMs: 600_000,
      pollMs: 50,
      logs: [log],
      mayCome: () => manager.running,
    });
  const sizes = (wide: number, narrow: number, nodes: number): string =>
    [...Array.from({ length: wide }, () => nodes), ...Array.from({ length: narrow }, () => POOL)].join();

  manager.start();
  for (const [i, instance] of account.instances.entries()) put(nodeOf(instance, i));
  for (let i = 0; i < SERVICES; i++) put(serviceOf(i));
  // One after the other, each until it is there: to read them all again and again would keep the API server from its work.
  const names = account.instances.map(({ name }) => name);
  const initialised = await until('all nodes are initialised', () => {
    while (names.length > 0 && isInitialised(store.get({ plural: 'nodes' }, names[0] ?? '') as Node)) names.shift();
    return names.length === 0;
  });
  const served = await until('all Services are served by their nodes', () => {
    if (targets().join() !== sizes(WIDE_SERVICES, SERVICES - WIDE_SERVICES, NODES)) return false;
    return balanced().every(({ status }) => status?.loadBalancer?.ingress?.[0]?.hostname !== undefined);
  });
  const calls = aws.calls.counts();
  t.diagnostic(`nodes after ${initialised} ms, Services ${served} ms later: ${JSON.stringify(calls)}`);
  // The nodes, and once the groups of those that each wave of Services found initialised: 19 where nodes took 85 s, as others worked. One for each Service would be 200.
  assert.ok((calls['ec2:DescribeInstances'] ?? 0) <= SERVICES / 2, JSON.stringify(calls));
  // Once for each; and once more where this process did not answer in time.
  for (const name of ['elbv2:CreateLoadBalancer', 'elbv2:CreateTargetGroup']) {
    const count = calls[name] ?? 0;
    assert.ok(count >= SERVICES && count <= 1.1 * SERVICES, JSON.stringify(calls));
  }
  assert.equal(aws.account.balancers.all().length, SERVICES);
  const { balancers, classics, groups, listeners, rules, targetGroups } = aws.account;
  const rulesOfNodes = rules.all().filter((rule) => rule.groupId === account.securityGroupId && !rule.isEgress);
  assert.equal(rulesOfNodes.length, 1, 'a node has room for 60 rules');

  const [going, staying] = [balanced().slice(0, SERVICES / 2), balanced().slice(SERVICES / 2)];
  for (const { id, name } of account.instances.slice(-LEAVING_NODES)) {
    aws.changeInstance(id, { state: 'terminated' });
    store.delete({ plural: 'nodes' }, name);
  }
  const deleted = going.map(({ metadata }) =>
    client.of(resources.services).delete({ namespace: 'default', name: metadata?.name ?? '' }),
  );
  await Promise.all(deleted);
  const wide = staying.filter(({ metadata }) => !metadata?.annotations?.[`${PREFIX}target-node-labels`]).length;
  await until('half of the Services have gone, and the others follow the nodes', () => {
    const isLess = targets().join() === sizes(wide, staying.length - wide, NODES - LEAVING_NODES);
    return isLess && balanced().length === staying.length;
  });
  assert.equal(balancers.all().length, staying.length);
  assert.equal(listeners.all().length, staying.length);
  assert.equal(targetGroups.all().length, staying.length);
  assert.equal(classics.all().length, 0);
  const own = groups.all().filter(({ tags }) => 'outrigger.dev/owner' in tags);
  assert.equal(own.length, staying.length);
  assert.deepEqual(aws.takeProblems(), []);
  assert.equal(await manager.end('SIGTERM'), 0);
  assert.doesNotMatch(await readLog(), /unhandled|panic/iu);
});
