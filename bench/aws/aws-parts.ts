/** The parts of the measurement, each of one program: nodes are initialised; Services come, follow a node and go; nodes under faults. */
import { resources, type Service } from '@outrigger/kube';
import type { FakeAwsFault } from '../../providers/aws/fake/fake-aws.ts';
import type { SeededInstance } from '../../providers/aws/lab/seed-account.ts';
import { listNodes, setNotReady } from '../cluster-nodes.ts';
import { inParallel, SERVICE_NAMESPACE } from '../fleet.ts';
import { readProcessUsage } from '../process-usage.ts';
import { runSubject, Unfinished } from '../run-subject.ts';
import { secondsUntil, sleep } from '../scenario.ts';
import type { Subject } from '../subjects.ts';
import { hasty } from './aws-subjects.ts';
import { launch, type Account, type AwsRig, type Counts } from './aws-rig.ts';

export interface Row {
  readonly subject: string;
  readonly what: string;
  readonly value: number;
  readonly unit?: string;
  /** Calls by action, where they are what was counted; of throttled answers, all that were refused for whatever reason. */
  readonly counts?: Counts;
}

export type Record = (row: Omit<Row, 'subject'>) => void;

/** Asked late, in the background: no node waits for it. */
const LATE = 'ec2:DescribeInstanceTopology';
const INITIALISE_LIMIT_SECONDS = 240;
const SERVICES_LIMIT_SECONDS = 1_200;
const SERVICE_NODES = 10;
const PORTS = [80, 443];
const QUIET_MS = 20_000;
const FAULT_MS = 40_000;
/** Of each fault. */
const AFFECTED = 8;

export const UNFINISHED = 'did not come to its end';

/** Throws every other error. */
function recordUnfinished(record: Record, what: string, error: unknown): void {
  if (!(error instanceof Unfinished)) throw error;
  console.log(`  ${error.message}`);
  record({ what: `${what}: ${UNFINISHED}`, value: 1 });
}

function recordCalls(record: Record, what: string, { takeCalls }: Account): void {
  const { counts, refused, throttled, total } = takeCalls();
  record({ what: `${what}: calls`, value: total, counts });
  record({ what: `${what}: throttled answers`, value: throttled, counts: refused });
}

export async function initialise(rig: AwsRig, subject: Subject, nodes: number, record: Record): Promise<void> {
  await using account = await rig.account(nodes);
  try {
    await runSubject(subject, await account.surroundings(), INITIALISE_LIMIT_SECONDS, async ({ pid, signal }) => {
      const seconds = await secondsUntil(async () => (await rig.initialised()) === nodes, signal, 200);
      record({ what: `${nodes} nodes: all initialised after`, value: seconds, unit: 's' });
      const { counts, refused, throttled, total } = account.takeCalls();
      record({ what: `${nodes} nodes: calls until then`, value: total - (counts[LATE] ?? 0), counts });
      record({ what: `${nodes} nodes: throttled answers`, value: throttled, counts: refused });
      await sleep(QUIET_MS);
      recordCalls(record, `${nodes} nodes: in the ${QUIET_MS / 1_000} s after`, account);
      const { cpuSeconds, peakRssMiB } = readProcessUsage(pid);
      record({ what: `${nodes} nodes: CPU`, value: cpuSeconds, unit: 's' });
      record({ what: `${nodes} nodes: peak RSS`, value: peakRssMiB, unit: ' MiB' });
    });
  } catch (error) {
    recordUnfinished(record, `${nodes} nodes`, error);
    record({ what: `${nodes} nodes: initialised in time`, value: await rig.initialised() });
    recordCalls(record, `${nodes} nodes: until then`, account);
  }
}

/** Each a Network Load Balancer of two ports. */
export async function services(rig: AwsRig, subject: Subject, count: number, record: Record): Promise<void> {
  await using account = await rig.account(SERVICE_NODES);
  const { aws } = account.cloud;
  const api = rig.client.of(resources.services);
  const listed = async (): Promise<readonly Service[]> =>
    (await api.list({ namespace: SERVICE_NAMESPACE })).items.filter(({ spec }) => spec?.type === 'LoadBalancer');
  const names = Array.from({ length: count }, (_, index) => `service-${index}`);
  const haveTargets = (nodes: number): boolean => {
    const groups = aws.account.targetGroups.all();
    return (
      groups.length === count * PORTS.length &&
      groups.every(
        ({ id }) => aws.account.targets.of(id).filter(({ drainsUntil }) => drainsUntil === undefined).length === nodes,
      )
    );
  };
  const stage = async (what: string, done: () => Promise<boolean>, signal: AbortSignal): Promise<void> => {
    const seconds = await secondsUntil(done, signal, 500);
    record({ what: `${what}: after`, value: seconds, unit: 's' });
    recordCalls(record, what, account);
  };
  const made = `${count} Services of ${PORTS.length} ports are made`;
  try {
    await runSubject(subject, await account.surroundings(), SERVICES_LIMIT_SECONDS, async ({ signal }) => {
      await secondsUntil(async () => (await rig.initialised()) === SERVICE_NODES, signal, 200);
      account.takeCalls();
      await inParallel(names, async (name) => void (await api.create(serviceOf(name))));
      const isServed = async (): Promise<boolean> =>
        haveTargets(SERVICE_NODES) &&
        (await listed()).filter(({ status }) => status?.loadBalancer?.ingress?.length).length === count;
      await stage(made, isServed, signal);
      const groupId = account.cloud.account.securityGroupId;
      record({
        what: 'rules in the group of the nodes',
        value: aws.account.rules.all().filter((rule) => rule.groupId === groupId && !rule.isEgress).length,
      });

      await rig.register(await account.cloud.addInstances(1));
      await stage('a node joins', async () => haveTargets(SERVICE_NODES + 1), signal);

      await inParallel(names, (name) => api.delete({ namespace: SERVICE_NAMESPACE, name }));
      await stage('all are deleted', async () => (await listed()).length === 0, signal);
    });
  } catch (error) {
    recordUnfinished(record, made, error);
    record({
      what: `${made}: served in time`,
      value: (await listed()).filter(({ status }) => status?.loadBalancer?.ingress?.length).length,
    });
    recordCalls(record, `${made}: until then`, account);
    return;
  }
  const { balancers, groups, listeners, rules, targetGroups } = aws.account;
  const own = groups.all().filter(({ tags }) => 'outrigger.dev/owner' in tags);
  const left = [balancers, listeners, targetGroups].reduce((sum, store) => sum + store.all().length, own.length);
  record({ what: 'load balancers, listeners, target groups and security groups leaked', value: left });
  const described = rules.all().filter(({ description }) => description?.startsWith('kubernetes.io/rule/'));
  record({ what: 'rules leaked', value: described.length });
}

