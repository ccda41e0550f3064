/** Routes of pods, on any cloud that speaks as EC2 does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CreateRouteCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  type Route as SdkRoute,
} from '@aws-sdk/client-ec2';
import { isCloudError, type Route, type RouteRequest, type RouteResult } from '@outrigger/cloud-provider';
import { createAwsRoutes } from '../src/routes/aws-routes.ts';
import { nodeOf, scenarioOf, type Scenario, type StartCloud } from './scenario-cloud.ts';
import type { SeededInstance } from './seed-account.ts';

export const kinds = (results: readonly RouteResult[]): readonly string[] =>
  results.map((result) => (result.kind === 'failed' ? result.error.message : result.kind));

/** As the host does with those whose destination and machine it knows. */
export const ours = (route: Route): Route => ({ ...route, ownership: 'owned' });

export function to(instance: SeededInstance, destination: string): RouteRequest {
  return { node: nodeOf(instance), addresses: [{ type: 'InternalIP', address: instance.address }], destination };
}

async function tableOf({ cloud, sdk }: Scenario): Promise<readonly SdkRoute[]> {
  const input = { RouteTableIds: [cloud.account.routeTableId] };
  return (await sdk.send(new DescribeRouteTablesCommand(input))).RouteTables?.[0]?.Routes ?? [];
}

function hopTo(routes: readonly SdkRoute[], destination: string): string | undefined {
  return routes.find(
    ({ DestinationCidrBlock: four, DestinationIpv6CidrBlock: six }) => destination === four || destination === six,
  )?.NetworkInterfaceId;
}

export interface RouteScenarioOptions {
  /** Of a cloud with at least two instances. */
  readonly start: StartCloud;
  /** The network interface of an instance goes with it, and its routes lead nowhere then. */
  readonly hasBlackholes: boolean;
}

