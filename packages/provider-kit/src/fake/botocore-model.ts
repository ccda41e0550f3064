/** A service of AWS by its model: each protocol reads requests into the shapes that an SDK shows, and writes answers from them. */
import {
  readBotocore,
  shapeSchema,
  type BotocoreDocument,
  type BotocoreOperation,
  type BotocoreRef,
  type BotocoreService,
} from './botocore.ts';
import { AwsError, type AwsProtocol as Protocol } from './aws-protocol.ts';
import { FakeRefusal } from './fake-error.ts';
import type { FakeModel, FakeOperation, ReadRequest } from './fake-model.ts';
import type { FakeAnswer, FakeResult } from './fake-request.ts';
import { jsonAnswer, readJson } from './json-wire.ts';
import { QueryWire } from './query-wire.ts';
import { restProtocol, mostWantedFirst } from './rest-protocol.ts';
import { checkNames, type ModelOptions } from './rest-model.ts';
import { closed, SchemaChecks, type JsonSchema, type SchemaCheck } from './schema-check.ts';

/** Each operation needs a behaviour: from paths alone nobody can tell what one does. */
export function botocoreModel(document: BotocoreDocument, { behaviours }: Pick<ModelOptions, 'behaviours'>): FakeModel {
  const service = readBotocore(document);
  checkNames(behaviours, service.operations);
  const checks = checksOf(document, service);
  const protocol = protocolOf(service);
  const answer = (operation: BotocoreOperation | undefined, result: FakeResult): FakeAnswer => {
    const { body, headers, status = 200 } = result;
    if (body instanceof AwsError) return protocol.refuse(body);
    return operation ? protocol.write(operation, result) : jsonAnswer({ status, ...(headers && { headers }), body });
  };
  return {
    refuse: (error) => ({ status: error.status, body: new AwsError(error) }),
    answer: (result) => answer(undefined, result),
    operations: mostWantedFirst(service).map((operation): FakeOperation => {
      const { http, input, name, output } = operation;
      const isInput = checks.of('input', input);
      const isOutput = checks.of('output', output);
      const own = behaviours[name];
      const matches = protocol.matches(operation);
      return {
        name,
        method: http.method,
        path: http.requestUri.split('?')[0]?.replaceAll(/\{(?<name>[^}+]+)\+\}/gu, '{+$<name>}') ?? '/',
        ...(matches && { matches }),
        read: (request, params): ReadRequest => {
          try {
            const body = protocol.read(operation, request, params);
            return { input: { params, query: Object.fromEntries(request.query), body }, problems: isInput(body) };
          } catch (error) {
            const why = error instanceof Error ? error.message : String(error);
            return { input: { params, query: {}, body: undefined }, problems: [`body: ${why}`] };
          }
        },
        behaviour: (context) => {
          if (own) return own(context);
          throw new FakeRefusal('no-route', `no function says what ${name} does`);
        },
        judge: ({ body, status = 200 }) => (status >= 300 ? [] : isOutput(body ?? {})),
        answer: (result) => answer(operation, result),
      };
    }),
  };
}

const known = new WeakMap<BotocoreDocument, DocumentChecks>();

/** One of a document, however many fakes have it: what is compiled takes longer than many a test. */
function checksOf(document: BotocoreDocument, service: BotocoreService): DocumentChecks {
  const checks = known.get(document) ?? new DocumentChecks(service);
  known.set(document, checks);
  return checks;
}

class DocumentChecks {
  readonly #checks = new SchemaChecks();
  readonly #compiled = new Map<string, SchemaCheck>();

  constructor(service: BotocoreService) {
    this.#checks.addDocument('shapes', definitionsOf(service));
  }

  of(what: 'input' | 'output', ref: BotocoreRef | undefined): SchemaCheck {
    const key = `${what} ${ref?.shape ?? ''}`;
    const check = this.#compiled.get(key) ?? checkOf(this.#checks, what, ref);
    this.#compiled.set(key, check);
    return check;
  }
}

function checkOf(checks: SchemaChecks, what: string, ref: BotocoreRef | undefined): SchemaCheck {
  if (ref) return checks.checkAt(what, `shapes#/definitions/${ref.shape}`);
  return checks.check(what, { type: 'object', additionalProperties: false });
}

function definitionsOf({ shapes }: BotocoreService): JsonSchema {
  const definitions = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, shapeSchema(shape)]));
  const root = { definitions };
  const all = Object.entries(definitions).map(([name, schema]) => [name, closed(schema, root)]);
  return { definitions: Object.fromEntries(all) };
}

function protocolOf(service: BotocoreService): Protocol {
  switch (service.protocol) {
    case 'query':
    case 'ec2':
      return queryProtocol(service);
    case 'json':
      return jsonProtocol(service);
    default:
      return restProtocol(service);
  }
}

function queryProtocol(service: BotocoreService): Protocol {
  const wire = new QueryWire(service);
  const headers = { 'content-type': 'text/xml' };
  // Each operation is asked about each request, and a form may name a thousand things.
  let last = { text: '', action: '' };
  const actionOf = (text: string): string => {
    if (last.text !== text) last = { text, action: new URLSearchParams(text).get('Action') ?? '' };
    return last.action;
  };
  return {
    matches:
      ({ name }) =>
      ({ text }) =>
        actionOf(text) === name,
    read: ({ input }, { text }) => {
      const form = new URLSearchParams(text);
      if (form.get('Version') !== service.apiVersion) throw new Error(`Version must be ${service.apiVersion}`);
      return wire.read(form, input);
    },
    write: ({ name, output }, { body, headers: own, status = 200 }) => ({
      status,
      headers: { ...headers, ...own },
      text: wire.write(name, output, body ?? {}),
    }),
    refuse: (error) => ({ status: error.status, headers, text: wire.error(error) }),
  };
}

function jsonProtocol({ jsonVersion, targetPrefix }: BotocoreService): Protocol {
  const headers = { 'content-type': `application/x-amz-json-${jsonVersion}` };
  return {
    matches:
      ({ name }) =>
      ({ headers: sent }) =>
        sent['x-amz-target'] === `${targetPrefix}.${name}`,
    read: (_operation, { text }) => readJson(text) ?? {},
    write: (_operation, result) =>
      jsonAnswer({ ...result, body: result.body ?? {}, headers: { ...headers, ...result.headers } }),
    refuse: ({ code, message, status }) => jsonAnswer({ status, headers, body: { __type: code, message } }),
  };
}
