/** A REST API in JSON by a model of its vendor's: requests and answers are judged by its schemas, and do what the table says. */
import { FakeRefusal } from './fake-error.ts';
import type { FakeBehaviour, FakeContext, FakeModel, FakeOperation } from './fake-model.ts';
import type { FakeResult } from './fake-request.ts';
import type { FakeTable } from './fake-table.ts';
import { jsonAnswer, jsonError } from './json-wire.ts';
import { isObject } from './member-path.ts';
import { closed, resolveRef, type JsonSchema, type SchemaCheck, type SchemaChecks } from './schema-check.ts';
import { operationKind, readRequest, tableKinds, type TableKind } from './table-model.ts';

export interface RestParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** An operation as a model describes it. Schemas may refer to the model's definitions. */
export interface RestOperation {
  readonly name: string;
  readonly method: string;
  /** With braces. */
  readonly path: string;
  readonly parameters: readonly RestParameter[];
  readonly body?: { readonly schema: JsonSchema; readonly required: boolean } | undefined;
  /** By status, `2XX` or `default`; the schema is `undefined` where there is no body. */
  readonly answers: Readonly<Record<string, JsonSchema | undefined>>;
  readonly matches?: FakeOperation['matches'];
}

export interface RestModel {
  readonly operations: readonly RestOperation[];
  /** What `$ref` finds: `{ components: { schemas } }`, `{ definitions }`. */
  readonly definitions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface ModelOptions {
  readonly table: FakeTable;
  /** By the operation's name. */
  readonly behaviours: Readonly<Record<string, FakeBehaviour>>;
  readonly checks: SchemaChecks;
}

/** Throws for a behaviour of what the model does not have: a mistyped name would do nothing. */
export function restModel(model: RestModel, { behaviours, checks, table }: ModelOptions): FakeModel {
  checkNames(behaviours, model.operations);
  for (const use of ['requests', 'answers'] as const) checks.addDocument(use, documentOf(model, use));
  const usual = usualBehaviours(table);
  return {
    operations: model.operations.map((operation) => fakeOperation(operation, { behaviours, checks, model, usual })),
    refuse: (error) => jsonError(error, table.errors),
    answer: jsonAnswer,
  };
}

export function checkNames(
  behaviours: ModelOptions['behaviours'],
  operations: readonly { readonly name: string }[],
): void {
  const names = new Set(operations.map(({ name }) => name));
  for (const name of Object.keys(behaviours)) {
    if (!names.has(name)) throw new Error(`there is a function for ${name}, which the model does not have`);
  }
}

interface Surroundings extends Omit<ModelOptions, 'table'> {
  readonly model: RestModel;
  readonly usual: UsualBehaviours;
}

function fakeOperation(operation: RestOperation, { behaviours, checks, model, usual }: Surroundings): FakeOperation {
  const { answers, body, matches, method, name, parameters, path } = operation;
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const querySchemas = Object.fromEntries(query.map((one) => [one.name, resolved(one.schema, model)]));
  const isQuery = checks.checkAt('query', place('requests', name, 'query'));
  const isPath = checks.checkAt('path', place('requests', name, 'path'));
  const isBody = checks.checkAt('body', place('requests', name, 'body'));
  const isAnswer: Readonly<Record<string, SchemaCheck>> = Object.fromEntries(
    Object.keys(answers).map((status) => [status, checks.checkAt('body', place('answers', name, status))]),
  );
  const readOnly = new Set(body ? readOnlyIn(body.schema, model) : []);
  const headers = parameters.filter((one) => one.in === 'header' && one.required);
  const own = behaviours[name];
  const table = usual.find(method, path);
  return {
    name,
    method,
    path,
    ...(matches && { matches }),
    read: (request, params) => {
      const shape = { query: querySchemas, isQuery, isBody, takesBody: body?.required ?? false };
      const { input, problems } = readRequest(request, params, shape);
      const missing = headers.filter((one) => request.headers[one.name.toLowerCase()] === undefined);
      const surplus = !body && input.body !== undefined ? ['body: there is none in the model'] : [];
      return {
        input: { ...input, body: withoutNames(input.body, readOnly) },
        problems: [
          ...isPath(params),
          ...missing.map((one) => `headers: ${one.name} is missing`),
          ...surplus,
          ...problems,
        ],
      };
    },
    behaviour: async (context) => {
      const usually = (): FakeResult => (table ? asAnswered(table(context), answers) : context.usual());
      if (own) return asAnswered(await own({ ...context, usual: usually }), answers);
      if (table) return usually();
      throw new FakeRefusal('no-route', `nothing is said of what ${name} does: neither by the table nor by a function`);
    },
    judge: ({ body: answered, status = 200 }) => {
      const key = keyOf(answers, status);
      if (key === undefined)
        return status < 300 ? [`status ${status} is none of ${Object.keys(answers).join(', ')}`] : [];
      if (answers[key] === undefined)
        return answered === undefined || status >= 300 ? [] : ['body: there is none in the model'];
      return isAnswer[key]?.(answered) ?? [];
    },
    answer: jsonAnswer,
  };
}

/** What a table does, by method and path, whatever a model calls the braces. */
class UsualBehaviours {
  readonly #kinds: readonly TableKind[];

