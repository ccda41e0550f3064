/** An AWS account in memory, judged by AWS' own models: for tests in this process by `fetch`, for other programs on 127.0.0.1. See README.md. */
import { readFileSync } from 'node:fs';
import type { Clock } from '@outrigger/cloud-provider';
import type { Fetch } from '@outrigger/provider-kit';
import {
  fakeCloud,
  FakeServer,
  type BotocoreDocument,
  type FakeAnswer,
  type FakeBehaviour,
  type FakeCall,
  type FakeCloud,
  type FakeFault,
  type IncomingFakeRequest,
} from '@outrigger/provider-kit/fake';
import { AwsAccount, DEFAULT_KNOBS, type FakeAwsKnobs } from './aws-account.ts';
import { denied, throttled, wouldSucceed } from './aws-error.ts';
import { instanceOperations } from './ec2/instances.ts';
import { interfaceOperations } from './ec2/network-interfaces.ts';
import { networkOperations } from './ec2/network.ts';
import { routeTableOperations } from './ec2/route-tables.ts';
import { securityGroupOperations } from './ec2/security-groups.ts';
import { tagOperations } from './ec2/tags.ts';
import { classicListenerOperations } from './elb/classic-listeners.ts';
import { classicOperations } from './elb/classic-operations.ts';
import { elbTagOperations } from './elbv2/elb-tags.ts';
import { listenerOperations } from './elbv2/listeners.ts';
import { balancerOperations } from './elbv2/load-balancers.ts';
import { targetGroupOperations } from './elbv2/target-groups.ts';
import { targetOperations } from './elbv2/targets.ts';
import { InstanceMetadata } from './instance-metadata.ts';
import { answerOf, type ServiceModel } from './model-answer.ts';
import { scopeOf, type ServiceName } from './request-scope.ts';
import { stsOperations } from './sts.ts';
import { ThrottleBuckets } from './throttle-buckets.ts';
import { AwsWorld } from './aws-world.ts';
import type { Zone } from './things.ts';

export interface FakeAwsOptions {
  /** Durations, lag and buckets are by it; a `FakeClock` will do. */
  readonly clock: Clock;
  /** Default: `eu-central-1`. */
  readonly region?: string;
  /** Default: `123456789012`. */
  readonly accountId?: string;
  /** IDs come of it: the same seed and the same requests make the same IDs. Default: `outrigger`. */
  readonly seed?: string;
  /** Default: three availability zones, `<region>a` to `<region>c`. */
  readonly zones?: readonly Zone[];
  readonly knobs?: Partial<FakeAwsKnobs>;
  /**
   * IAM actions that may be done, as `ec2:DescribeInstances`, `elasticloadbalancing:AddTags`; others are refused. `*` at the end stands for
   * any. Default: all may.
   */
  readonly allowed?: readonly string[];
}

/** A call with the service before its operation: `elbv2:CreateLoadBalancer`. */
export type FakeAwsCall = FakeCall;

/** `operation` without its service, which is told where two have one of that name. Without either, each service has the rule by itself. */
export interface FakeAwsFault extends FakeFault {
  readonly service?: ServiceName;
}

type Operation = (input: never, account: AwsAccount) => object;
type Operations = Readonly<Record<string, Operation>>;

interface Service {
  readonly operations: Operations;
  /** Before IAM's actions. */
  readonly iam: string;
  readonly deniedCode: string;
  readonly reasons: Readonly<
    Record<
      'invalid' | 'unauthenticated' | 'forbidden' | 'quota' | 'no-route',
      { readonly status: number; readonly code: string }
    >
  >;
}

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html; of the others each API's "Common Errors". */
const EC2_REASONS = {
  invalid: { status: 400, code: 'InvalidParameterValue' },
  unauthenticated: { status: 401, code: 'AuthFailure' },
  forbidden: { status: 403, code: 'UnauthorizedOperation' },
  changed: { status: 412, code: 'DryRunOperation' },
  quota: { status: 503, code: 'RequestLimitExceeded' },
  'no-route': { status: 400, code: 'InvalidAction' },
};
const QUERY_REASONS = {
  invalid: { status: 400, code: 'ValidationError' },
  unauthenticated: { status: 403, code: 'SignatureDoesNotMatch' },
  forbidden: { status: 403, code: 'AccessDenied' },
  quota: { status: 400, code: 'Throttling' },
  'no-route': { status: 400, code: 'InvalidAction' },
};

