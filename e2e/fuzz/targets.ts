/**
 * Every path that a text of a tenant, a node or a cloud takes: each target takes any text and has to end in a time that grows as
 * the text does. What it throws is of no account, as long as it throws an `Error`.
 */
import {
  CloudError,
  canonicalIp,
  isCloudError,
  loadBalancerOwnerAnnotation,
  parseCidr,
  parseProviderID,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { parseYamlFile, Redactor } from '@outrigger/controller-manager';
import { parseClusterCidrs, partNameOf, planNode } from '@outrigger/controllers';
import { KnownSecrets, systemClock, type Node, type Service } from '@outrigger/kube';
import { checkAnswers } from '../../packages/cloud-runtime/src/instance-answers-check.ts';
import type { DatedAnswer } from '../../packages/cloud-runtime/src/answer-defaults.ts';
import { Secrets } from '../../packages/cloud-runtime/src/secrets.ts';
import { parseGoDuration } from '../../packages/controller-manager/src/flags/go-duration.ts';
import { createLogging } from '../../packages/controller-manager/src/logs/logging.ts';
import { readReview, reviewOf } from '../../packages/controller-manager/src/webhook/admission-review.ts';
import { sizeOfJson } from '../../packages/controller-manager/src/webhook/json-size.ts';
import { readServingRequest } from '../../packages/controllers/src/kubelet-serving-approver/serving-request.ts';
import { mayUse, shareWithAnnotation } from '../../packages/controllers/src/load-balancer/tenancy.ts';
import { refOfNode } from '../../packages/controllers/src/node-ref.ts';
import { isLabelKey, isLabelValue } from '../../packages/controllers/src/node/label-syntax.ts';
import { askedOf } from '../../packages/controllers/src/service/adoption.ts';
import { failureNote } from '../../packages/controllers/src/service/service-events.ts';
import {
  isWrittenDown,
  missingRecordOf,
  missingText,
  openedRecord,
  partsRecordOf,
} from '../../packages/controllers/src/service/parts-record.ts';
import { planService } from '../../packages/controllers/src/service/plan.ts';
import { readyConditionFor } from '../../packages/controllers/src/service/readiness.ts';
import { sourceRangesOf } from '../../packages/controllers/src/service/source-ranges.ts';
import { factsOfService } from '../../packages/controllers/src/service/service-words.ts';
import { wakingText } from '../../packages/controllers/src/service/waking-text.ts';
import {
  missingSinceAnnotation,
  partsAnnotation,
  readyCondition,
} from '../../packages/controllers/src/service/well-known-names.ts';
import { volumeRefOf } from '../../packages/controllers/src/pv-label/volume-source.ts';
import { EventCorrelator } from '../../packages/kube/src/event-correlator.ts';
import { readLease, writeLease } from '../../packages/kube/src/lease-record.ts';
import { delimited, enveloped, framed, watchEvent } from '../../packages/kube/src/protobuf/encode.suite.ts';
import { readList, readObject, readWatchEvent } from '../../packages/kube/src/protobuf/envelope.ts';
import { decodeFrames } from '../../packages/kube/src/protobuf/frame-decoder.ts';
import { readError } from '../../packages/kube/src/response-body.ts';
import { retryAfterMs } from '../../packages/kube/src/retry-after.ts';
import { warningsOf } from '../../packages/kube/src/warning-header.ts';
import { parseGcfg } from '../../packages/provider-kit/src/config/gcfg.ts';
import { readPage } from '../../providers/openstack/src/client/next-page.ts';
import { refusalOf } from '../../providers/openstack/src/client/refusal.ts';
import { readCloudConfig } from '../../providers/openstack/src/config/read-cloud-config.ts';
import { nodeAddresses } from '../../providers/openstack/src/instances/node-addresses.ts';
import {
  isLabelValue as isOpenStackLabelValue,
  labelValueOf,
} from '../../providers/openstack/src/instances/label-value.ts';
import { askedServer } from '../../providers/openstack/src/instances/provider-ids.ts';
import { annotationTable } from '../../providers/openstack/src/load-balancer/desired/annotation-table.ts';
import {
  declaredAnnotations,
  declaredFeatures,
  lockKeyOf,
  selectBackEnds,
} from '../../providers/openstack/src/load-balancer/desired/declared.ts';
import { desiredTree } from '../../providers/openstack/src/load-balancer/desired/desired-tree-of.ts';
import {
  matchFloatingSubnets,
  subnetNamePattern,
} from '../../providers/openstack/src/load-balancer/desired/floating-subnets.ts';
import { parseNodeSelector } from '../../providers/openstack/src/load-balancer/desired/node-selector.ts';
import { configOf, inputOf, twoNodes } from '../../providers/openstack/src/load-balancer/desired/tree-inputs.suite.ts';
import {
  markedDescription,
  markOf,
  ownersIn,
  unmarked,
} from '../../providers/openstack/src/load-balancer/ownership.ts';
import { askedMachine } from '../../providers/vsphere/src/instances/asked-machine.ts';
import { cloudTargets } from './cloud-targets.ts';
import { providerKitTargets } from './provider-kit-targets.ts';

export interface Target {
  readonly name: string;
  readonly run: (text: string) => unknown;
  /** How many times a scan of the same text it may take: of what only an operator writes. Default: 3,000. */
  readonly scans?: number;
}

const SECRET = 'pÄss/w<o>rd&"x+Y9';

const redactor = new Redactor();
redactor.add(SECRET);
redactor.add('hunter2-correct-horse');

const secrets = new Secrets();
secrets.add(SECRET);
secrets.add('k8s1!');

const known = new KnownSecrets();
for (let n = 0; n < 50; n++) known.add(`token-number-${n}-of-an-hour`);
// With the beginning of many a text.
for (let n = 0; n < 32; n++) known.add(`${'eyJhbGciOi.'.repeat(9)}${n}`);

const { logger } = createLogging({
  clock: systemClock,
  format: 'text',
  component: 'fuzz',
  destination: { write: () => {} },
  redactor,
});

/** As an Event of the failure of this Service or Node reaches the API server. */
function eventOf(message: string): void {
  const about = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'b', uid: 'c' } };
  const correlator = new EventCorrelator(systemClock, about);
  correlator.correlate(about, { type: 'Warning', reason: 'Refused', message: redactor.redact(message) }, false);
  logger.error('Refused', { message });
}

