/**
 * Every forged request for a serving certificate that the approver's own tests know, made on a real API server by users who may: the API server
 * refuses some, of the others the program approves none, and kube-controller-manager signs none. Honest ones beside them are signed.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { NodeAddress } from '@outrigger/cloud-provider';
import { resources, StatusError } from '@outrigger/kube';
import type { NewInstance } from '@outrigger/provider-memory';
import { controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import { forgedRequests } from '../packages/controllers/src/kubelet-serving-approver/forged-requests.suite.ts';
import {
  NODE_1_ADDRESSES,
  requestOf,
  type AskedName,
  type RequestSpec,
} from '../packages/controllers/src/kubelet-serving-approver/serving-rig.suite.ts';
import { CloudStory, STORY_FLAGS } from './cloud-story.ts';
import { kubectl } from './granted-program.ts';
import { requestsAs, signingAuthority } from './serving-requests.ts';

const FLAGS = [...STORY_FLAGS, '--leader-elect=false', '--controllers=kubelet-serving'];
const FAILING_CLOUD = 'the cloud fails';

/** What a real cluster does not let anybody forge, and why. */
const ONLY_ALONE: Readonly<Record<string, string>> = {
  'it was made two hours ago': 'the API server says when it was made',
  'the cloud answers with what it knew before': 'the cloud in memory gives no time with an answer',
  'the machine has the ID that another node has': 'the cloud in memory knows each machine by one ID',
  'the node has another form of the ID that another node has': 'the cloud in memory knows each machine by one ID',
};

/** What the API server itself does not take. */
const REFUSED_AT_ONCE: readonly string[] = [
  'no bytes as an address',
  'an address of five bytes',
  'an address range',
  'the extension twice',
  'two requests for extensions',
  'a request for extensions that reaches over the next one',
  'an extension that cannot be read',
  'no usages',
  'no PEM',
  'PEM of nothing',
  'a certificate',
  'something before the request',
];

/** A node whose cloud does not confirm what its kubelet asks for; by the name of the forged request. */
interface DoubtfulNode {
  /** Default: that of the machine of its name. `null`: there is no node. */
  readonly providerID?: string | null;
  /** Default: none. `addresses` besides the one that is asked for. */
  readonly machine?: Partial<NewInstance>;
  /** The machine is deleted before anybody asks. */
  readonly isGone?: true;
  /** Default: its own. */
  readonly names?: readonly AskedName[];
}

const DOUBTFUL: Readonly<Record<string, DoubtfulNode>> = {
  'the node is not there': { providerID: null, machine: {} },
  'the node has no provider ID': { providerID: '', machine: {} },
  "the node has another cloud's provider ID": { providerID: 'aws:///a/i-1', machine: {} },
  "the node has another node's provider ID": { providerID: 'memory://region-1/node-2', names: [['ip', '10.0.0.2']] },
  'the node has the provider ID of a machine with another name': {
    providerID: 'memory://region-1/db',
    names: [['ip', '10.0.0.9']],
  },
  'the cloud does not list the machine': {},
  'the cloud says that the machine is gone': { machine: {}, isGone: true },
  'the machine is shut down': { machine: { state: 'shutdown' } },
  'the cloud gives no addresses': { machine: { addresses: [] } },
  'the cloud gives no IP address': { machine: { addresses: [{ type: 'Hostname', address: 'x' }] } },
  [FAILING_CLOUD]: { machine: {} },
};

function addressesOf(name: string, address: string): readonly NodeAddress[] {
  return [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ];
}

