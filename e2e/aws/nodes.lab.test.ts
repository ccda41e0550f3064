/** The program on moto and a real control plane: nodes and routes as cloud-provider-aws made them of the same account, by fewer calls. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources, type Node } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, freePort, hollowNode } from '@outrigger/testing';
import { countedEndpoint, type CallCounts } from '../../providers/aws/lab/counted-endpoint.ts';
import { goldens } from '../../providers/aws/lab/golden.ts';
import { motoOrSkip } from '../../providers/aws/lab/moto-or-skip.suite.ts';
import { labReaders, endStateOf } from '../../providers/aws/lab/end-state.ts';
import { officialConfig } from '../../providers/aws/lab/official.ts';
import { LAB_ENV, seedAccount, type SeededInstance } from '../../providers/aws/lab/seed-account.ts';
import { isInitialised } from '../initialised-node.ts';
import { Manager } from '../manager.ts';
import { setEnv } from '../set-env.ts';
import { waitUntil } from '../wait-until.ts';

const NODES = 100;
/**
 * However many nodes: of EC2, 1,000 fit into a page. One about the zones and one about the instances, as nodes that come in one turn of the event
 * loop are asked about together; where a busy machine cuts the burst in parts, those that came while the first was asked about are the next question.
 */
const CALLS_TO_INITIALISE = NODES / 10;

const total = (counts: CallCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const routesIn = (state: object): number => JSON.stringify(state).split('10.244.').length - 1;

test('nodes are initialised and get their routes', { timeout: 900_000 }, async (t) => {
  const moto = await motoOrSkip(t);
  if (!moto) return;
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const [golden] = goldens();
  assert.ok(golden);
  await moto.reset();
  const readers = labReaders(moto.url);
  const account = await seedAccount(readers.ec2, NODES);
  await using counted = await countedEndpoint(moto.url);
  const config = join(controlPlane.directory, 'aws.conf');
  await writeFile(config, officialConfig(account, counted.url));
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const nodes = client.of(resources.nodes);
  const register = async ({ name }: SeededInstance, i: number): Promise<void> => {
    const node = hollowNode({ name, images: 0 });
    const podCIDR = `10.244.${i}.0/24`;
    await nodes.create({ ...node, spec: { ...node.spec, podCIDR, podCIDRs: [podCIDR] } });
  };
  await Promise.all(account.instances.map(register));

  const log = join(controlPlane.directory, 'manager.log');
  setEnv(t, LAB_ENV);
  await using manager = new Manager(
    [
      '--cloud-provider=aws',
      `--cloud-config=${config}`,
      `--kubeconfig=${controlPlane.kubeconfig.path}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${await freePort()}`,
      '--leader-elect=false',
      '--cluster-cidr=10.244.0.0/16',
      '--configure-cloud-routes=true',
    ],
    log,
  );
  manager.start();
  const patience = { patienceMs: 300_000, pollMs: 200, logs: [log], mayCome: () => manager.running };
  const listed = async (): Promise<readonly Node[]> => (await nodes.list()).items;
  const ms = await waitUntil(
    'all nodes are initialised',
    async () => (await listed()).filter(isInitialised).length === NODES,
    patience,
  );
  await waitUntil(
    'each has its route',
    async () => routesIn(await endStateOf(readers, account.vpcId)) === NODES,
    patience,
  );
  const calls = counted.takeCounts();
  t.diagnostic(`${NODES} nodes in ${(ms / 1_000).toFixed(1)} s by ${JSON.stringify(calls)}`);
  t.diagnostic(`cloud-provider-aws, ${golden.nodes.length} nodes: ${JSON.stringify(golden.callsOfNodes)}`);
  const { 'ec2:CreateRoute': created, 'ec2:ModifyNetworkInterfaceAttribute': opened, ...reads } = calls;
  assert.deepEqual([created, opened], [NODES, NODES]);
  const {
    'ec2:DescribeRouteTables': tables = 0,
    'ec2:DescribeNetworkInterfaces': looks = 0,
    // moto has none of it (500): it is asked for late, in the background, and no node waits for it.
    'ec2:DescribeInstanceTopology': _topology,
    // Whose account it is: once in a process, however many nodes there are.
    'sts:GetCallerIdentity': asked = 0,
    ...ofNodes
  } = reads;
  assert.ok(asked <= 1, JSON.stringify(calls));
  assert.ok(total(ofNodes) <= CALLS_TO_INITIALISE, JSON.stringify(calls));
  assert.ok(tables + looks <= NODES / 4, `routes are looked at in batches: ${JSON.stringify(calls)}`);

  // Names and addresses of the first are the same in each new account.
  const there = await listed();
  for (const { addresses, labels, name, providerID, zone } of golden.nodes.filter((one) => one.zone.endsWith('a'))) {
    const node = there.find(({ metadata }) => metadata?.name === name);
    assert.ok(node, name);
    assert.equal(node.spec?.providerID?.replace(/i-[0-9a-f]+$/u, '<i>'), providerID);
    const own = (node.status?.addresses ?? []).map(({ address, type }) => ({ type, address }));
    assert.deepEqual(own, addresses);
    // moto does not say the ID of a zone with an instance.
    for (const [key, value] of Object.entries(labels))
      assert.equal(node.metadata?.labels?.[key], value, `${zone} ${key}`);
  }
});
