/** An OpenAPI document of several files as one: what `$ref` names in another file is taken along. Pure. */
import { posix } from 'node:path';
import { resolveRef } from './schema-check.ts';

/** The document as JSON or YAML gives it. An excerpt is enough: the operations that are used, and what they refer to. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** `files`: by their paths from where the document is, `schemas/server.yaml`. Throws for a `$ref` that leads nowhere. */
export function bundleOpenApi(
  document: OpenApiDocument,
  files: Readonly<Record<string, OpenApiDocument>>,
): OpenApiDocument {
  const isSwagger = document['swagger'] !== undefined;
  const home = isSwagger ? '#/definitions/' : '#/components/schemas/';
  const taken = new Map<string, unknown>();
  const names = new Map<string, string>();
  const rewritten = (value: unknown, file: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => rewritten(one, file));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        key === '$ref' && typeof one === 'string' ? refOf(one, file) : rewritten(one, file),
      ]),
    );
  };
  const refOf = (ref: string, from: string): string => {
    const [path = '', pointer = ''] = ref.split('#');
    const file = path === '' ? from : posix.join(posix.dirname(from), path);
    if (file === '') return ref;
    const known = names.get(`${file}#${pointer}`);
    if (known !== undefined) return `${home}${known}`;
    const target = files[file] && resolveRef(`#${pointer}`, files[file]);
    if (target === undefined)
      throw new Error(
        `${from === '' ? 'the document' : from} names ${ref}, which ${files[file] ? `${file} does not have` : `is in no file of openapiFiles: ${Object.keys(files).join(', ')}`}`,
      );
    const name = `${file}${pointer}`.replaceAll(/\W+/gu, '_') + (names.size === 0 ? '' : `_${names.size}`);
    // Known before it is looked into: files may name each other in a circle.
    names.set(`${file}#${pointer}`, name);
    taken.set(name, rewritten(target, file));
    return `${home}${name}`;
  };
  const whole = rewritten(document, '') as OpenApiDocument;
  const hoisted = Object.fromEntries(taken);
  if (isSwagger) return { ...whole, definitions: { ...(whole['definitions'] as object), ...hoisted } };
  const components = (whole['components'] ?? {}) as { readonly schemas?: object };
  return { ...whole, components: { ...components, schemas: { ...components.schemas, ...hoisted } } };
}