const SERVICES: Readonly<Record<ServiceName, Service>> = {
  ec2: {
    operations: {
      ...instanceOperations,
      ...interfaceOperations,
      ...networkOperations,
      ...routeTableOperations,
      ...securityGroupOperations,
      ...tagOperations,
    },
    iam: 'ec2',
    deniedCode: 'UnauthorizedOperation',
    reasons: EC2_REASONS,
  },
  elbv2: {
    operations: {
      ...balancerOperations,
      ...listenerOperations,
      ...targetGroupOperations,
      ...targetOperations,
      ...elbTagOperations,
    },
    iam: 'elasticloadbalancing',
    deniedCode: 'AccessDenied',
    reasons: QUERY_REASONS,
  },
  elb: {
    operations: { ...classicOperations, ...classicListenerOperations },
    iam: 'elasticloadbalancing',
    deniedCode: 'AccessDenied',
    reasons: QUERY_REASONS,
  },
  sts: { operations: stsOperations, iam: 'sts', deniedCode: 'AccessDenied', reasons: QUERY_REASONS },
};

const NAMES = Object.keys(SERVICES) as readonly ServiceName[];
const MOST_CALLS = 50_000;

export function createFakeAws(options: FakeAwsOptions): FakeAws {
  return new FakeAws(options);
}

export class FakeAws extends AwsWorld {
  readonly faults: FakeAwsFaults;
  readonly calls: FakeAwsCalls = new FakeAwsCalls();
  readonly metadata: InstanceMetadata;
  readonly buckets: ThrottleBuckets;
  readonly #clouds: Readonly<Record<ServiceName, FakeCloud>>;
  #allowed: readonly string[] | undefined;

  constructor({
    accountId = '123456789012',
    allowed,
    clock,
    knobs,
    region = 'eu-central-1',
    seed = 'outrigger',
    zones = ['a', 'b', 'c'].map((letter, n) => ({
      name: `${region}${letter}`,
      id: `${shortOf(region)}-az${n + 1}`,
      type: 'availability-zone',
    })),
  }: FakeAwsOptions) {
    super(
      new AwsAccount({
        clock,
        region,
        accountId,
        seed,
        zones,
        knobs: { ...DEFAULT_KNOBS, ...knobs },
      }),
    );
    this.#allowed = allowed;
    this.metadata = new InstanceMetadata(this.account);
    this.buckets = new ThrottleBuckets(clock);
    const clouds = NAMES.map((name) => [name, this.#cloudOf(name)] as const);
    this.#clouds = Object.fromEntries(clouds) as Record<ServiceName, FakeCloud>;
    this.faults = new FakeAwsFaults(this.#clouds);
  }

  /** What is set here holds from the next request on. */
  get knobs(): FakeAwsKnobs {
    return this.account.knobs;
  }

  /** In place of the option of this name. */
  allow(allowed: readonly string[] | undefined): void {
    this.#allowed = allowed;
  }

  /** For `createAwsClient`: requests to any host come here. Rejects where a rule drops the connection. */
  readonly fetch: Fetch = async (url, { body, headers, method, signal }) => {
    signal.throwIfAborted();
    const { host, pathname, searchParams } = new URL(url);
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const answer = await this.handle({
      method,
      path: pathname,
      query: searchParams,
      headers: { host, ...lower },
      text: body ?? '',
    });
    if (!answer)
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
      });
    return { status: answer.status, headers: new Headers(answer.headers), text: () => Promise.resolve(answer.text) };
  };

  /** One request. `undefined`: the connection is to be closed without an answer. */
  async handle(request: IncomingFakeRequest): Promise<FakeAnswer | undefined> {
    if (request.path.startsWith('/latest/')) return this.metadata.answer(request);
    const scope = scopeOf(request, this.account.region);
    if (!scope) return { status: 404, headers: {}, text: 'the fake has no such service, or not in this version' };
    const answer = await this.#clouds[scope.service].handle(request);
    return (
      answer && { ...answer, headers: { date: new Date(this.account.clock.now()).toUTCString(), ...answer.headers } }
    );
  }

  /** On 127.0.0.1, for programs that are told of `endpoint`. Dispose what it gives. */
  async listen(): Promise<FakeServer> {
    return FakeServer.start((request) => this.handle(request));
  }

  /** What did not fit AWS' models, or was not signed, each once; what is asked here is forgotten. An empty list is what a test wants to see. */
  takeProblems(): readonly string[] {
    return NAMES.flatMap((name) => this.#clouds[name].calls.takeProblems().map((problem) => `${name}: ${problem}`));
  }

  #cloudOf(name: ServiceName): FakeCloud {
    const { deniedCode, iam, operations, reasons } = SERVICES[name];
    const document = modelOf(name);
    const model = document as unknown as ServiceModel;
    const known = Object.entries(operations).filter(([operation]) => Object.hasOwn(model.operations, operation));
    const behaviours = known.map(([operation, carryOut]): [string, FakeBehaviour] => [
      operation,
      ({ input, request }) => {
        const { accessKey = '' } = scopeOf(request, this.account.region) ?? {};
        if (this.account.sessions.isExpired(accessKey)) {
          throw denied(
            name === 'ec2' ? 'RequestExpired' : 'ExpiredToken',
            'The security token included in the request is expired',
          );
        }
        const body = (input.body ?? {}) as Readonly<Record<string, unknown>>;
        if (this.knobs.throttles && !this.buckets.take(name, operation, body)) throw throttled();
        for (const action of actionsOf(name, operation, body)) this.#check(`${iam}:${action}`, deniedCode);
        if (name === 'ec2' && body['DryRun'] === true) throw wouldSucceed();
        const answer = answerOf(model, operation, carryOut(body as never, this.account));
        const list = Object.entries(answer).find(([, value]) => Array.isArray(value))?.[0];
        return { body: answer, ...(list !== undefined && { list }) };
      },
    ]);
    return fakeCloud({
      clock: this.account.clock,
      botocore: document,
      table: { resources: {}, errors: { reasons } },
      behaviours: Object.fromEntries(behaviours),
      accounts: (request) => (this.#isSigned(request) ? this.account.accountId : undefined),
      onCall: (call) => this.calls.add({ ...call, operation: `${name}:${call.operation}` }),
    });
  }

  #isSigned(request: IncomingFakeRequest): boolean {
    const scope = scopeOf(request, this.account.region);
    if (!scope || scope.problem !== undefined) return false;
    return scope.accessKey === undefined || this.account.sessions.isSigned(scope.accessKey, request);
  }

  #check(action: string, code: string): void {
    // Whoever has credentials may ask who that is (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
    if (action === 'sts:GetCallerIdentity' || !this.#allowed) return;
    const isAllowed = this.#allowed.some((one) =>
      one.endsWith('*') ? action.startsWith(one.slice(0, -1)) : one === action,
    );
    if (!isAllowed)
      throw denied(
        code,
        `User: arn:aws:iam::${this.account.accountId}:user/fake is not authorized to perform: ${action}`,
      );
  }
}