  constructor(kinds: readonly TableKind[]) {
    this.#kinds = kinds;
  }

  find(method: string, path: string): TableKind['behaviour'] | undefined {
    const kind = this.#kinds.find((one) => one.method === method && shapeOf(one.path) === shapeOf(path));
    if (!kind) return undefined;
    const [theirs, ours] = [bracesIn(path), bracesIn(kind.path)];
    return (context: Omit<FakeContext, 'usual'>) => {
      const params = Object.fromEntries(
        ours.map((name, index) => [name, context.input.params[theirs[index] ?? ''] ?? '']),
      );
      return kind.behaviour({ ...context, input: { ...context.input, params } });
    };
  }
}

function usualBehaviours(table: FakeTable): UsualBehaviours {
  const kinds = Object.entries(table.resources).flatMap(([name, resource]) => tableKinds(name, resource, table));
  return new UsualBehaviours(table.operations ? [...kinds, operationKind(table)] : kinds);
}

/** With a status that the model has for success, and without a body where it has none. */
function asAnswered(result: FakeResult, answers: RestOperation['answers']): FakeResult {
  const { status = 200 } = result;
  if (status >= 300) return result;
  const successes = Object.keys(answers).filter((key) => /^2\d\d$/u.test(key));
  const as = keyOf(answers, status) === undefined ? Number(successes[0] ?? status) : status;
  const key = keyOf(answers, as);
  const { body, ...rest } = result;
  return key !== undefined && answers[key] === undefined ? { ...rest, status: as } : { ...rest, body, status: as };
}

function keyOf(answers: RestOperation['answers'], status: number): string | undefined {
  return [`${status}`, `${Math.floor(status / 100)}XX`, 'default'].find((key) => Object.hasOwn(answers, key));
}

/** The schemas of all places, closed, beside the definitions that they refer to. */
function documentOf({ definitions, operations }: RestModel, use: 'requests' | 'answers'): JsonSchema {
  const root = normalised(definitions, use) as RestModel['definitions'];
  const whole = (schema: JsonSchema): JsonSchema => closed(normalised(schema, use) as JsonSchema, root);
  const places = operations.flatMap(({ answers, body, name, parameters }): [string, unknown][] => {
    if (use === 'answers') {
      return Object.entries(answers).flatMap(([status, schema]) =>
        schema ? [[keyIn(name, status), whole(schema)]] : [],
      );
    }
    const named = (where: RestParameter['in']): JsonSchema => {
      const all = parameters.filter((parameter) => parameter.in === where);
      const required = where === 'query' ? all.filter((one) => one.required).map((one) => one.name) : [];
      const properties = Object.fromEntries(all.map((one) => [one.name, normalised(one.schema, use)]));
      return { type: 'object', properties, required, additionalProperties: where === 'path' };
    };
    return [
      [keyIn(name, 'query'), named('query')],
      [keyIn(name, 'path'), named('path')],
      [keyIn(name, 'body'), body ? whole(body.schema) : {}],
    ];
  });
  const parts = Object.entries(root).map(([room, value]) => [room, partsOf(value, root)]);
  return { ...Object.fromEntries(parts), places: Object.fromEntries(places) };
}

/** Definitions, closed within but not as wholes. `components` has them one floor lower. */
function partsOf(definitions: Readonly<Record<string, unknown>>, root: JsonSchema): Readonly<Record<string, unknown>> {
  const schemas = definitions['schemas'];
  if (root['components'] === definitions && isObject(schemas)) return { schemas: partsOf(schemas, root) };
  return Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, closed(schema as JsonSchema, root, true)]),
  );
}