function serviceOf(more: { annotations?: Record<string, string>; spec?: object; status?: object }): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'a', uid: 'u', annotations: more.annotations ?? {} },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }], ...more.spec },
    ...(more.status && { status: more.status }),
  };
}

const { loadBalancer: loadBalancerConfig } = configOf();
const provider = {
  annotations: declaredAnnotations,
  features: declaredFeatures(loadBalancerConfig),
  selectBackEnds: (service: LoadBalancerService, backEnds: typeof twoNodes) =>
    selectBackEnds(service, backEnds, { nodeSelector: undefined }),
  plan: ({ service }: { readonly service: LoadBalancerService }) => {
    const result = desiredTree(inputOf(service));
    return result.kind === 'refused'
      ? { actions: [], complete: false, ingress: [], refused: result.error }
      : { actions: [], complete: true, ingress: [], warnings: result.warnings };
  },
};
const serving = { providerName: 'openstack', isDefault: true, classes: [], clusterId: 'c' };

/** From the store to the Event, as the service controller goes. */
function bring(service: Service): void {
  wakingText(service);
  factsOfService(service, serving);
  const recorded = {
    ...service,
    metadata: {
      ...service.metadata,
      finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
      annotations: { ...service.metadata?.annotations, [loadBalancerOwnerAnnotation]: 'openstack' },
    },
  };
  const plan = planService({
    service: recorded,
    observation: { kind: 'parts', asOf: 0, parts: [] },
    backEnds: twoNodes,
    believesEmpty: true,
    provider,
    options: serving,
  });
  if (plan.kind === 'refuse' || plan.kind === 'failed') eventOf(failureNote('ensure', plan.error).message);
  if (plan.kind !== 'bring') return;
  lockKeyOf(plan.desired.service);
  for (const { message } of plan.plan.warnings ?? []) eventOf(message);
}

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

/** What this text on a Service says of its parts, written again too. */
function recorded(text: string): void {
  const service = serviceOf({ annotations: { [partsAnnotation]: text, [missingSinceAnnotation]: text } });
  partsRecordOf(service);
  openedRecord(service);
  const missing = missingRecordOf(service);
  if (missing && missingText(missing)) isWrittenDown(service, missing);
  bring(service);
}

/** As the page of a webhook does. */
function review(text: string): void {
  sizeOfJson(Buffer.from(text));
  const { object, uid } = readReview(text);
  logger.info('x', { uid, object });
}

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

const bodyOf = (text: string) => ({
  status: 500,
  headers: { 'content-type': 'text/html' },
  body: (async function* () {
    yield Buffer.from(text);
  })(),
});

const PIECE_BYTES = 100;
const piecesOf = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES).subarray(0, PIECE_BYTES),
  );

/** The messages of a stream that comes in pieces, which begin and end where messages do not. */
const framesIn = (stream: Buffer): Promise<readonly Buffer[]> =>
  Array.fromAsync(
    decodeFrames(
      (async function* () {
        yield* piecesOf(stream);
      })(),
    ),
  );

