/** Reads a service model of botocore: shapes as JSON schemas, operations as they are written there. */
import { isObject } from './member-path.ts';
import type { JsonSchema } from './schema-check.ts';

/** `service-2.json` as JSON gives it. An excerpt is enough: the operations that are used, and the shapes that they refer to. */
export type BotocoreDocument = Readonly<Record<string, unknown>>;

/** How a member, or an item of a list, is written. */
export interface BotocoreRef {
  readonly shape: string;
  readonly locationName?: string;
  readonly queryName?: string;
  /** `uri`, `querystring`, `header`, `headers`, `statusCode`. */
  readonly location?: string;
  readonly flattened?: boolean;
}

export interface BotocoreShape {
  readonly type: string;
  readonly members?: Readonly<Record<string, BotocoreRef>>;
  readonly member?: BotocoreRef;
  readonly key?: BotocoreRef;
  readonly value?: BotocoreRef;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly flattened?: boolean;
  /** The member that is the whole body. */
  readonly payload?: string;
}

export interface BotocoreOperation {
  readonly name: string;
  readonly http: { readonly method: string; readonly requestUri: string; readonly responseCode?: number };
  readonly input?: BotocoreRef;
  readonly output?: BotocoreRef & { readonly resultWrapper?: string };
}

export interface BotocoreService {
  readonly protocol: 'query' | 'ec2' | 'json' | 'rest-json' | 'rest-xml';
  /** `s3`, `route53`. */
  readonly endpointPrefix: string;
  readonly apiVersion: string;
  readonly targetPrefix: string;
  readonly jsonVersion: string;
  readonly xmlNamespace: string;
  readonly operations: readonly BotocoreOperation[];
  readonly shapes: Readonly<Record<string, BotocoreShape>>;
}

const PROTOCOLS: readonly string[] = [
  'query',
  'ec2',
  'json',
  'rest-json',
  'rest-xml',
] satisfies readonly BotocoreService['protocol'][];

/** Throws for a document that is none, and for a protocol that is not spoken here. */
export function readBotocore({ metadata, operations, shapes }: BotocoreDocument): BotocoreService {
  if (!isObject(metadata) || !isObject(operations) || !isObject(shapes)) {
    throw new Error('the document is no service model of botocore: metadata, operations or shapes are missing');
  }
  const {
    apiVersion,
    endpointPrefix = '',
    jsonVersion = '1.1',
    protocol,
    targetPrefix = '',
    xmlNamespace = '',
  } = metadata;
  if (!PROTOCOLS.includes(String(protocol)))
    throw new Error(`the protocol ${String(protocol)} is not spoken by the fake`);
  return {
    protocol: protocol as BotocoreService['protocol'],
    endpointPrefix: String(endpointPrefix),
    apiVersion: String(apiVersion),
    targetPrefix: String(targetPrefix),
    jsonVersion: String(jsonVersion),
    xmlNamespace: typeof xmlNamespace === 'string' ? xmlNamespace : '',
    operations: Object.values(operations) as readonly BotocoreOperation[],
    shapes: shapes as BotocoreService['shapes'],
  };
}

/** Members have the names that an SDK shows: `InstanceIds`, not `InstanceId.1`. */
export function shapeSchema(shape: BotocoreShape): JsonSchema {
  const { enum: values, key, max, member, members = {}, min, pattern, required = [], type, value } = shape;
  const ref = (one: BotocoreRef | undefined): JsonSchema => (one ? { $ref: `#/definitions/${one.shape}` } : {});
  const bounds = (least: string, most: string): JsonSchema => ({
    ...(min !== undefined && { [least]: min }),
    ...(max !== undefined && { [most]: max }),
  });
  switch (type) {
    case 'structure': {
      const properties = Object.fromEntries(Object.entries(members).map(([name, one]) => [name, ref(one)]));
      return { type: 'object', properties, required };
    }
    case 'list':
      return { type: 'array', items: ref(member), ...bounds('minItems', 'maxItems') };
    case 'map':
      return { type: 'object', propertyNames: ref(key), additionalProperties: ref(value) };
    case 'string':
      return {
        type: 'string',
        ...(values && { enum: values }),
        ...(pattern !== undefined && isPattern(pattern) && { pattern: `^(?:${pattern})$` }),
        ...bounds('minLength', 'maxLength'),
      };
    case 'integer':
    case 'long':
      return { type: 'integer', ...bounds('minimum', 'maximum') };
    case 'float':
    case 'double':
      return { type: 'number', ...bounds('minimum', 'maximum') };
    case 'boolean':
      return { type: 'boolean' };
    case 'timestamp':
      return { type: ['string', 'number'] };
    default:
      return { type: 'string' };
  }
}

/** Some are written for another engine. */
function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, '').source !== '';
  } catch {
    return false;
  }
}
