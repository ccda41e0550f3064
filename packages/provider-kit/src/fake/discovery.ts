/** Reads a Google discovery document into operations. */
import { isObject } from './member-path.ts';
import type { RestModel, RestOperation, RestParameter } from './rest-model.ts';
import type { JsonSchema } from './schema-check.ts';

/** The document as JSON gives it. An excerpt is enough: the methods that are used, and the schemas that they refer to. */
export type DiscoveryDocument = Readonly<Record<string, unknown>>;

/** Throws for a document that is none. */
export function readDiscovery(document: DiscoveryDocument): RestModel {
  const { kind, parameters, resources, schemas, servicePath = '' } = document;
  if (kind !== 'discovery#restDescription') throw new Error('the document is no discovery#restDescription');
  const prefix = `/${String(servicePath).replaceAll(/^\/|\/$/gu, '')}`.replace(/\/$/u, '');
  const common = parametersOf(parameters);
  const operations = methodsIn(document).map((method) => operationOf(method, prefix, common));
  if (!isObject(resources) || operations.length === 0) throw new Error('the discovery document has no methods');
  const all = Object.entries(isObject(schemas) ? schemas : {});
  return {
    operations,
    definitions: { definitions: Object.fromEntries(all.map(([name, one]) => [name, schemaOf(one)])) },
  };
}

function methodsIn({ methods, resources }: JsonSchema): readonly JsonSchema[] {
  const own = isObject(methods) ? Object.values(methods) : [];
  const below = isObject(resources) ? Object.values(resources) : [];
  return [...own.filter(isObject), ...below.filter(isObject).flatMap(methodsIn)];
}

function operationOf(method: JsonSchema, prefix: string, common: readonly RestParameter[]): RestOperation {
  const { flatPath, httpMethod, id, parameters, path, request, response } = method;
  const body = isObject(request) ? schemaOf(request) : undefined;
  return {
    name: String(id),
    method: String(httpMethod),
    path: `${prefix}/${typeof flatPath === 'string' ? flatPath : String(path)}`,
    parameters: [...common, ...parametersOf(parameters)],
    body: body && { schema: body, required: true },
    answers: { 200: isObject(response) ? schemaOf(response) : undefined },
  };
}

function parametersOf(parameters: unknown): readonly RestParameter[] {
  return Object.entries(isObject(parameters) ? parameters : {}).flatMap(([name, given]): RestParameter[] => {
    if (!isObject(given)) return [];
    const { location, repeated, required } = given;
    const one = schemaOf(given);
    const schema = repeated === true ? { type: 'array', items: one } : one;
    return [{ name, in: location === 'path' ? 'path' : 'query', required: required === true, schema }];
  });
}

/** Numbers of 64 bits are texts there, bounds too, and `any` is anything. */
function schemaOf(given: unknown): JsonSchema {
  if (!isObject(given)) return {};
  const {
    $ref,
    additionalProperties,
    enum: values,
    format,
    items,
    maximum,
    minimum,
    pattern,
    properties,
    readOnly,
    type,
  } = given;
  if (typeof $ref === 'string') return { $ref: `#/definitions/${$ref}` };
  const isText = type === 'string' && (format === 'int64' || format === 'uint64');
  const all = Object.entries(isObject(properties) ? properties : {});
  const required = all.filter(([, one]) => isObject(one) && one['required'] === true).map(([name]) => name);
  return {
    ...(type !== undefined && type !== 'any' && { type }),
    ...(isText && { pattern: format === 'int64' ? String.raw`^-?\d+$` : String.raw`^\d+$` }),
    ...(typeof pattern === 'string' && { pattern: `^(?:${pattern})$` }),
    ...(Array.isArray(values) && { enum: values }),
    ...(readOnly === true && { readOnly }),
    ...(items !== undefined && { items: schemaOf(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: schemaOf(additionalProperties) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(all.map(([name, one]) => [name, schemaOf(one)])),
    }),
    ...(required.length > 0 && { required }),
    ...(!isText && minimum !== undefined && { minimum: Number(minimum) }),
    ...(!isText && maximum !== undefined && { maximum: Number(maximum) }),
  };
}
