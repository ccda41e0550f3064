/** What moto cannot show; the rest is in lab/routes.suite.ts. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CloudError, isCloudError, type CloudErrorCode, type RouteResult } from '@outrigger/cloud-provider';
import { fakeLabCloud, type FakeLabCloud } from '../../lab/fake-cloud.suite.ts';
import { kinds, ours, to } from '../../lab/routes.suite.ts';
import { nodeOf, scenarioOf, type Scenario } from '../../lab/scenario-cloud.ts';
import { LAB_CLUSTER } from '../../lab/seed-account.ts';
import { createAwsRoutes } from './aws-routes.ts';

async function open(t: TestContext, nodes = 2): Promise<{ readonly cloud: FakeLabCloud; readonly opened: Scenario }> {
  const cloud = fakeLabCloud(nodes);
  const opened = await scenarioOf(async () => cloud, t);
  assert.ok(opened);
  return { cloud, opened };
}

function failsAs(result: RouteResult | undefined, code: CloudErrorCode): void {
  assert.ok(result?.kind === 'failed' && isCloudError(result.error, code), JSON.stringify(result));
}

test('a list that is late does not make a conflict of a route that was just made, and does of one of others', async (t) => {
  const { cloud, opened } = await open(t);
  const [a, b] = cloud.account.instances;
  assert.ok(a && b);
  const routes = createAwsRoutes(opened.setup);
  cloud.aws.knobs.ec2LagMs = 60_000;
  await createAwsRoutes(opened.setup).create([to(b, '10.244.1.0/24')], opened.call());
  assert.deepEqual(kinds(await routes.create([to(a, '10.244.0.0/24')], opened.call())), ['done']);
  assert.deepEqual((await routes.list(opened.call())).routes.length, 1, 'the list has neither');
  const [again, taken] = await routes.create([to(a, '10.244.0.0/24'), to(a, '10.244.1.0/24')], opened.call());
  assert.equal(again?.kind, 'done');
  failsAs(taken, 'conflict');
});

test('an instance that is stopped keeps its route, though AWS calls it a black hole; one without a trace has no machine', async (t) => {
  const { cloud, opened } = await open(t);
  const [a, b] = cloud.account.instances;
  assert.ok(a && b);
  const routes = createAwsRoutes(opened.setup);
  await routes.create([to(a, '10.244.0.0/24'), to(b, '10.244.1.0/24')], opened.call());
  cloud.aws.changeInstance(a.id, { state: 'stopped' });
  await cloud.terminate(b.id);
  const look = async (of: typeof routes) =>
    (await of.list(opened.call())).routes.flatMap(({ blackhole, destination, targetProviderID: target }) =>
      destination.startsWith('10.244.') ? [[destination, target, blackhole]] : [],
    );
  const stopped = ['10.244.0.0/24', nodeOf(a).providerID, false];
  assert.deepEqual(await look(routes), [stopped, ['10.244.1.0/24', nodeOf(b).providerID, true]]);
  const restarted = createAwsRoutes(opened.setup);
  assert.deepEqual(await look(restarted), [stopped, ['10.244.1.0/24', undefined, true]], 'nobody knows whose it was');
});

test('the check of source and destination is switched off only where it is on', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  const routes = createAwsRoutes(opened.setup);
  await routes.create([to(a, '10.244.0.0/24')], opened.call());
  opened.sent.length = 0;
  await routes.create([to(a, '10.244.1.0/24')], opened.call());
  const reads = ['DescribeInstances', 'DescribeNetworkInterfaces', 'DescribeRouteTables'];
  assert.deepEqual(opened.sent.toSorted(), ['CreateRoute', ...reads]);
});

test('a route that cannot be opened for others is not made', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  cloud.aws.allow(['ec2:Describe*', 'ec2:CreateRoute']);
  const routes = createAwsRoutes(opened.setup);
  const [refused] = await routes.create([to(a, '10.244.0.0/24')], opened.call());
  failsAs(refused, 'forbidden');
  assert.ok(!opened.sent.includes('CreateRoute'));
});

test('a route table that is full fails what does not fit', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  const { routeTables } = cloud.aws.account;
  const table = routeTables.get(cloud.account.routeTableId);
  assert.ok(table);
  const more = Array.from({ length: 499 }, (_, i) => ({
    destination: `172.${16 + Math.floor(i / 256)}.${i % 256}.0/24`,
    gatewayId: 'igw-0',
    origin: 'CreateRoute' as const,
  }));
  routeTables.seed({ ...table, routes: [...table.routes, ...more] });
  const routes = createAwsRoutes(opened.setup);
  const results = await routes.create([to(a, '10.244.0.0/24'), to(a, '10.244.1.0/24')], opened.call());
  const failed = results.filter(({ kind }) => kind === 'failed');
  assert.equal(failed.length, 1);
  failsAs(failed[0], 'quota');
});

test('of two route tables with the tag of the cluster none is taken, and both are named; the config says which', async (t) => {
  const { cloud, opened } = await open(t);
  const tags = { [`kubernetes.io/cluster/${LAB_CLUSTER}`]: 'shared' };
  const other = cloud.aws.addRouteTable({ vpcId: cloud.account.vpcId, tags });
  const both = [cloud.account.routeTableId, other].toSorted().join(' and ');
  await assert.rejects(
    createAwsRoutes(opened.setup).list(opened.call()),
    (error) => isCloudError(error, 'configuration') && error.message.includes(both),
  );
  const named = { ...opened.setup, config: () => ({ routeTableId: other }) };
  const [a] = cloud.account.instances;
  assert.ok(a);
  assert.deepEqual(kinds(await createAwsRoutes(named).create([to(a, '10.244.0.0/24')], opened.call())), ['done']);
  assert.equal(cloud.aws.account.routeTables.get(other)?.routes.length, 2);
});

test('without a route table of the cluster it is said what to tag; a legacy tag of another cluster is none', async (t) => {
  const { cloud, opened } = await open(t);
  const { routeTables } = cloud.aws.account;
  const table = routeTables.get(cloud.account.routeTableId);
  assert.ok(table);
  const tagged = (tags: Readonly<Record<string, string>>) => routeTables.seed({ ...table, tags });
  const routes = createAwsRoutes(opened.setup);
  tagged({ KubernetesCluster: 'another' });
  await assert.rejects(
    routes.list(opened.call()),
    (error) => isCloudError(error, 'configuration') && /tag the one .* RouteTableID/u.test(error.message),
  );
  tagged({ KubernetesCluster: LAB_CLUSTER });
  assert.equal((await routes.list(opened.call())).routes.length, 1);
});

test('250 routes are made by a list and two requests for their interfaces; removing them lists once', async (t) => {
  const { cloud, opened } = await open(t, 250);
  const routes = createAwsRoutes(opened.setup);
  const wanted = cloud.account.instances.map((one, i) => to(one, `10.244.${i}.0/24`));
  const count = (name: string) => opened.sent.filter((one) => one === name).length;
  const results = await routes.create(wanted, opened.call());
  assert.ok(results.every(({ kind }) => kind === 'done'));
  const reads = () => ['DescribeRouteTables', 'DescribeNetworkInterfaces', 'DescribeInstances'].map(count);
  assert.deepEqual(reads(), [1, 2, 1]);
  const made = (await routes.list(opened.call())).routes.filter((one) => one.destination.startsWith('10.244.'));
  assert.deepEqual(reads(), [2, 2, 1]);
  assert.ok((await routes.delete(made.map(ours), opened.call())).every(({ kind }) => kind === 'done'));
  assert.deepEqual(reads(), [3, 2, 1]);
  assert.equal(count('DeleteRoute'), 250);
});

test('a node whose provider ID names no instance gets no route', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  const wanted = to(a, '10.244.0.0/24');
  const of = (providerID: string) => ({ ...wanted, node: { ...wanted.node, providerID } });
  const [fargate] = await createAwsRoutes(opened.setup).create(
    [of('aws:///us-east-1a/0123456789-abc/fargate-10.0.1.2')],
    opened.call(),
  );
  failsAs(fargate, 'invalid');
  const routes = createAwsRoutes(opened.setup);
  assert.deepEqual(kinds(await routes.create([of(`aws:////${a.id}`)], opened.call())), ['done'], 'only the end counts');
  const listed = (await routes.list(opened.call())).routes;
  assert.ok(
    listed.some(({ targetProviderID }) => targetProviderID === `aws:////${a.id}`),
    'as the node has it',
  );
});

test('IDs that are none fail alone, without a request for them', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  const wanted = to(a, '10.244.0.0/24');
  const of = (last: string, n: number) => ({
    destination: `10.244.${n + 1}.0/24`,
    addresses: wanted.addresses,
    node: { ...wanted.node, providerID: `aws:///us-east-1a/${last}` },
  });
  const broken = ['i-1', `${a.id}0`, `i-${'a'.repeat(900)}`, `i-${'0'.repeat(16)}`];
  const results = await createAwsRoutes(opened.setup).create([...broken.map(of), wanted], opened.call());
  for (const result of results.slice(0, -1)) failsAs(result, 'invalid');
  assert.equal(results.at(-1)?.kind, 'done');
});

test('no route leads to an instance that is no node of the cluster, and its check stays on', async (t) => {
  const { cloud, opened } = await open(t);
  const { account } = cloud.aws;
  const [a] = cloud.account.instances;
  assert.ok(a);
  const [subnetId = ''] = cloud.account.subnetIds;
  const add = (tags: Readonly<Record<string, string>>, at = subnetId) =>
    cloud.aws.addInstance({ subnetId: at, groupIds: [], tags }).id;
  const own = { [`kubernetes.io/cluster/${LAB_CLUSTER}`]: 'owned' };
  const far = cloud.aws.addSubnet({ vpcId: cloud.aws.addVpc({}), zone: a.zone, cidr: '10.0.0.0/20' });
  const foreign = [add({ Name: 'database' }), add({ 'kubernetes.io/cluster/blue': 'owned' }), add(own, far)];
  const wanted = [a.id, ...foreign].map((id, n) => {
    const { addresses, node } = to(a, '');
    return { addresses, node: { ...node, providerID: `aws:///${a.zone}/${id}` }, destination: `10.244.${n}.0/24` };
  });
  const [ours, ...others] = await createAwsRoutes(opened.setup).create(wanted, opened.call());
  assert.equal(ours?.kind, 'done');
  for (const other of others) failsAs(other, 'invalid');
  const checks = account.interfaces.all().filter(({ attachment: at }) => foreign.includes(at?.instanceId ?? ''));
  assert.deepEqual(
    checks.map(({ sourceDestCheck }) => sourceDestCheck),
    [true, true, true],
  );
  assert.deepEqual(opened.sent.filter((one) => one.startsWith('Modify')).length, 1);
});

test('an instance without any tag of a cluster has routes when the node is called as it is', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  cloud.aws.changeInstance(a.id, { tags: {} });
  assert.deepEqual(kinds(await createAwsRoutes(opened.setup).create([to(a, '10.244.0.0/24')], opened.call())), [
    'done',
  ]);
  const called = to(a, '10.244.1.0/24');
  const [other] = await createAwsRoutes(opened.setup).create(
    [{ ...called, node: { ...called.node, name: 'other' } }],
    opened.call(),
  );
  failsAs(other, 'invalid');
});

test('what cannot be found out about an instance opens nothing', async (t) => {
  const { cloud, opened } = await open(t);
  const [a] = cloud.account.instances;
  assert.ok(a);
  cloud.aws.faults.set({ operation: 'DescribeInstances', status: 503, code: 'Unavailable' });
  const [failed] = await createAwsRoutes(opened.setup).create([to(a, '10.244.0.0/24')], opened.call());
  failsAs(failed, 'unavailable');
  assert.ok(!opened.sent.some((one) => one.startsWith('Modify') || one === 'CreateRoute'));
  cloud.aws.faults.set();
  const nowhere = {
    ...opened.setup,
    config: () => ({ routeTableId: cloud.account.routeTableId }),
    cluster: {
      learn: async () => Promise.reject(new CloudError('configuration', 'not known')),
    },
  };
  assert.deepEqual(
    kinds(await createAwsRoutes(nowhere).create([to(a, '10.244.0.0/24')], opened.call())),
    ['done'],
    'where the cluster is not known',
  );
});
