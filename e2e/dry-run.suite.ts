// Over 400 lines: one cluster, and what a dry run says of each object.
/**
 * A dry run of the whole program with much to do, and then a live run on the same cluster: the first writes nothing, and says
 * what the second does.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test, type TestContext } from 'node:test';
import {
  defaultControllers,
  explanationOf,
  explanationPath,
  main,
  type CloudController,
  type Explanation,
  type LeaderContext,
} from '@outrigger/cloud-controller-manager';
import {
  createClient,
  createTransport,
  loadConfig,
  resources,
  systemClock,
  type CertificateSigningRequest,
  type Client,
  type Node,
} from '@outrigger/kube';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '@outrigger/provider-memory';
import { freePort, UNINITIALIZED_TAINT } from '@outrigger/testing';
import { quickClock } from './quick-clock.ts';
import { SERVING_SIGNER, servingRequest } from './serving-requests.ts';

/** An API server, and its own record of what the program asked for. */
export interface RecordingServer extends AsyncDisposable {
  /** The file. */
  readonly kubeconfig: string;
  /** Whether it has the subresource `approval`. */
  readonly hasApproval: boolean;
  /** Makes the object as the kubelet of that node does, whose user and groups are in it. */
  request(csr: CertificateSigningRequest, node: string): Promise<unknown>;
  /** All that the program has sent so far and that is no read: method or verb, and path. Reviews, which store nothing, left out. */
  writes(): Promise<readonly string[]>;
}

interface Action {
  readonly kind: string;
  readonly summary: string;
  readonly changes?: readonly { readonly field: string }[];
}

type Subject = Parameters<typeof explanationOf>[0];

/** What `/debug/plan` says. */
interface DebugPlan {
  readonly planned: readonly {
    readonly controller: string;
    readonly subject: Subject;
    readonly actions: readonly Action[];
  }[];
}

interface Applied extends Action {
  readonly controller: string;
  readonly subject: Subject;
  readonly failed: boolean;
}

/** Waits of seconds are over sooner; nothing else depends on it. */
const FACTOR = 5;
/** So long, real time, for all that is to be planned or done. */
const PATIENCE_MS = 300_000;

/** The API server tells of its own objects: of the Service `kubernetes`, of the ServiceCIDR that it makes. */
const isByTheServer = (entry: unknown): boolean =>
  (entry as { readonly manager?: string }).manager === 'kube-apiserver';

/** Whether the node gets its range before it is deleted is left to chance. */
const RACED = 'node-ipam-controller Node gone-1: allocate';

const FLAGS = [
  '--cloud-provider=memory',
  '--controllers=*,node-ipam-controller,persistent-volume-label-controller,kubelet-serving-approver',
  '--allocate-node-cidrs',
  '--cluster-cidr=10.244.0.0/16',
  '--node-deletion-grace-period=1s',
  '--node-deletion-max-fraction=1',
  // The refresh of the addresses begins at a random moment of its period: it has to fall within both runs.
  '--node-status-update-frequency=5s',
  '--orphan-policy=delete',
  '--orphan-grace-period=0s',
  '--orphan-check-period=5s',
  '--leader-elect=false',
  // It explains itself.
  '--insecure-loopback',
  '--bind-address=127.0.0.1',
];

