/** A table's resources as operations of a REST API in JSON. */
import type { FakeAccount } from './fake-account.ts';
import type { FakeWriteOptions, FakeWritten } from './fake-collection.ts';
import type { FakeScope } from './fake-row.ts';
import { FakeRefusal } from './fake-error.ts';
import type { FakeContext, FakeModel, FakeOperation, ReadRequest, TableBehaviour } from './fake-model.ts';
import type { FakeRequest, FakeResult } from './fake-request.ts';
import { jsonAnswer, jsonError, readJson, valueOf } from './json-wire.ts';
import { isObject, merged, nested, textOf } from './member-path.ts';
import { pageOf } from './paging.ts';
import type { JsonSchema, SchemaCheck, SchemaChecks } from './schema-check.ts';
import type { FakeLongOperation, FakeResource, FakeTable, FakeThing } from './fake-table.ts';

const ACCEPTS_ALL: SchemaCheck = () => [];

export function tableModel(table: FakeTable, checks: SchemaChecks): FakeModel {
  const { errors, operations: begun } = table;
  const resources = Object.entries(table.resources).flatMap(([name, resource]) =>
    tableKinds(name, resource, table).map((kind) => tableOperation(kind, checks)),
  );
  return {
    operations: begun ? [...resources, tableOperation(operationKind(table), checks)] : resources,
    refuse: (error) => jsonError(error, errors),
    answer: jsonAnswer,
  };
}

/** What a thing must be, as a request of this kind or as an answer says it. `undefined`: the table says nothing of it. */
export function thingSchema(
  resource: FakeResource,
  use: 'create' | 'change' | 'merge' | 'answer',
): JsonSchema | undefined {
  const { create, id, idMember = 'id', properties, required = [], states, versions } = resource;
  if (!properties) return undefined;
  const isRequest = use !== 'answer';
  const writable = Object.entries(properties).filter(([, schema]) => !isRequest || schema['readOnly'] !== true);
  const names = new Set(writable.map(([name]) => name));
  const own: Record<string, JsonSchema> = {};
  if (!isRequest || id === 'given' || create === 'PUT') own[idMember] = {};
  if (!isRequest && states) own[states.member] = {};
  if (versions && typeof versions.by === 'object' && use !== 'create') own[versions.by.member] = { type: 'string' };
  return {
    type: 'object',
    properties: { ...own, ...Object.fromEntries(writable) },
    required: use === 'merge' ? [] : required.filter((name) => names.has(name)),
  };
}

type Context = Omit<FakeContext, 'usual'>;