test('of all forged requests none is approved nor signed; honest ones are', async (t) => {
  const authority = await signingAuthority(t);
  const controlPlane = await controlPlaneOrSkip(t, {
    kubectl: true,
    kubeControllerManager: true,
    flags: { 'kube-controller-manager': authority.flags },
  });
  if (!controlPlane) return;
  await using owned = new AsyncDisposableStack();
  const story = owned.use(await CloudStory.open(controlPlane));
  // Nodes may write requests; all others who ask here are given that right, so that nothing but the approver stands in their way.
  await kubectl(controlPlane, ['create', 'clusterrole', 'asks', '--verb=create', '--resource=csr']);
  await kubectl(controlPlane, [
    'create',
    'clusterrolebinding',
    'asks',
    '--clusterrole=asks',
    '--group=system:authenticated',
  ]);

  const addNode = (name: string, providerID: string = `memory://region-1/${name}`): Promise<unknown> => {
    const { spec, ...node } = hollowNode({ name, images: 0 });
    return story.client.of(resources.nodes).create({ ...node, spec: { ...spec, ...(providerID && { providerID }) } });
  };
  const clients = new Map<string, ReturnType<typeof requestsAs>>();
  const ask = async (name: string, spec: RequestSpec): Promise<void> => {
    const { groups = ['system:nodes'], node = 'node-1', username: user = `system:node:${node}` } = spec;
    const who = JSON.stringify([user, groups]);
    const own = groups.filter((group) => group !== 'system:authenticated');
    const requests = clients.get(who) ?? requestsAs(controlPlane, owned, { user, groups: own });
    clients.set(who, requests);
    await (await requests).create({ ...(await requestOf(name, spec)), metadata: { name } });
  };

  story.cloud.createInstance({ name: 'node-1', addresses: NODE_1_ADDRESSES });
  story.cloud.createInstance({ name: 'node-2', addresses: addressesOf('node-2', '10.0.0.2') });
  story.cloud.createInstance({ name: 'db', addresses: addressesOf('db', '10.0.0.9') });
  await Promise.all(['node-1', 'node-2'].map((name) => addNode(name)));

  /** The request of a node that the cloud does not confirm, once node and machine are there. */
  const doubtful = async (what: string, index: number): Promise<RequestSpec> => {
    const { isGone, machine, names, providerID } = DOUBTFUL[what] ?? assert.fail(`DOUBTFUL does not say: ${what}`);
    const [node, address] = [`doubtful-${index}`, `10.0.1.${index}`];
    if (machine) story.cloud.createInstance({ name: node, addresses: addressesOf(node, address), ...machine });
    if (isGone) story.cloud.deleteInstance(node);
    if (providerID !== null) await addNode(node, providerID);
    return {
      node,
      names: names ?? [
        ['dns', node],
        ['ip', address],
      ],
    };
  };

  const forged = forgedRequests
    .map((one, index) => ({ ...one, index, name: `forged-${index}` }))
    .filter(({ what }) => !(what in ONLY_ALONE));
  const refused: string[] = [];
  const makeAll = (some: typeof forged): Promise<unknown> =>
    Promise.all(
      some.map(async ({ index, name, request = {}, what, world }) => {
        try {
          await ask(name, world ? await doubtful(what, index) : request);
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          refused.push(what);
        }
      }),
    );
  // Before anybody judges them: one read of a machine answers all that were there when it began, and a kubelet has few of them.
  await makeAll(forged.filter(({ what }) => what !== FAILING_CLOUD));
  const program = await story.run('approver', FLAGS);

  const admin = story.client.of(resources.certificateSigningRequests);
  const verdicts = async (): Promise<ReadonlyMap<string, string>> => {
    const { items } = await admin.list();
    return new Map(
      items.map(({ metadata, status }) => {
        const signed = status?.certificate ? ['signed'] : [];
        const decided = (status?.conditions ?? []).map(({ type }) => type);
        return [metadata?.name ?? '', [...decided, ...signed].join() || 'pending'];
      }),
    );
  };
  /** Decided, or looked at and told why it waits. What no kubelet asked is not looked at. */
  const isJudged = async (some: typeof forged): Promise<boolean> => {
    const [said, log] = [await verdicts(), await readFile(program.log, 'utf8')];
    return some.every(({ name, verdict, world }) =>
      verdict === 'Denied' ? said.get(name) !== 'pending' : !world || log.includes(` request="${name}" problem=`),
    );
  };
  const judged = forged.filter(({ what }) => !refused.includes(what));
  const failing = judged.filter(({ what }) => what === FAILING_CLOUD);
  const others = judged.filter(({ what }) => what !== FAILING_CLOUD);
  await story.until('all are judged', () => isJudged(others));

  // Honest requests of nodes that nobody has forged.
  const honest = ['10.0.2.1', '10.0.2.2', '10.0.2.3'].map((address, index) => ({ node: `honest-${index}`, address }));
  for (const { address, node } of honest) {
    story.cloud.createInstance({ name: node, addresses: addressesOf(node, address) });
    await addNode(node);
    const names = [['dns', node] as const, ['ip', address] as const];
    await ask(node, { node, names });
  }
  const areSigned = async (): Promise<boolean> => {
    const said = await verdicts();
    return honest.every(({ node }) => said.get(node) === 'Approved,signed');
  };
  await story.until('the honest ones are approved and signed', areSigned);

  story.cloud.setFaults([{ operation: 'GET /instances/', effect: 'status' }]);
  await makeAll(forged.filter(({ what }) => what === FAILING_CLOUD));
  await story.until('the one of the failing cloud is judged', () => isJudged(failing));

  const said = await verdicts();
  for (const { name, verdict, what } of judged) assert.equal(said.get(name), verdict, what);
  assert.deepEqual(refused.toSorted(), REFUSED_AT_ONCE.toSorted());
  assert.equal(judged.length + refused.length + Object.keys(ONLY_ALONE).length, forgedRequests.length);
});