const answerOf = (text: string) => ({ status: 409, text, header: () => undefined }) as never;
const asked = { service: 'network', operation: 'POST /ports', path: '/v2.0/ports' } as const;
const env = { env: {}, workingDirectory: '/nowhere', homeDirectory: '/nowhere' };

const annotationTargets: readonly Target[] = Object.values(annotationTable).map(({ name }) => ({
  name: `annotation ${name}`,
  run: (text) => bring(serviceOf({ annotations: { [name]: text } })),
}));

let patterns = 0;

export const targets: readonly Target[] = [
  { name: 'redactor', run: (text) => redactor.redact(text) },
  { name: 'secrets of a provider', run: (text) => secrets.redact(text) },
  { name: 'known secrets', run: (text) => known.replaceIn(text, '-') },
  { name: 'log message', run: (text) => logger.info(text) },
  { name: 'log field', run: (text) => logger.info('x', { text, deep: [{ text }], error: new Error(text) }) },
  { name: 'log key', run: (text) => logger.info('x', { [text]: text, deep: { [text]: 1 } }) },
  { name: 'provider log field', run: (text) => secrets.redactFields({ [text]: { [text]: text } }) },
  { name: 'provider error', run: (text) => secrets.redactError(new Error(text, { cause: text })) },
  { name: 'Event', run: eventOf },
  ...annotationTargets,
  { name: 'annotation that nobody reads', run: (text) => bring(serviceOf({ annotations: { 'example.com/x': text } })) },
  {
    name: 'annotation source ranges',
    run: (text) =>
      sourceRangesOf(serviceOf({ annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': text } })),
  },
  {
    name: 'field source ranges',
    run: (text) => bring(serviceOf({ spec: { loadBalancerSourceRanges: text.split(',') } })),
  },
  { name: 'field requested address', run: (text) => bring(serviceOf({ spec: { loadBalancerIP: text } })) },
  {
    name: 'status host name',
    run: (text) => bring(serviceOf({ status: { loadBalancer: { ingress: [{ hostname: text }] } } })),
  },
  {
    name: 'condition adopt',
    run: (text) => {
      const condition = { type: 'outrigger.dev/AdoptLoadBalancer', status: 'True', message: text };
      const service = serviceOf({ status: { conditions: [condition] } });
      askedOf(service);
      bring(service);
    },
  },
  {
    name: 'condition LoadBalancerReady',
    run: (text) => {
      const condition = { type: readyCondition, status: 'False', reason: 'Invalid', message: text };
      const service = serviceOf({ status: { conditions: [condition] } });
      readyConditionFor(service, { reason: 'Invalid', message: 'it is not so' }, 0);
    },
  },
  {
    name: `annotation ${shareWithAnnotation}`,
    run: (text) => {
      const owner = { clusterId: 'c', uid: 'u' };
      const serviceOfOwner = (): Service => serviceOf({ annotations: { [shareWithAnnotation]: text } });
      const tenancy = { clusterId: 'c', serviceOf: serviceOfOwner };
      mayUse({ kind: 'a', id: 'b', owner, allowed: [] }, { namespace: 'other', uid: 'x' }, tenancy);
      bring(serviceOfOwner());
    },
  },
  { name: `annotations ${partsAnnotation} and ${missingSinceAnnotation}`, run: recorded },
  {
    name: 'annotation of parts, each with a name',
    run: (text) => {
      const words = text.split(',');
      for (const some of [words, words.slice(0, 50)]) {
        const parts = some.map((one) => `${encodeURIComponent(one.slice(0, 9))}/${one}`).join(' ');
        recorded(parts);
        recorded(`2026-01-01T00:00:00Z ${parts} +`);
      }
    },
  },
  { name: 'part name', run: partNameOf },
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
  { name: 'AdmissionReview', run: review },
  {
    name: 'AdmissionReview, its object',
    run: (text) => {
      const [uid, object] = [JSON.stringify(text), /^[[{]/u.test(text) ? text : JSON.stringify({ [text]: text })];
      review(
        `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":${uid},"operation":"CREATE","object":${object}}}`,
      );
    },
  },
  {
    name: 'answer to an AdmissionReview',
    run: (text) => reviewOf(text, { refused: text, warnings: [text, ...text.split(',')] }),
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
  { name: 'address', run: canonicalIp },
  { name: 'range', run: parseCidr },
  { name: 'ranges of the cluster', run: parseClusterCidrs },
  {
    name: 'label',
    run: (text) => [isLabelKey(text), isLabelValue(text), isOpenStackLabelValue(text), labelValueOf(text)],
  },
  {
    name: 'pattern of a floating subnet',
    run: (text) => {
      const matches = subnetNamePattern(text);
      matches('x'.repeat(255));
    },
  },
  {
    // Of 25 Services: a longer one is refused.
    name: 'patterns of floating subnets',
    run: (text) => {
      for (let at = 0; at < Math.min(text.length, 25 * 230); at += 230) {
        const part = text.slice(at, at + 230);
        for (const pattern of [`~${part}`, `~[${part}]`, `~(?i)[${part}]`, `~(?i)(?:${part}){19}`]) {
          try {
            // No two are equal: one that is remembered costs nothing.
            subnetNamePattern(`${pattern}${patterns++}`);
          } catch (error) {
            if (!isCloudError(error, 'invalid')) throw error;
          }
        }
      }
    },
    scans: 10_000,
  },
  {
    name: 'name of a floating subnet',
    run: (text) => matchFloatingSubnets({ name: '~(a|b)*-pool-.*' }, [{ id: '1', name: text, tags: text.split(',') }]),
  },
  {
    name: 'tags of a floating subnet',
    run: (text) => matchFloatingSubnets({ tags: text }, [{ id: '1', name: 'a', tags: ['a', 'b'] }]),
  },
  { name: 'node selector', run: parseNodeSelector },
  { name: 'duration', run: parseGoDuration },
  {
    name: 'volume',
    run: (text) => volumeRefOf({ metadata: { name: 'a' }, spec: { cinder: { volumeID: text } } }),
  },
  { name: 'cloud.conf syntax', run: parseGcfg },
  { name: 'cloud.conf', run: (text) => readCloudConfig({ fileName: 'a', text }, env, () => {}) },
  // The library keeps an error for each character that is wrong.
  { name: 'YAML', scans: 30_000, run: (text) => parseYamlFile('a', text) },
  {
    name: 'lease',
    run: (text) => {
      const lease = {
        metadata: { annotations: { a: text } },
        spec: { holderIdentity: text, acquireTime: text },
      } as never;
      writeLease(lease, { ...readLease(lease, 1), renewedAt: 0 });
    },
  },
  { name: 'answer of an API server', run: (text) => readError('GET /', bodyOf(text)) },
  {
    name: 'answer of an API server, a Status',
    run: (text) => readError('GET /', bodyOf(JSON.stringify({ kind: 'Status', message: text }))),
  },
  {
    name: 'list in protobuf',
    run: (text) => {
      const items = piecesOf(Buffer.from(text)).map((name) => delimited(2, delimited(1, delimited(1, name))));
      return readList('Node', enveloped('NodeList', ...items));
    },
  },
  {
    name: 'object in protobuf',
    run: (text) => readWatchEvent('Node', watchEvent('ADDED', enveloped('Node', Buffer.from(text, 'latin1')))),
  },
  {
    name: 'text of an object in protobuf',
    run: (text) => {
      const label = Buffer.concat([delimited(1, Buffer.from(text)), delimited(2, Buffer.from(text))]);
      return readObject('Node', enveloped('Node', delimited(1, delimited(11, label))));
    },
  },
  { name: 'watch in protobuf, one event', run: (text) => framesIn(framed(Buffer.from(text))) },
  {
    name: 'watch in protobuf, many events',
    run: (text) => framesIn(Buffer.concat(piecesOf(Buffer.from(text)).map(framed))),
  },
  { name: 'Retry-After', run: (text) => retryAfterMs({ 'retry-after': text }) },
  { name: 'Warning', run: warningsOf },
  { name: 'answer of OpenStack', run: (text) => refusalOf(asked, answerOf(text), 0) },
  {
    name: 'answer of OpenStack, in its words',
    run: (text) => refusalOf(asked, answerOf(JSON.stringify({ NeutronError: { message: text, type: text } })), 0),
  },
  {
    name: 'page of OpenStack',
    run: (text) => readPage({ a: [text], a_links: [{ rel: 'next', href: text }] }, 'a', 'b'),
  },
  {
    name: 'server of OpenStack',
    run: (text) => {
      const addresses = { [text]: text.split(',').map((addr) => ({ addr })) };
      const server = { id: text, status: text, name: text, addresses, metadata: { hostname: text }, accessIPv4: text };
      const networking = { publicNetworkName: [text], internalNetworkName: [], addressSortOrder: ['10.0.0.0/8', text] };
      return nodeAddresses(server, { ports: [], subports: [] }, { ...networking, ipv6SupportDisabled: false });
    },
  },
  {
    name: 'marks of an owner',
    run: (text) => {
      const owner = { clusterId: 'a', uid: 'b' };
      unmarked(text);
      markOf(text, [text]);
      ownersIn([`outrigger.dev/owner=${text}`, ...text.split(',')]);
      return markedDescription(text, { owner, keep: true });
    },
  },
  ...providerKitTargets,
  ...cloudTargets,
  { name: 'error of a cloud', run: (text) => logger.error('x', { error: new CloudError('invalid', text) }) },
];
