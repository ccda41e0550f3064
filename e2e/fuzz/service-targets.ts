/** The paths of a text that a tenant writes into a Service: its annotations, fields and conditions, and what a webhook says of them. */
import {
  loadBalancerOwnerAnnotation,
  type CallContext,
  type LoadBalancers,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { partNameOf } from '@outrigger/controllers';
import { silentLogger, systemClock, type Service } from '@outrigger/kube';
import { createServiceWebhook } from '../../packages/cloud-controller-manager/src/webhooks/service-webhook.ts';
import { reviewOf } from '../../packages/controller-manager/src/webhook/admission-review.ts';
import { mayUse, shareWithAnnotation } from '../../packages/controllers/src/load-balancer/tenancy.ts';
import { askedOf } from '../../packages/controllers/src/service/adoption.ts';
import { foreignOwnerNote, foreignOwnerOf } from '../../packages/controllers/src/service/foreign-owner.ts';
import {
  isWrittenDown,
  missingRecordOf,
  missingText,
  openedRecord,
  partsRecordOf,
} from '../../packages/controllers/src/service/parts-record.ts';
import { planService } from '../../packages/controllers/src/service/plan.ts';
import { readyConditionFor } from '../../packages/controllers/src/service/readiness.ts';
import { failureNote } from '../../packages/controllers/src/service/service-events.ts';
import { factsOfService } from '../../packages/controllers/src/service/service-words.ts';
import { sourceRangesOf } from '../../packages/controllers/src/service/source-ranges.ts';
import { wakingText } from '../../packages/controllers/src/service/waking-text.ts';
import {
  cleanupFinalizer,
  missingSinceAnnotation,
  partsAnnotation,
  readyCondition,
} from '../../packages/controllers/src/service/well-known-names.ts';
import { annotationTable } from '../../providers/openstack/src/load-balancer/desired/annotation-table.ts';
import {
  declaredAnnotations,
  declaredFeatures,
  lockKeyOf,
  selectBackEnds,
} from '../../providers/openstack/src/load-balancer/desired/declared.ts';
import { desiredTree } from '../../providers/openstack/src/load-balancer/desired/desired-tree-of.ts';
import { configOf, inputOf, twoNodes } from '../../providers/openstack/src/load-balancer/desired/tree-inputs.suite.ts';
import { eventOf } from './log-targets.ts';
import type { Target } from './target.ts';

const PROVIDER = 'openstack';

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
const serving = { providerName: PROVIDER, isDefault: true, classes: [], clusterId: 'c' };

/** From the store to the Event, as the service controller goes. */
function bring(service: Service): void {
  wakingText(service);
  factsOfService(service, serving);
  const { metadata } = service;
  const recorded = {
    ...service,
    metadata: {
      ...metadata,
      finalizers: [cleanupFinalizer],
      annotations: { [loadBalancerOwnerAnnotation]: PROVIDER, ...metadata?.annotations },
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

/** Of another provider's name: what a person is told, also of one that is being deleted. */
function ownedBy(owner: string): void {
  const service = serviceOf({ annotations: { [loadBalancerOwnerAnnotation]: owner } });
  const deleted = { finalizers: [cleanupFinalizer], deletionTimestamp: '2026-01-01T00:00:00Z' };
  for (const one of [service, { ...service, metadata: { ...service.metadata, ...deleted } }]) {
    const foreign = foreignOwnerOf(one, { ...serving, providers: [PROVIDER] });
    if (foreign !== undefined) eventOf(foreignOwnerNote(one, foreign, PROVIDER).message);
    bring(one);
  }
}

/** What this text on a Service says of its parts, written again too. */
function recorded(text: string): void {
  const service = serviceOf({ annotations: { [partsAnnotation]: text, [missingSinceAnnotation]: text } });
  partsRecordOf(service);
  openedRecord(service);
  const missing = missingRecordOf(service);
  if (missing && missingText(missing)) isWrittenDown(service, missing);
  bring(service);
}

/** As the provider for OpenStack does, of a cloud that has nothing yet. */
const validate: NonNullable<LoadBalancers['validate']> = async (service) => {
  const { refused, warnings = [] } = provider.plan({ service });
  return refused ? { refused } : { warnings: warnings.map(({ message }) => message) };
};
const { signal } = new AbortController();
const webhook = createServiceWebhook({
  providers: [
    {
      name: PROVIDER,
      capabilities: { loadBalancers: { ...provider, validate, classes: [] } as unknown as LoadBalancers },
      callContext: ({ priority }): CallContext => ({
        signal,
        priority,
        logger: silentLogger,
        call: (_operation, send) => send(signal),
      }),
    },
  ],
  clock: systemClock,
  logger: silentLogger,
  isTrusted: false,
  signal,
});

/** From what the API server sends to what it is told. */
async function review(object: object): Promise<void> {
  const request = { uid: 'x', operation: 'CREATE', dryRun: false, object, oldObject: undefined } as const;
  reviewOf(request.uid, await webhook.answer(request, signal));
}

const readByOpenStack: readonly string[] = Object.values(annotationTable).map(({ name }) => name);

/** Each by itself: of several, the first that is wrong is refused. */
async function reviewEach(text: string): Promise<void> {
  for (const name of [...readByOpenStack, shareWithAnnotation, loadBalancerOwnerAnnotation, 'example.com/x']) {
    await review(serviceOf({ annotations: { [name]: text } }));
  }
  const words = text.split(',');
  for (const spec of [
    { loadBalancerIP: text },
    { loadBalancerClass: text },
    { loadBalancerSourceRanges: words },
    { ports: words.map((name) => ({ name, port: 80, protocol: name, appProtocol: name })) },
    { ipFamilies: words },
  ]) {
    await review(serviceOf({ spec }));
  }
  const metadata = { name: text, namespace: text, uid: text, labels: { [text]: text }, finalizers: words };
  await review({ ...serviceOf({}), metadata });
}

export const serviceTargets: readonly Target[] = [
  ...readByOpenStack.map((name) => ({
    name: `annotation ${name}`,
    run: (text: string): void => bring(serviceOf({ annotations: { [name]: text } })),
  })),
  { name: 'annotation that nobody reads', run: (text) => bring(serviceOf({ annotations: { 'example.com/x': text } })) },
  { name: `annotation ${loadBalancerOwnerAnnotation}`, run: ownedBy },
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
  { name: 'review of a Service', run: reviewEach },
];