export function dryRunSuite(name: string, start: (t: TestContext) => Promise<RecordingServer | undefined>): void {
  test(`${name}: a dry run writes nothing, and says what a live run then does`, async (t) => {
    await using server = await start(t);
    if (!server) return;
    await using connection = createTransport(await loadConfig({ kubeconfig: server.kubeconfig }), {
      userAgent: 'test',
    });
    const client = createClient(connection);
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
    await prepare(client, cloud, server);
    const before = contents(cloud);

    const plan = await runUntil(server, cloud, ['--dry-run'], ({ page }) => missing(page?.planned ?? []));
    assert.ok(plan.page);
    assert.deepEqual(plan.applied, []);
    assert.deepEqual(plan.unexplained, [], 'plans that the controller which made them does not explain');
    assert.deepEqual(await server.writes(), [], 'writes to the API server');
    assert.deepEqual(contents(cloud), before, 'what is in the cloud');
    assert.deepEqual(Object.keys(cloud.calls().byOperation).filter(changesTheCloud), [], 'requests to the cloud');
    assert.doesNotMatch(plan.log, /was refused: this is a dry run/u, 'no controller tries to write');
    const events = (await client.of(resources.coreEvents).list({ namespace: 'default' })).items;
    const told = events.filter(({ metadata }) => !metadata.managedFields?.some(isByTheServer));
    assert.deepEqual(told, [], 'Events');
    assert.match(plan.log, /Dry run: action planned and not performed/u);
    const fields = new Map(
      plan.page.planned.flatMap(({ actions, subject }) =>
        actions.map(({ changes = [], kind }) => [
          `${subject.name} ${kind}`,
          changes.map(({ field }) => field.replace(/\[\d+\]$/u, '')),
        ]),
      ),
    );
    for (const [action, changed] of Object.entries(FIELDS)) assert.deepEqual(fields.get(action), changed, action);

    const planned = plan.page.planned
      .flatMap(({ actions, ...about }) => actions.map((one) => sayingOf(about, one)))
      .filter((one) => one !== RACED);
    const live = await runUntil(server, cloud, [], ({ applied }) => {
      // One that failed is tried again: somebody else may have written the node in between.
      const done = new Set(applied.filter(({ failed }) => !failed).map((one) => sayingOf(one, one)));
      return planned.filter((one) => !done.has(one) && (server.hasApproval || !one.startsWith('kubelet-serving')));
    });
    // What was not planned follows from what was: an address is there, so a load balancer can be made.
    const firsts = new Map<string, string>();
    for (const one of live.applied) {
      const key = `${one.controller} ${one.subject.kind} ${one.subject.name}`;
      if (!firsts.has(key)) firsts.set(key, sayingOf(one, one));
    }
    const unplanned = [...firsts.values()].filter(
      (first) => !first.startsWith('node-route') && first !== RACED && !planned.includes(first),
    );
    assert.deepEqual(unplanned, [], 'first steps that the dry run did not name');
    assert.equal(live.page, undefined, 'the page of a dry run');
    assert.notDeepEqual(await server.writes(), []);
  });
}

/** Which of several equal ranges a node gets depends on who comes first: that is not compared. */
function sayingOf(
  { controller, subject }: { controller: string; subject: Subject },
  { kind, summary }: Action,
): string {
  return `${controller} ${subject.kind} ${subject.name}: ${kind === 'allocate' ? kind : summary}`;
}

const EXPECTED = [
  'cloud-node-controller Node new-1 patch-object',
  'cloud-node-controller Node new-2 patch-object',
  'cloud-node-controller Node new-1 patch-status',
  'cloud-node-controller Node routed-1 patch-status',
  'cloud-node-controller Node stopped-1 patch-status',
  'cloud-node-lifecycle-controller Node gone-1 delete',
  'cloud-node-lifecycle-controller Node stopped-1 add-shutdown-taint',
  'node-ipam-controller Node new-1 allocate',
  'node-ipam-controller Node new-2 allocate',
  'node-route-controller Route 10.244.7.0/24 create-route',
  'node-route-controller Route 10.244.9.0/24 delete-route',
  'service-lb-controller Service default/web record',
  'service-lb-controller Service default/web create-address',
  'service-lb-controller Service default/api create-address',
  'orphan-controller LoadBalancerPart left-behind delete-address',
  'persistent-volume-label-controller PersistentVolume data-1 patch-volume',
  'kubelet-serving-approver CertificateSigningRequest csr-1 approve-request',
];