function serviceOf(name: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: SERVICE_NAMESPACE,
      annotations: { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' },
    },
    spec: {
      type: 'LoadBalancer',
      selector: { app: name },
      ports: PORTS.map((port) => ({ name: `p${port}`, port, protocol: 'TCP' as const })),
    },
  };
}

interface Fault {
  readonly name: string;
  readonly rule?: FakeAwsFault;
  readonly begin?: (account: Account, some: readonly SeededInstance[]) => void;
  /** Whether the machines are gone, so that their nodes ought to go. Default: they live. */
  readonly areGone?: true;
}

const FAULTS: readonly Fault[] = [
  { name: 'lists are empty', rule: { operation: 'DescribeInstances', spoils: 'empty-list' } },
  {
    name: 'requests are throttled',
    rule: { operation: 'DescribeInstances', status: 503, code: 'RequestLimitExceeded' },
  },
  {
    name: 'the account may not read',
    rule: { operation: 'DescribeInstances', status: 403, code: 'UnauthorizedOperation' },
  },
  {
    name: 'machines are stopped',
    begin: ({ cloud }, some) => {
      for (const { id } of some) cloud.aws.changeInstance(id, { state: 'stopped' });
    },
  },
  {
    name: 'machines are terminated',
    areGone: true,
    begin: ({ cloud }, some) => {
      for (const { id } of some) cloud.aws.changeInstance(id, { state: 'terminated' });
    },
  },
];

/** Each fault meets machines of its own, whose kubelets are silent, and a program that was started anew: nothing is in its memory. */
export async function faults(rig: AwsRig, calm: Subject, record: Record): Promise<void> {
  const subject = hasty(calm);
  await using account = await rig.account(FAULTS.length * AFFECTED);
  const { instances } = account.cloud.account;
  const run = async (what: string, body: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    try {
      await runSubject(subject, await account.surroundings(), INITIALISE_LIMIT_SECONDS, ({ signal }) => body(signal));
    } catch (error) {
      recordUnfinished(record, what, error);
    }
  };
  const deleted = async (some: readonly SeededInstance[]): Promise<number> => {
    const there = new Set((await listNodes(rig.client)).map(({ metadata }) => metadata?.name));
    return some.filter(({ name }) => !there.has(name)).length;
  };
  await run('initialised for faults', async (signal) => {
    await secondsUntil(async () => (await rig.initialised()) === instances.length, signal, 200);
  });
  for (const [at, { areGone, begin, name, rule }] of FAULTS.entries()) {
    const some = instances.slice(at * AFFECTED, (at + 1) * AFFECTED);
    const end = rule && account.cloud.aws.faults.add(rule);
    begin?.(account, some);
    await setNotReady(
      rig.client,
      some.map((one) => one.name),
    );
    await run(name, async (signal) => {
      await sleep(FAULT_MS);
      // Who has ended by then deletes nothing.
      signal.throwIfAborted();
    });
    record({ what: `${name}: of ${AFFECTED} ${areGone ? 'gone' : 'live'} nodes deleted`, value: await deleted(some) });
    end?.();
  }
  await newborn(rig, account, run, async (some) =>
    record({
      what: `EC2 does not show young machines yet: of ${AFFECTED} live nodes deleted`,
      value: await deleted(some),
    }),
  );
}

/** Machines that were launched, and whose kubelets were there before EC2 shows them. */
async function newborn(
  rig: AwsRig,
  { cloud }: Account,
  run: (what: string, body: (signal: AbortSignal) => Promise<void>) => Promise<void>,
  tell: (some: readonly SeededInstance[]) => Promise<void>,
): Promise<void> {
  cloud.aws.knobs.ec2LagMs = 2 * FAULT_MS;
  const young = launch(cloud, AFFECTED);
  await rig.register(young, false);
  await run('young machines', async (signal) => {
    await sleep(FAULT_MS);
    signal.throwIfAborted();
  });
  await tell(young);
}