/** All calls of all services, in the order in which they were answered. */
export class FakeAwsCalls {
  #calls: FakeAwsCall[] = [];

  /** For the fake itself. */
  add(call: FakeAwsCall): void {
    this.#calls.push(call);
    if (this.#calls.length >= 2 * MOST_CALLS) this.#calls = this.#calls.slice(MOST_CALLS);
  }

  /** The last 50,000 at least. `body`: the input by its names in the API reference. */
  all(): readonly FakeAwsCall[] {
    return this.#calls;
  }

  /** `{ 'ec2:DescribeInstances': 2 }` */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { operation } of this.#calls) counts[operation] = (counts[operation] ?? 0) + 1;
    return counts;
  }

  clear(): void {
    this.#calls = [];
  }
}

/** What goes wrong, and when, as a test says it. */
export class FakeAwsFaults {
  readonly #clouds: Readonly<Record<ServiceName, FakeCloud>>;

  constructor(clouds: Readonly<Record<ServiceName, FakeCloud>>) {
    this.#clouds = clouds;
  }

  /** Adds a rule; the function that it gives back takes it away. Throws for an operation that two services have, or none. */
  add({ service, ...fault }: FakeAwsFault): () => void {
    const { operation } = fault;
    const services =
      service === undefined
        ? NAMES.filter((name) => operation === undefined || hasOperation(name, operation))
        : [service];
    if (operation !== undefined && services.length !== 1) {
      throw new Error(
        `${operation} is an operation of ${services.length === 0 ? 'no service' : services.join(' and ')}: name the service`,
      );
    }
    const removals = services.map((name) => this.#clouds[name].faults.add(fault));
    return () => {
      for (const remove of removals) remove();
    };
  }

  /** In place of all that were. */
  set(...faults: readonly FakeAwsFault[]): void {
    for (const name of NAMES) this.#clouds[name].faults.set();
    for (const fault of faults) this.add(fault);
  }
}

function hasOperation(service: ServiceName, operation: string): boolean {
  return Object.hasOwn((modelOf(service) as unknown as ServiceModel).operations, operation);
}

const models = new Map<ServiceName, BotocoreDocument>();

function modelOf(service: ServiceName): BotocoreDocument {
  const known = models.get(service);
  if (known) return known;
  const model = JSON.parse(
    readFileSync(new URL(`../models/${service}.json`, import.meta.url), 'utf8'),
  ) as BotocoreDocument;
  models.set(service, model);
  return model;
}

/**
 * Who makes a thing with tags needs the action that tags it, too.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html,
 * https://docs.aws.amazon.com/elasticloadbalancing/latest/userguide/elb-tagging-resources-during-creation.html
 */
function actionsOf(
  service: ServiceName,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): readonly string[] {
  const has = (member: string): boolean => Array.isArray(input[member]) && input[member].length > 0;
  if (service === 'ec2' && has('TagSpecifications')) return [operation, 'CreateTags'];
  return operation.startsWith('Create') && service !== 'ec2' && has('Tags') ? [operation, 'AddTags'] : [operation];
}

/** `eu-central-1` → `euc1`: as zone IDs begin. */
function shortOf(region: string): string {
  const [area = '', direction = '', number = ''] = region.split('-');
  return `${area}${direction.slice(0, 1)}${number}`;
}