/** What of the object each of these writes changes; of a list, whichever element. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'new-1 allocate': ['spec.podCIDR', 'spec.podCIDRs'],
  'new-1 patch-status': ['status.addresses', 'status.conditions[NetworkUnavailable]'],
  'stopped-1 add-shutdown-taint': ['spec.taints'],
  'default/web record': [
    'metadata.finalizers',
    'metadata.annotations[outrigger.dev/load-balancer-provider]',
    'status.conditions[LoadBalancerReady]',
  ],
};

function missing(planned: DebugPlan['planned']): readonly string[] {
  const there = new Set(
    planned.flatMap(({ actions, controller, subject }) =>
      actions.map(({ kind }) => `${controller} ${subject.kind} ${subject.name} ${kind}`),
    ),
  );
  return EXPECTED.filter((one) => !there.has(one));
}

/** Something for every controller to do. */
async function prepare(client: Client, cloud: MemoryCloud, server: RecordingServer): Promise<void> {
  const nodes = client.of(resources.nodes);
  const { metadata } = await client.of(resources.namespaces).get({ name: 'kube-system' });
  for (const name of ['new-1', 'new-2', 'routed-1']) cloud.createInstance({ name });
  const stopped = cloud.createInstance({ name: 'stopped-1', state: 'shutdown' });
  const [routed] = cloud.instances().filter(({ name }) => name === 'routed-1');
  const gone = stopped.providerID.replace(/[^/]+$/u, 'i-gone');
  const waits: NonNullable<Node['spec']> = {
    taints: [{ key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' }],
  };
  const as = (name: string, spec: NonNullable<Node['spec']>, ready: string): Node => ({
    metadata: { name },
    spec,
    status: { conditions: [{ type: 'Ready', status: ready, lastTransitionTime: new Date().toISOString() }] },
  });
  await nodes.create(as('new-1', waits, 'False'));
  await nodes.create(as('new-2', waits, 'False'));
  await nodes.create(as('gone-1', { providerID: gone }, 'False'));
  await nodes.create(as('stopped-1', { providerID: stopped.providerID }, 'False'));
  const cidr = '10.244.7.0/24';
  const spec = { providerID: routed?.providerID ?? '', podCIDR: cidr, podCIDRs: [cidr] };
  // By the name under which this program's allocator writes: another one's would keep it from allocating.
  await nodes.create(as('routed-1', spec, 'True'), { fieldManager: 'outrigger-node-ipam' });
  const old = cloud.createInstance({ name: 'old' });
  cloud.createRoute({
    destination: '10.244.9.0/24',
    instanceId: old.id,
    nodeName: 'old',
    clusterId: metadata?.uid ?? '',
  });
  cloud.deleteInstance(old.id);
  cloud.createPart({
    kind: 'address',
    tags: { clusterId: metadata?.uid ?? '', uid: 'left-behind' },
    attributes: {},
  });
  cloud.createVolume({ id: 'volume-1' });
  await client.of(resources.persistentVolumes).create({
    metadata: { name: 'data-1' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      flexVolume: { driver: 'outrigger.dev/memory', options: { volumeID: 'volume-1' } },
    },
  });
  const { request } = await servingRequest({ node: 'routed-1', dns: ['routed-1'], ips: [] });
  await server.request(
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr-1' },
      spec: {
        signerName: SERVING_SIGNER,
        request,
        usages: ['digital signature', 'server auth'],
        username: 'system:node:routed-1',
        groups: ['system:nodes'],
      },
    },
    'routed-1',
  );
  for (const name of ['web', 'api']) {
    await client.of(resources.services).create({
      metadata: { name, namespace: 'default' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: name } },
    });
  }
}

function contents(cloud: MemoryCloud): unknown {
  return { instances: cloud.instances(), routes: cloud.routes(), parts: cloud.parts() };
}

function changesTheCloud(operation: string): boolean {
  return !/^GET |:batchGet$/u.test(operation);
}

interface Seen {
  /** `undefined`: it is not served. */
  readonly page: DebugPlan | undefined;
  /** What the controllers did, the newest last. */
  readonly applied: readonly Applied[];
  /** What is planned, and not explained by who plans it. */
  readonly unexplained: readonly string[];
}

interface Outcome extends Seen {
  readonly log: string;
}