function keyIn(operation: string, part: string): string {
  return encodeURIComponent(`${operation} ${part}`).replaceAll('%', '_');
}

function place(document: string, operation: string, part: string): string {
  return `${document}#/places/${keyIn(operation, part)}`;
}

/** As JSON schema has it: `nullable`, exclusive bounds that are true, patterns of other engines; what one side does not say is not required. */
function normalised(schema: unknown, use: 'requests' | 'answers'): unknown {
  if (Array.isArray(schema)) return schema.map((one) => normalised(one, use));
  if (!isObject(schema)) return schema;
  // Data, not schemas.
  const { default: _default, enum: values, example: _example, examples: _examples, ...rest } = schema;
  const result: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, name === 'const' ? value : normalised(value, use)]),
  );
  if (Array.isArray(values)) result['enum'] = values;
  else if (values !== undefined) result['enum'] = normalised(values, use);
  const { pattern, properties, required } = result;
  if (typeof pattern === 'string' && !isPattern(pattern)) delete result['pattern'];
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const isExclusive = result[exclusive];
    if (typeof isExclusive !== 'boolean') continue;
    delete result[exclusive];
    if (isExclusive) [result[exclusive], result[bound]] = [result[bound], undefined];
    if (result[bound] === undefined) delete result[bound];
  }
  const unsaid = use === 'requests' ? 'readOnly' : 'writeOnly';
  if (Array.isArray(required) && isObject(properties)) {
    result['required'] = required.filter(
      (name) => (properties[String(name)] as JsonSchema | undefined)?.[unsaid] !== true,
    );
  }
  if (result['nullable'] !== true) return result;
  delete result['nullable'];
  return { anyOf: [{ type: 'null' }, result] };
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, '').source !== '';
  } catch {
    return false;
  }
}

function resolved(schema: JsonSchema, { definitions }: RestModel): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? ((resolveRef($ref, definitions) ?? {}) as JsonSchema) : schema;
}

/** Members that a cloud takes and does not believe. */
function readOnlyIn(schema: JsonSchema, model: RestModel): readonly string[] {
  const { allOf, properties } = resolved(schema, model);
  const parts = Array.isArray(allOf) ? (allOf as readonly JsonSchema[]) : [];
  const own = isObject(properties) ? Object.entries(properties) : [];
  return [
    ...own.filter(([, one]) => (one as JsonSchema)['readOnly'] === true).map(([name]) => name),
    ...parts.flatMap((part) => readOnlyIn(part, model)),
  ];
}

function withoutNames(body: unknown, names: ReadonlySet<string>): unknown {
  if (!isObject(body) || names.size === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name)));
}

function shapeOf(path: string): string {
  return path.replaceAll(/\{[^}]*\}/gu, '{}');
}

function bracesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{\+?(?<name>[^}]+)\}/gu)].map(({ groups }) => groups?.['name'] ?? '');
}
