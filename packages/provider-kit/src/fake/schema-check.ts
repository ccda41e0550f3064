/** JSON schemas as they judge what passes: what is not known is a problem, and each problem is one line that says where. */
import { isIPv4, isIPv6 } from 'node:net';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** JSON schema 2020-12. Formats other than `ipv4` and `ipv6` are not looked at. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The problems of a value; empty: it fits. */
export type SchemaCheck = (value: unknown) => readonly string[];

const MOST_PROBLEMS = 10;

type Compiled = ReturnType<Ajv2020['compile']>;

function newAjv(): Ajv2020 {
  return new Ajv2020({
    strict: false,
    logger: false,
    allErrors: true,
    formats: { ipv4: isIPv4, ipv6: isIPv6 },
    verbose: true,
    code: { regExp: Object.assign(patternOf, { code: 'patternOf' }) },
  });
}

/** Compiled schemas by their text: most tests start a fake of the same table, and to compile it takes longer than many of them. */
const compiledByText = new Map<string, Compiled>();
const sharedAjv = newAjv();

export class SchemaChecks {
  readonly #ajv = newAjv();

  /** `what` stands before the place in a problem: `body`. Compiled when it is first asked. */
  check(what: string, schema: JsonSchema): SchemaCheck {
    return this.#checkBy(what, () => this.#compile(closed(schema, schema)));
  }

  /** Makes schemas known that refer to each other within one document. As they are: `closed` closes them. */
  addDocument(name: string, document: JsonSchema): void {
    this.#ajv.addSchema(document, name);
  }

  /** As `check`, for a schema within a document: `requests#/places/createServer`. */
  checkAt(what: string, place: string): SchemaCheck {
    return this.#checkBy(what, () => this.#ajv.compile({ $ref: place }));
  }

  #compile(schema: JsonSchema): Compiled {
    const text = JSON.stringify(schema);
    // What names itself or others is of this object alone: another one may use the name for something else.
    if (/"\$(?:id|ref|anchor|dynamicRef|dynamicAnchor)":/u.test(text)) return this.#ajv.compile(schema);
    const compiled = compiledByText.get(text) ?? sharedAjv.compile(schema);
    compiledByText.set(text, compiled);
    return compiled;
  }

  #checkBy(what: string, compile: () => Compiled): SchemaCheck {
    let compiled: Compiled | undefined;
    return (value) => {
      compiled ??= compile();
      if (compiled(value)) return [];
      const lines = (compiled.errors ?? []).map((error) => problemOf(what, error));
      return [...new Set(lines)].slice(0, MOST_PROBLEMS);
    };
  }
}

/** Of vendors' patterns some need the flag, `\p{L}`, and some are none with it, `[\w-.]`. */
function patternOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern, '');
  }
}

/**
 * The schema with its objects closed where it says nothing of further members: the one who mistypes a name is told. `root`: where
 * `$ref` begins. `isPart`: others are made of it, and close the whole themselves.
 */
export function closed(schema: JsonSchema, root: JsonSchema, isPart = false): JsonSchema {
  return closeAt(schema, root, !isPart) as JsonSchema;
}

const SUBSCHEMAS = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const BRANCHES = ['allOf', 'anyOf', 'oneOf'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];

/** `isPlace`: a value is described by this schema as a whole, and not by this as a part of another. */
function closeAt(schema: unknown, root: JsonSchema, isPlace: boolean): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const one = schema as Record<string, unknown>;
  const result: Record<string, unknown> = { ...one };
  for (const name of SUBSCHEMAS) if (one[name] !== undefined) result[name] = closeAt(one[name], root, true);
  for (const name of BRANCHES) {
    const branches = one[name];
    if (Array.isArray(branches)) result[name] = branches.map((branch) => closeAt(branch, root, false));
  }
  for (const name of MAPS) {
    const map = one[name];
    if (typeof map !== 'object' || map === null) continue;
    // What is defined apart is a part or a whole by who refers to it.
    const isWhole = name !== '$defs' && name !== 'definitions';
    result[name] = Object.fromEntries(Object.entries(map).map(([key, value]) => [key, closeAt(value, root, isWhole)]));
  }
  if (isPlace && namesMembers(one, root, new Set())) result['unevaluatedProperties'] ??= false;
  return result;
}

/** Whether a schema lists members of objects, itself or in a part, and leaves further ones open by saying nothing of them. */
function namesMembers(schema: unknown, root: JsonSchema, seen: Set<unknown>): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  const one = schema as Record<string, unknown>;
  if (one['additionalProperties'] !== undefined || one['unevaluatedProperties'] !== undefined) return false;
  if (one['properties'] !== undefined) return true;
  const parts = BRANCHES.flatMap((name) => (Array.isArray(one[name]) ? (one[name] as readonly unknown[]) : []));
  const target = typeof one['$ref'] === 'string' ? [resolveRef(one['$ref'], root)] : [];
  return [...parts, ...target].some((part) => namesMembers(part, root, seen));
}

/** `#/$defs/Server`. */
export function resolveRef(ref: string, root: JsonSchema): unknown {
  const segments = ref.replace(/^#\/?/u, '').split('/').filter(Boolean);
  return segments.reduce<unknown>((at, segment) => {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    return (at as Record<string, unknown> | undefined)?.[key];
  }, root);
}

function problemOf(what: string, { data, instancePath, keyword, message = '', params, schema }: ErrorObject): string {
  const place = [what, ...instancePath.split('/').slice(1)].join('.').replaceAll(/\.(\d+)(?=\.|$)/gu, '[$1]');
  const given = `not ${JSON.stringify(data)?.slice(0, 80)}`;
  const { additionalProperty, missingProperty, unevaluatedProperty } = params as Record<string, string | undefined>;
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `${place}: ${additionalProperty ?? unevaluatedProperty} is not known`;
    case 'required':
      return `${place}: ${missingProperty} is missing`;
    case 'enum':
      return `${place}: must be one of ${(schema as readonly unknown[]).map(String).join(', ')}, ${given}`;
    case 'const':
      return `${place}: must be ${String(schema)}, ${given}`;
    default:
      return `${place}: ${message}, ${given}`;
  }
}
