/** The paths of a text that a kubelet writes into its Node or a request, or that a cloud says of its machine. */
import { parseProviderID } from '@outrigger/cloud-provider';
import { planNode } from '@outrigger/controllers';
import type { Node } from '@outrigger/kube';
import type { DatedAnswer } from '../../packages/cloud-runtime/src/answer-defaults.ts';
import { checkAnswers } from '../../packages/cloud-runtime/src/instance-answers-check.ts';
import { readServingRequest } from '../../packages/controllers/src/kubelet-serving-approver/serving-request.ts';
import { refOfNode } from '../../packages/controllers/src/node-ref.ts';
import { isLabelKey, isLabelValue } from '../../packages/controllers/src/node/label-syntax.ts';
import {
  isLabelValue as isOpenStackLabelValue,
  labelValueOf,
} from '../../providers/openstack/src/instances/label-value.ts';
import { askedServer } from '../../providers/openstack/src/instances/provider-ids.ts';
import { askedMachine } from '../../providers/vsphere/src/instances/asked-machine.ts';
import { eventOf, logger } from './log-targets.ts';
import type { Target } from './target.ts';

const found = {
  kind: 'found',
  instance: {
    providerID: 'openstack:///1',
    name: 'n',
    state: 'running',
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  },
} as const;

/** From the store to the Event, as the node controller goes. */
function initialise(node: Node, answer: DatedAnswer = { asOf: 0, result: found }): void {
  const options = { providerName: 'openstack', runsRoutes: true, nodeSyncedEvents: true };
  const plan = planNode({ node, answer, now: 0, options });
  if (plan.kind === 'wait') eventOf(plan.note.message);
  if (plan.kind === 'act') for (const action of plan.actions) if (action.kind === 'event') eventOf(action.note.message);
}

function nodeOf(more: { annotations?: Record<string, string>; spec?: object; status?: object }): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', uid: 'u', annotations: more.annotations ?? {} },
    spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }], ...more.spec },
    status: more.status ?? {},
  };
}

/** A machine of which the cloud says this, from its answer on. */
function answered(said: object, notes: readonly string[] = []): void {
  const answer = { notes, place: 'a', result: { ...found, instance: { ...found.instance, ...said } } };
  const [checked] = checkAnswers([refOfNode(nodeOf({}))], [answer], 0, 0);
  if (checked?.result.kind === 'failed') eventOf(checked.result.error.message);
  for (const note of checked?.notes ?? []) logger.info(note);
  initialise(nodeOf({}), checked);
}

const textByName = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(',').flatMap((one) => [one, `example.com/${one}`].map((name) => [name, one])));

/** Of a kubelet that puts this into its request. */
const serve = (request: Buffer): unknown =>
  readServingRequest({
    spec: {
      signerName: 'kubernetes.io/kubelet-serving',
      username: 'system:node:n',
      groups: ['system:nodes'],
      usages: ['digital signature', 'server auth'],
      request: request.toString('base64'),
    },
  });

export const nodeTargets: readonly Target[] = [
  {
    name: 'node annotation provided-node-ip',
    run: (text) => initialise(nodeOf({ annotations: { 'alpha.kubernetes.io/provided-node-ip': text } })),
  },
  { name: 'node provider ID', run: (text) => initialise(nodeOf({ spec: { providerID: text } })) },
  {
    name: 'node provider ID of ours',
    run: (text) => initialise(nodeOf({ spec: { providerID: `openstack://${text}` } })),
  },
  {
    name: 'node host name',
    run: (text) => initialise(nodeOf({ status: { addresses: [{ type: 'Hostname', address: text }] } })),
  },
  {
    name: 'node addresses',
    run: (text) =>
      initialise(
        nodeOf({ status: { addresses: text.split(',').map((address) => ({ type: 'InternalIP', address })) } }),
      ),
  },
  {
    name: 'node systemUUID',
    run: (text) => {
      const node = nodeOf({ status: { nodeInfo: { systemUUID: text } } });
      askedMachine(refOfNode(node), 'vsphere', () => []);
      initialise(node);
    },
  },
  { name: 'labels of a machine', run: (text) => answered({ labels: textByName(text) }) },
  {
    name: 'annotations of a machine',
    run: (text) => answered({ annotations: textByName(text), missingTags: textByName(text) }),
  },
  {
    name: 'words about a machine',
    run: (text) => answered({ maintenance: { state: 'planned', reason: text } }, text.split(',')),
  },
  {
    name: 'names of a machine',
    run: (text) => {
      for (const what of ['name', 'providerID', 'state', 'type', 'zone', 'region']) answered({ [what]: text });
      answered({ addresses: text.split(',').map((address) => ({ type: 'InternalIP', address })) });
      answered({ podCidrs: text.split(',') });
    },
  },
  { name: 'serving request', run: (text) => serve(Buffer.from(text)) },
  {
    name: 'serving request in PEM',
    run: (text) => {
      const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} CERTIFICATE REQUEST-----\n`);
      serve(Buffer.from(`${begin}${Buffer.from(text, 'latin1').toString('base64')}\n${end}`));
    },
  },
  {
    name: 'provider ID',
    run: (text) => {
      parseProviderID(text, 'openstack');
      const rules = { name: 'openstack', region: 'a' };
      const node = { name: text, uid: 'u', labels: {}, annotations: {} };
      const one = askedServer({ ...node, providerID: text }, rules);
      askedServer({ ...node, providerID: `openstack://${text}` }, rules);
      if (one.by === 'error') eventOf(one.error.message);
    },
  },
  {
    name: 'label',
    run: (text) => [isLabelKey(text), isLabelValue(text), isOpenStackLabelValue(text), labelValueOf(text)],
  },
];
