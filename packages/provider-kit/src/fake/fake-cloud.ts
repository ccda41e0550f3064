/** A cloud in memory: requests come in, are judged by its model, carried out on an account's things, and logged. */
import type { Clock } from '@outrigger/cloud-provider';
import { FakeCallLog, type FakeCall } from './call-log.ts';
import { FakeAccount } from './fake-account.ts';
import type { FakeCollection } from './fake-collection.ts';
import { FakeRefusal, type FakeError } from './fake-error.ts';
import type { FakeModel, FakeOperation, ReadRequest } from './fake-model.ts';
import type { FakeAnswer, FakeRequest, FakeResult } from './fake-request.ts';
import { FakeFaults, type FakeFault } from './fault-rules.ts';
import { errorOf } from './json-wire.ts';
import { PathTemplates, type MatchedPath } from './path-template.ts';
import { SchemaChecks, type SchemaCheck } from './schema-check.ts';
import { thingSchema } from './table-model.ts';
import type { FakeResource, FakeTable } from './fake-table.ts';

/** To whom a request belongs. `undefined`: to nobody (401). */
export type FakeAccounts =
  | Readonly<Record<string, string>>
  | ((request: Omit<FakeRequest, 'account' | 'operation'>) => string | undefined);

export interface FakeCloudParts {
  readonly clock: Clock;
  readonly table: FakeTable;
  readonly model: (checks: SchemaChecks) => FakeModel;
  readonly accounts: FakeAccounts | undefined;
  readonly onCall: ((call: FakeCall) => void) | undefined;
}

/** A request as it comes in. Header names in lower case. */
export type IncomingFakeRequest = Omit<FakeRequest, 'account' | 'operation'>;

const ONLY_ACCOUNT = 'default';

export class FakeCloud {
  readonly calls: FakeCallLog;
  readonly faults: FakeFaults = new FakeFaults();
  readonly #clock: Clock;
  readonly #table: FakeTable;
  readonly #model: FakeModel;
  readonly #operations: PathTemplates<FakeOperation>;
  readonly #accountOf: (request: IncomingFakeRequest) => string | undefined;
  readonly #first: string;
  readonly #accounts = new Map<string, FakeAccount>();
  readonly #checks = new Map<string, SchemaCheck>();
  #number = 0;

  constructor({ accounts, clock, model, onCall, table }: FakeCloudParts) {
    this.calls = new FakeCallLog(onCall);
    const checks = new SchemaChecks();
    this.#clock = clock;
    this.#table = table;
    this.#model = model(checks);
    this.#operations = new PathTemplates(this.#model.operations);
    this.#accountOf = accountOf(accounts);
    this.#first = (typeof accounts === 'object' ? Object.values(accounts)[0] : undefined) ?? ONLY_ACCOUNT;
    for (const [name, resource] of Object.entries(table.resources)) {
      const schema = thingSchema(resource, 'answer');
      if (schema) this.#checks.set(name, checks.check(name, schema));
      // What is no schema throws here, and not amid a test.
      this.#checks.get(name)?.({});
      for (const other of namedBy(resource)) {
        if (!Object.hasOwn(table.resources, other)) throw new Error(`${name}: the table has no resource ${other}`);
      }
    }
  }

