/** Instances of nodes, on any cloud that speaks as EC2 does; what they are is read by the official SDK. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreateTagsCommand } from '@aws-sdk/client-ec2';
import type { InstanceAnswer, NodeRef } from '@outrigger/cloud-provider';
import { AwsInstances } from '../src/instances/aws-instances.ts';
import { awsSetupOf, describeInstance, nodeOf, scenarioOf, type StartCloud } from './scenario-cloud.ts';
import type { SeededInstance } from './seed-account.ts';

const said = ({ result }: InstanceAnswer): string => {
  if (result.kind === 'failed') return result.error.message;
  return result.kind === 'found' ? (result.instance.providerID ?? '') : result.kind;
};

const idOf = ({ id, zone }: SeededInstance): string => `aws:///${zone}/${id}`;

function called(name: string): NodeRef {
  return { name, uid: `uid-${name}`, providerID: undefined, labels: {}, annotations: {} };
}

/** `start`: of a cloud with at least three instances. */
export function instanceScenarios(name: string, start: StartCloud): void {
  test(`${name}: of many IDs the unknown one is named, and the rest is found`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { instances } = opened.cloud.account;
    const [first] = instances;
    assert.ok(first);
    const nodes = [{ ...first, id: 'i-0123456789abcdef0' }, ...instances].map(nodeOf);
    const answers = await new AwsInstances(awsSetupOf(opened)).lookUp(nodes, 'state', opened.call());
    assert.deepEqual(answers.map(said), ['missing', ...instances.map(idOf)]);
    assert.equal(opened.sent.filter((one) => one === 'DescribeInstances').length, 2, 'all, and all but the one');
  });

  test(`${name}: without a provider ID: by private DNS name, by the address in the name and by the tag Name`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud, sdk } = opened;
    const [first, second, third] = cloud.account.instances;
    assert.ok(first && second && third);
    const Tags = [{ Key: 'Name', Value: 'worker-3' }];
    await sdk.send(new CreateTagsCommand({ Resources: [third.id], Tags }));
    const byAddress = `ip-${second.address.replaceAll('.', '-')}.example.com`;
    const nodes = [first.name, byAddress, 'worker-3', 'nobody'].map(called);
    const instances = new AwsInstances(awsSetupOf(opened));
    const answers = await instances.lookUp(nodes, 'state', opened.call());
    assert.deepEqual(answers.map(said), [idOf(first), idOf(second), idOf(third), 'missing']);
    // Nobody else's, and none that is gone.
    await cloud.terminate(third.id);
    assert.deepEqual((await instances.lookUp([called('worker-3')], 'state', opened.call())).map(said), ['missing']);
  });

  test(`${name}: zone, type and addresses; the address of the primary interface is the first`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud } = opened;
    const one = await cloud.addWideInstance();
    const [answer] = await new AwsInstances(awsSetupOf(opened)).lookUp([nodeOf(one)], 'metadata', opened.call());
    assert.ok(answer?.result.kind === 'found');
    const { addresses = [], region, type, zone } = answer.result.instance;
    const { NetworkInterfaces: both = [], ...seen } = await describeInstance(cloud, one.id);
    assert.deepEqual([zone, type], [seen.Placement?.AvailabilityZone, seen.InstanceType]);
    assert.equal(region, one.zone.slice(0, -1));
    const of = (index: number) => both.find(({ Attachment: at }) => at?.DeviceIndex === index)?.PrivateIpAddress;
    const internal = addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
    assert.equal(both.length, 2);
    assert.deepEqual(internal, [of(0), of(1)]);
    assert.equal(internal[0], one.address);
    const names = addresses.filter(({ type }) => type === 'InternalDNS' || type === 'Hostname');
    assert.deepEqual(new Set(names.map(({ address }) => address)), new Set([seen.PrivateDnsName]));
    const outside = addresses.filter(({ type }) => type === 'ExternalIP').map(({ address }) => address);
    assert.deepEqual(outside, seen.PublicIpAddress ? [seen.PublicIpAddress] : []);
  });
}
