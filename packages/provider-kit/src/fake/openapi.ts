/** Reads OpenAPI 3, and Swagger 2 as Azure has it, into operations. */
import { bundleOpenApi, type OpenApiDocument } from './openapi-files.ts';
import type { JsonSchema } from './schema-check.ts';
import { resolveRef } from './schema-check.ts';
import { isObject } from './member-path.ts';
import type { RestModel, RestOperation, RestParameter } from './rest-model.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head'];

/** Throws for a document without `openapi` 3 or `swagger` 2, and for a `$ref` into a file that is not among `files`. */
export function readOpenApi(main: OpenApiDocument, files: Readonly<Record<string, OpenApiDocument>> = {}): RestModel {
  const document = bundleOpenApi(main, files);
  const { basePath, components, definitions, openapi, paths, servers, swagger } = document;
  if (!String(openapi).startsWith('3.') && swagger !== '2.0') {
    throw new Error('the document is neither OpenAPI 3 nor Swagger 2.0');
  }
  const [server] = Array.isArray(servers) ? (servers as readonly { readonly url?: string }[]) : [];
  const root = swagger === '2.0' ? basePath : URL.parse(server?.url ?? '', 'http://fake')?.pathname;
  const prefix = typeof root === 'string' ? root.replace(/\/$/u, '') : '';
  const operations = Object.entries(objectIn(paths)).flatMap(([path, item]) => {
    const common = resolve(item, document);
    return METHODS.filter((method) => common[method] !== undefined).map((method) =>
      operationOf(document, `${prefix}${path}`, method, common),
    );
  });
  return {
    operations,
    definitions: {
      ...(isObject(components) && { components }),
      ...(isObject(definitions) && { definitions }),
    },
  };
}

function operationOf(document: OpenApiDocument, path: string, method: string, item: JsonSchema): RestOperation {
  const operation = objectIn(item[method]);
  const { operationId, requestBody, responses } = operation;
  const given = [...listIn(item['parameters']), ...listIn(operation['parameters'])].map((one) =>
    resolve(one, document),
  );
  // Of a parameter that both name, the operation's counts.
  const parameters = [...new Map(given.map((one) => [`${String(one['in'])} ${String(one['name'])}`, one])).values()];
  const named = method.toUpperCase();
  return {
    name: typeof operationId === 'string' ? operationId : `${named} ${path}`,
    method: named,
    path,
    parameters: parameters.flatMap(parameterOf),
    body: bodyOf(requestBody === undefined ? undefined : resolve(requestBody, document), parameters),
    answers: Object.fromEntries(
      Object.entries(objectIn(responses)).map(([status, answer]) => {
        const response = resolve(answer, document);
        const schema = jsonSchemaIn(response) ?? response['schema'];
        return [status.toUpperCase().replace('DEFAULT', 'default'), isObject(schema) ? schema : undefined];
      }),
    ),
  };
}

function bodyOf(body: JsonSchema | undefined, parameters: readonly JsonSchema[]): RestOperation['body'] {
  const inBody = parameters.find((one) => one['in'] === 'body');
  const schema = inBody ? inBody['schema'] : body && (jsonSchemaIn(body) ?? {});
  return isObject(schema) ? { schema, required: (inBody ?? body)?.['required'] === true } : undefined;
}

function parameterOf(parameter: JsonSchema): readonly RestParameter[] {
  const { in: where, name, required, schema } = parameter;
  if (typeof name !== 'string' || (where !== 'path' && where !== 'query' && where !== 'header')) return [];
  return [
    { name, in: where, required: required === true, schema: isObject(schema) ? schema : swaggerSchema(parameter) },
  ];
}

/** In Swagger 2 a parameter is its own schema. */
function swaggerSchema({
  enum: values,
  items,
  maximum,
  maxLength,
  minimum,
  minLength,
  pattern,
  type,
}: JsonSchema): JsonSchema {
  const all = { enum: values, items, maximum, maxLength, minimum, minLength, pattern, type };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function jsonSchemaIn({ content }: JsonSchema): JsonSchema | undefined {
  const type = Object.entries(objectIn(content)).find(([name]) => /\bjson\b/u.test(name));
  const schema = type && objectIn(type[1])['schema'];
  return isObject(schema) ? schema : undefined;
}

function resolve(value: unknown, document: OpenApiDocument): JsonSchema {
  const one = objectIn(value);
  return typeof one['$ref'] === 'string' ? resolve(resolveRef(one['$ref'], document), document) : one;
}

function objectIn(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