  /** What the only account, or the first one of `accounts`, has of a resource. Throws for one that the table does not have. */
  resource(name: string): FakeCollection {
    return this.account(this.#first).resource(name);
  }

  account(name: string): FakeAccount {
    const known = this.#accounts.get(name);
    if (known) return known;
    const account = new FakeAccount({
      name,
      resources: this.#table.resources,
      clock: this.#clock,
      number: () => ++this.#number,
      hasOperations: this.#table.operations !== undefined,
      problemsOf: (resource, thing) => this.#checks.get(resource)?.(thing) ?? [],
    });
    this.#accounts.set(name, account);
    return account;
  }

  /** One request. `undefined`: the connection is to be closed without an answer. */
  async handle(incoming: IncomingFakeRequest): Promise<FakeAnswer | undefined> {
    const at = this.#clock.now();
    const matched = this.#match(incoming);
    const { method, path } = incoming;
    const operation = matched?.target.name ?? `${method} ${path}`;
    const request: FakeRequest = { ...incoming, operation, account: this.#accountOf(incoming) };
    const fault = this.faults.next(request);
    const problems: string[] = [];
    let body: unknown = request.text === '' ? undefined : request.text;
    const log = (answer: FakeAnswer | undefined): FakeAnswer | undefined => {
      const query = Object.fromEntries(request.query);
      const { account } = request;
      this.calls.add({ method, path, operation, query, body, status: answer?.status ?? 0, account, problems, at });
      return answer;
    };
    if (fault?.delayMs !== undefined) await this.#clock.sleep(fault.delayMs);
    const isReplaced = fault && (fault.status !== undefined || fault.drops === true);
    if (isReplaced && fault.takesEffect !== true) return log(this.#inPlace(fault, request));
    const own = await this.#serve(request, matched, {
      failsLater: fault?.failsLater,
      emptied: fault?.spoils === 'empty-list',
      onRead: (read) => {
        body = read.input.body ?? body;
        problems.push(...read.problems.map((problem) => `request: ${problem}`));
      },
      problem: (problem) => void problems.push(problem),
    });
    return log(fault ? (isReplaced ? this.#inPlace(fault, request) : spoilt(own, fault)) : own);
  }

  #match(incoming: IncomingFakeRequest): MatchedPath<FakeOperation> | undefined {
    const all = this.#operations.match(incoming.method, incoming.path);
    return all.find(({ target }) => target.matches?.(incoming) ?? true);
  }

  async #serve(
    request: FakeRequest,
    matched: MatchedPath<FakeOperation> | undefined,
    {
      emptied,
      failsLater,
      onRead,
      problem,
    }: {
      readonly failsLater: FakeFault['failsLater'];
      readonly emptied: boolean;
      readonly onRead: (read: ReadRequest) => void;
      readonly problem: (text: string) => void;
    },
  ): Promise<FakeAnswer> {
    try {
      if (request.account === undefined) throw new FakeRefusal('unauthenticated', 'no user has these credentials');
      if (!matched) {
        problem('request: there is no such path');
        throw new FakeRefusal('no-route', `there is no ${request.method} ${request.path}`);
      }
      const { params, target } = matched;
      const account = this.account(request.account);
      account.settle();
      const read = target.read(request, params);
      onRead(read);
      if (read.problems.length > 0) throw new FakeRefusal('invalid', read.problems.join('; '));
      const url = new URL(`${request.path}?${request.query.toString()}`, `http://${request.headers['host'] ?? 'fake'}`);
      const usual = (): FakeResult => {
        throw new Error(`the table says nothing of ${target.name}: give a function for it`);
      };
      const result = await target.behaviour({ input: read.input, request, account, failsLater, url, usual });
      for (const each of target.judge(result)) problem(`answer: ${each}`);
      return target.answer(emptied && result.list !== undefined ? withoutItems(result) : result, request);
    } catch (error) {
      if (error instanceof FakeRefusal) {
        const refused = this.#model.refuse(errorOf(error, this.#table.errors), request);
        for (const each of matched?.target.judge(refused) ?? []) problem(`answer: ${each}`);
        return (matched?.target ?? this.#model).answer(refused, request);
      }
      problem(`answer: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return { status: 500, headers: {}, text: 'the fake itself has failed: see its call log' };
    }
  }

  /** What a rule answers; `undefined`: nothing. */
  #inPlace(fault: FakeFault, request: FakeRequest): FakeAnswer | undefined {
    const { body, code = 'fault', drops, headers = {}, retryAfterSeconds, status = 500 } = fault;
    if (drops === true) return undefined;
    const error: FakeError = { reason: 'fault', status, code, message: `by a rule of the test: ${status}` };
    const own = this.#model.answer(this.#model.refuse(error, request), request);
    const after = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    const text = body === undefined ? own.text : typeof body === 'string' ? body : JSON.stringify(body);
    return { status, headers: { ...(typeof body === 'string' ? {} : own.headers), ...after, ...headers }, text };
  }
}

function namedBy({ parents = {}, references = {} }: FakeResource): readonly string[] {
  const targets = Object.values(references).map((given) => (typeof given === 'string' ? given : given.to));
  return [...Object.values(parents), ...targets];
}

function accountOf(accounts: FakeAccounts | undefined): (request: IncomingFakeRequest) => string | undefined {
  if (typeof accounts === 'function') return accounts;
  if (!accounts) return () => ONLY_ACCOUNT;
  return ({ headers }) => {
    const token = /^Bearer (?<token>.+)$/iu.exec(headers['authorization'] ?? '')?.groups?.['token'];
    return token !== undefined && Object.hasOwn(accounts, token) ? accounts[token] : undefined;
  };
}

function spoilt(answer: FakeAnswer, { headers = {}, spoils }: FakeFault): FakeAnswer {
  const all = { ...answer, headers: { ...answer.headers, ...headers } };
  if (spoils === 'truncated') return { ...all, text: answer.text.slice(0, answer.text.length / 2) };
  return spoils === 'garbage' ? { ...all, text: `<\u0000{]${answer.text.slice(0, 3)}` } : all;
}

/** A list that shows nothing, and no further page. */
function withoutItems({ headers: _headers, ...result }: FakeResult): FakeResult {
  return { ...result, body: { [result.list ?? '']: [] } };
}