/** Runs the program until it serves and nothing is missing in what is seen of it, and then stops it. */
async function runUntil(
  { kubeconfig }: RecordingServer,
  cloud: MemoryCloud,
  args: readonly string[],
  missingIn: (seen: Seen) => readonly string[],
): Promise<Outcome> {
  const signals = new EventEmitter();
  const port = await freePort();
  let log = '';
  const applied: Applied[] = [];
  const ended = main([...FLAGS, `--kubeconfig=${kubeconfig}`, `--secure-port=${port}`, ...args], {
    builtInProviders: { memory: () => Promise.resolve({ default: () => createMemoryProvider({ cloud }) }) },
    controllers: defaultControllers.map((one) => overheard(one, applied)),
    env: {},
    stdout: { write: () => true },
    stderr: { write: (text) => void (log += text) },
    signals,
    exit: (code) => assert.fail(`exit ${code}\n${log}`),
    workingDirectory: import.meta.dirname,
    hostname: 'test',
    clock: quickClock(FACTOR),
  });
  await using asked = createTransport({ server: `https://127.0.0.1:${port}`, tls: { insecureSkipVerify: true } });
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  let seen: Seen | undefined;
  try {
    for (;;) {
      const answer = await debugPlan(asked);
      seen = answer && { page: answer.page, applied, unexplained: [] };
      const left = seen && missingIn(seen);
      if (seen && left?.length === 0) seen = { ...seen, unexplained: await unexplained(asked, seen.page) };
      if (left?.length === 0) break;
      assert.ok(systemClock.monotonic() < deadline, `not seen: ${left?.join('\n') ?? 'the page'}\n${log}`);
      await systemClock.sleep(100);
    }
  } finally {
    signals.emit('SIGTERM', 'SIGTERM');
    assert.equal(await ended, 0, log);
  }
  assert.ok(seen);
  return { ...seen, log };
}

/** `undefined`: the program does not listen yet. */
async function debugPlan(
  transport: ReturnType<typeof createTransport>,
): Promise<{ readonly page: DebugPlan | undefined } | undefined> {
  try {
    const { body, status } = await transport.send({ method: 'GET', path: '/debug/plan' });
    const text = Buffer.concat(await Array.fromAsync(body)).toString();
    if (status === 404) return { page: undefined };
    return status === 200 ? { page: JSON.parse(text) as DebugPlan } : undefined;
  } catch {
    return undefined;
  }
}

async function unexplained(
  transport: ReturnType<typeof createTransport>,
  page: DebugPlan | undefined,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { controller, subject } of page?.planned ?? []) {
    const { kind = '', name = '' } = explanationOf(subject) ?? {};
    const { body } = await transport.send({ method: 'GET', path: explanationPath(kind, name) });
    const text = Buffer.concat(await Array.fromAsync(body)).toString();
    const { findings = [] } = JSON.parse(text) as Partial<Explanation>;
    if (!findings.some((one) => one.controller === controller))
      missing.push(`${controller} ${subject.kind} ${name}: ${text}`);
  }
  return missing;
}

/** The controller, and what it tells its journal of having done. */
function overheard(controller: CloudController, applied: Applied[]): CloudController {
  const listenTo = (journal: LeaderContext['journal'], name: string): ReturnType<typeof journal.of> => {
    const told = journal.of(name);
    const hear = (subject: Subject, actions: readonly Action[], failed: boolean): void => {
      for (const { kind, summary } of actions) applied.push({ controller: name, subject, kind, summary, failed });
    };
    return {
      ...told,
      note: (subject, actions, outcome) => {
        hear(subject, actions, outcome !== undefined && 'error' in outcome);
        told.note(subject, actions, outcome);
      },
      perform: async (subject, actions, carryOut, failureOf) => {
        let done = false;
        try {
          return await told.perform(subject, actions, carryOut, (answer) => {
            done = true;
            const failure = failureOf?.(answer);
            hear(subject, actions, failure !== undefined);
            return failure;
          });
        } catch (error) {
          if (!done) hear(subject, actions, true);
          throw error;
        }
      },
    };
  };
  return {
    ...controller,
    build: ({ journal, ...context }) =>
      controller.build({
        ...context,
        journal: { dryRun: journal.dryRun, of: (name) => listenTo(journal, name) },
      }),
  };
}