export function routeScenarios(name: string, { hasBlackholes, start }: RouteScenarioOptions): void {
  test(`${name}: routes of both families lead to the primary interface, which takes packets for others`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud, sdk, sent } = opened;
    const [a, b] = cloud.account.instances;
    assert.ok(a && b);
    const routes = createAwsRoutes(opened.setup);
    const wanted = [a, b].flatMap((one, i) => [to(one, `10.244.${i}.0/24`), to(one, `fd00:0:0:${i + 1}::/64`)]);
    assert.deepEqual(kinds(await routes.create(wanted, opened.call())), ['done', 'done', 'done', 'done']);
    assert.deepEqual(Map.groupBy(sent, (one) => one).get('ModifyNetworkInterfaceAttribute')?.length, 2, 'once each');
    assert.deepEqual(kinds(await routes.create(wanted, opened.call())), ['exists', 'exists', 'exists', 'exists']);

    const table = await tableOf(opened);
    for (const [i, { id }] of [a, b].entries()) {
      const filter = { Filters: [{ Name: 'attachment.instance-id', Values: [id] }] };
      const { NetworkInterfaces: [eni] = [] } = await sdk.send(new DescribeNetworkInterfacesCommand(filter));
      assert.equal(eni?.SourceDestCheck, false);
      assert.equal(hopTo(table, `10.244.${i}.0/24`), eni.NetworkInterfaceId);
      assert.equal(hopTo(table, `fd00:0:0:${i + 1}::/64`), eni.NetworkInterfaceId);
    }

    const listed = (await createAwsRoutes(opened.setup).list(opened.call())).routes;
    for (const { destination, node } of wanted) {
      const route = listed.find((one) => one.destination === destination);
      assert.deepEqual([route?.targetProviderID, route?.blackhole], [node.providerID, false], destination);
    }
    const [local] = listed.filter(({ destination }) => destination === '10.0.0.0/16');
    assert.deepEqual([local?.ownership, local?.targetProviderID], ['unmarked', undefined], 'the network itself');

    sent.length = 0;
    await routes.list(opened.call());
    assert.deepEqual(sent, ['DescribeRouteTables'], 'once known, whose an interface is need not be asked');
  });

  test(`${name}: an instance with several interfaces has its routes too`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud, sdk } = opened;
    const a = await cloud.addWideInstance();
    const routes = createAwsRoutes(opened.setup);
    assert.deepEqual(kinds(await routes.create([to(a, '10.244.0.0/24')], opened.call())), ['done']);
    const hop = hopTo(await tableOf(opened), '10.244.0.0/24');
    const filter = { Filters: [{ Name: 'attachment.instance-id', Values: [a.id] }] };
    const { NetworkInterfaces: both = [] } = await sdk.send(new DescribeNetworkInterfacesCommand(filter));
    const of = (index: number) => both.find(({ Attachment: at }) => at?.DeviceIndex === index);
    assert.deepEqual([both.length, hop], [2, of(0)?.NetworkInterfaceId], 'it leads to the primary one');
    assert.deepEqual([of(0)?.SourceDestCheck, of(1)?.SourceDestCheck], [false, true]);
  });

  test(`${name}: a route of others is a conflict and stays; one of ours is changed in place, and goes`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud, sdk, sent } = opened;
    const [a, b] = cloud.account.instances;
    assert.ok(a && b);
    const routes = createAwsRoutes(opened.setup);
    const RouteTableId = cloud.account.routeTableId;
    await sdk.send(new CreateRouteCommand({ RouteTableId, DestinationCidrBlock: '10.244.0.0/24', InstanceId: b.id }));
    const [refused] = await routes.create([to(a, '10.244.0.0/24')], opened.call());
    assert.ok(refused?.kind === 'failed' && isCloudError(refused.error, 'conflict'));
    const [found] = (await routes.list(opened.call())).routes.filter((one) => one.destination === '10.244.0.0/24');
    assert.ok(found);
    assert.equal(
      found.targetProviderID,
      nodeOf(b).providerID,
      'also one that was made to an instance, as upstream does',
    );
    const [kept] = await routes.delete([found], opened.call());
    assert.ok(kept?.kind === 'failed' && isCloudError(kept.error, 'not-owned'));

    sent.length = 0;
    const request = { ...to(a, '10.244.0.0/24'), replaces: [ours(found)] };
    assert.deepEqual(kinds(await routes.create([request], opened.call())), ['done']);
    assert.ok(sent.includes('ReplaceRoute') && !sent.includes('DeleteRoute') && !sent.includes('CreateRoute'));
    const after = (await routes.list(opened.call())).routes;
    const made = after.find(({ destination }) => destination === '10.244.0.0/24');
    assert.ok(made);
    assert.equal(made.targetProviderID, nodeOf(a).providerID);
    assert.deepEqual(kinds(await routes.delete([ours(found)], opened.call())), ['done'], 'it is gone already');
    assert.ok(hopTo(await tableOf(opened), '10.244.0.0/24'), 'what has taken its place stays');
    assert.deepEqual(kinds(await routes.delete([ours(made)], opened.call())), ['done']);
    assert.deepEqual(kinds(await routes.delete([ours(made)], opened.call())), ['done']);
    assert.equal(hopTo(await tableOf(opened), '10.244.0.0/24'), undefined);
  });

  if (!hasBlackholes) return;
  test(`${name}: a machine that is gone fails its route alone; its old route leads nowhere, and is known to be its own`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud } = opened;
    const [a] = cloud.account.instances;
    const [gone] = await cloud.addInstances(1);
    assert.ok(a && gone);
    const routes = createAwsRoutes(opened.setup);
    await routes.create([to(gone, '10.244.7.0/24')], opened.call());
    await cloud.terminate(gone.id);
    const [failed, done] = await routes.create([to(gone, '10.244.8.0/24'), to(a, '10.244.9.0/24')], opened.call());
    assert.ok(failed?.kind === 'failed' && isCloudError(failed.error, 'not-found'), JSON.stringify(failed));
    assert.equal(done?.kind, 'done');
    const [left] = (await routes.list(opened.call())).routes.filter((one) => one.destination === '10.244.7.0/24');
    assert.ok(left);
    assert.deepEqual([left.blackhole, left.targetProviderID], [true, nodeOf(gone).providerID]);
    const request = { ...to(a, '10.244.7.0/24'), replaces: [ours(left)] };
    assert.deepEqual(kinds(await routes.create([request], opened.call())), ['done']);
    const [replaced] = (await routes.list(opened.call())).routes.filter((one) => one.destination === '10.244.7.0/24');
    assert.deepEqual([replaced?.blackhole, replaced?.targetProviderID], [false, nodeOf(a).providerID]);
  });
}