/** What a table makes of one method on one path. */
export interface TableKind {
  readonly method: string;
  /** The thing's ID is `{id}` in it. */
  readonly path: string;
  readonly behaviour: TableBehaviour;
  readonly request?: JsonSchema | undefined;
  readonly answer?: JsonSchema | undefined;
  /** Of the query, by name. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
}

/** What there is to ask of a resource. */
export function tableKinds(name: string, resource: FakeResource, table: FakeTable): readonly TableKind[] {
  const { actions = {}, change = 'PUT', create = 'POST', filters = {}, item, merges = change === 'PATCH' } = resource;
  const { methods = ['list', 'read', 'create', 'change', 'delete'], path = `/${name}`, versions } = resource;
  const { items = 'items', paging } = table;
  const itemsMember = resource.items ?? items;
  const answer = thingSchema(resource, 'answer');
  const inner = resource.wrapsRequests === false ? undefined : item;
  const wrapped = (schema: JsonSchema | undefined): JsonSchema | undefined =>
    schema && item !== undefined ? { type: 'object', properties: { [item]: schema }, required: [item] } : schema;
  const inRequest = (use: 'create' | 'change' | 'merge'): JsonSchema | undefined => {
    const schema = thingSchema(resource, use);
    return inner === undefined ? schema : wrapped(schema);
  };
  const of = (account: FakeAccount) => account.resource(name);
  const body = ({ input }: Context): Readonly<Record<string, unknown>> =>
    ((inner === undefined ? input.body : (input.body as Record<string, unknown>)[inner]) ?? {}) as Readonly<
      Record<string, unknown>
    >;
  const scopeOf = ({ input }: Context): FakeScope => {
    const { id: _id, ...scope } = input.params;
    return scope;
  };
  const idOf = ({ input }: Context): string => input.params['id'] ?? '';
  const writing = (context: Context): FakeWriteOptions => ({
    scope: scopeOf(context),
    failsLater: context.failsLater,
    version: versions?.by === 'etag' ? unquoted(context.request.headers['if-match']) : undefined,
    merges,
  });
  const tagged = (context: Context, thing: FakeThing): Readonly<Record<string, string>> => {
    const id = textOf(thing[resource.idMember ?? 'id']);
    const version = versions?.by === 'etag' ? of(context.account).version(id, scopeOf(context)) : undefined;
    return version === undefined ? {} : { etag: `"${version}"` };
  };
  const shown = (context: Context, status: number, { operation, thing }: FakeWritten): FakeResult => {
    const whole = item === undefined ? thing : { [item]: thing };
    if (!operation) return { status, body: status === 204 ? undefined : whole, headers: tagged(context, thing) };
    return begunResult(table, operation, whole);
  };
  const parameters: Record<string, JsonSchema> = Object.fromEntries(Object.keys(filters).map((each) => [each, {}]));
  if (paging) parameters[paging.parameter] = {};
  if (paging?.limit !== undefined) parameters[paging.limit] = { type: 'integer', minimum: 1 };

  const kinds: TableKind[] = [];
  if (methods.includes('list')) {
    kinds.push({
      method: 'GET',
      path,
      query: parameters,
      answer: answer && {
        type: 'object',
        properties: { [itemsMember]: { type: 'array', items: answer } },
        additionalProperties: true,
      },
      behaviour: (context) => {
        const things = of(context.account)
          .list(scopeOf(context))
          .filter((thing) => isWanted(thing, filters, context.input.query));
        const page = pageOf(things, paging, {
          query: context.input.query,
          url: context.url,
          idOf: (thing) => textOf(thing[resource.idMember ?? 'id']),
        });
        return { body: merged({ [itemsMember]: page.items }, page.members), headers: page.headers, list: itemsMember };
      },
    });
  }
  if (methods.includes('read')) {
    kinds.push({
      method: 'GET',
      path: `${path}/{id}`,
      answer: wrapped(answer),
      behaviour: (context) => {
        const thing = of(context.account).read(idOf(context), scopeOf(context));
        return { body: item === undefined ? thing : { [item]: thing }, headers: tagged(context, thing) };
      },
    });
  }
  if (methods.includes('create') && create === 'POST') {
    kinds.push({
      method: 'POST',
      path,
      request: inRequest('create'),
      answer: wrapped(answer),
      behaviour: (context) => shown(context, 201, of(context.account).create(body(context), writing(context))),
    });
  }
  if (methods.includes('change') || create === 'PUT') {
    const method = create === 'PUT' ? 'PUT' : change;
    kinds.push({
      method,
      path: `${path}/{id}`,
      request: inRequest(merges ? 'merge' : 'change'),
      answer: wrapped(answer),
      behaviour: (context) => {
        const collection = of(context.account);
        const id = idOf(context);
        if (create === 'PUT' && !collection.get(id, scopeOf(context))) {
          const named = { ...body(context), [resource.idMember ?? 'id']: id };
          return shown(context, 201, collection.create(named, writing(context)));
        }
        return shown(context, 200, collection.change(id, body(context), writing(context)));
      },
    });
  }
  if (methods.includes('delete')) {
    kinds.push({
      method: 'DELETE',
      path: `${path}/{id}`,
      behaviour: (context) => shown(context, 204, of(context.account).remove(idOf(context), writing(context))),
    });
  }
  for (const [action, { properties, required = [] }] of Object.entries(actions)) {
    kinds.push({
      method: 'POST',
      path: `${path}/{id}/${action}`,
      request: properties && { type: 'object', properties, required },
      answer: wrapped(answer),
      behaviour: (context) => {
        const written = of(context.account).act(
          idOf(context),
          action,
          (context.input.body ?? {}) as FakeThing,
          writing(context),
        );
        return shown(context, 200, written);
      },
    });
  }
  return kinds;
}

function tableOperation(
  { answer, behaviour, method, path, query = {}, request }: TableKind,
  checks: SchemaChecks,
): FakeOperation {
  const isRequest = request ? checks.check('body', request) : ACCEPTS_ALL;
  const isAnswer = answer ? checks.check('body', answer) : ACCEPTS_ALL;
  const isQuery = checks.check('query', { type: 'object', properties: query, additionalProperties: false });
  return {
    name: `${method} ${path}`,
    method,
    path,
    behaviour,
    read: (sent, params) =>
      readRequest(sent, params, { query, isQuery, isBody: isRequest, takesBody: request !== undefined }),
    // An operation in place of the thing is the table's own shape.
    judge: ({ body, status = 200 }) => (status >= 300 || status === 202 || body === undefined ? [] : isAnswer(body)),
    answer: jsonAnswer,
  };
}

interface RequestShape {
  readonly query: Readonly<Record<string, JsonSchema>>;
  readonly isQuery: SchemaCheck;
  readonly isBody: SchemaCheck;
  /** A request without a body is a problem. */
  readonly takesBody: boolean;
}

/** A request in JSON, by the schemas of its query and its body. */
export function readRequest(
  { query: sent, text }: FakeRequest,
  params: Readonly<Record<string, string>>,
  { isBody, isQuery, query: schemas, takesBody }: RequestShape,
): ReadRequest {
  const names = [...new Set(sent.keys())];
  const query = Object.fromEntries(names.map((name) => [name, valueOf(sent.getAll(name), schemas[name])]));
  let body: unknown;
  try {
    body = readJson(text);
  } catch {
    return { input: { params, query, body: undefined }, problems: ['body: is no JSON'] };
  }
  const missing = takesBody && body === undefined ? ['body: is missing'] : [];
  const wrong = body === undefined ? [] : isBody(body);
  return { input: { params, query, body }, problems: [...isQuery(query), ...missing, ...wrong] };
}

/** The answer to what takes time. */
function begunResult(table: FakeTable, operation: FakeLongOperation, thing: unknown): FakeResult {
  const { member, path = '/operations', shown = (one: FakeLongOperation) => one } = table.operations ?? {};
  const body =
    member === undefined ? shown(operation) : { ...(isObject(thing) && thing), ...nested(member, shown(operation)) };
  return { status: 202, body, headers: { location: `${path}/${encodeURIComponent(operation.id)}` } };
}

/** The question what has become of an operation. */
export function operationKind({ operations }: FakeTable): TableKind {
  const { path = '/operations', shown = (one: FakeLongOperation) => one } = operations ?? {};
  return {
    method: 'GET',
    path: `${path}/{id}`,
    behaviour: ({ account, input }) => {
      const id = input.params['id'] ?? '';
      const found = account.operation(id);
      if (!found) throw new FakeRefusal('not-found', `there is no operation ${id}`);
      return { body: shown(found) };
    },
  };
}

function isWanted(
  thing: FakeThing,
  filters: NonNullable<FakeResource['filters']>,
  query: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filters).every(([parameter, filter]) => {
    const given = query[parameter];
    if (given === undefined) return true;
    // Of several values one is enough.
    const values = (Array.isArray(given) ? given : [given]).map(textOf);
    return values.some((value) =>
      typeof filter === 'string' ? textOf(thing[filter]) === value : filter(thing, value),
    );
  });
}

function unquoted(etag: string | undefined): string | undefined {
  return etag?.replace(/^(?:W\/)?"(?<tag>.*)"$/u, '$<tag>');
}
