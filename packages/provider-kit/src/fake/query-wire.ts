/** Forms and XML, as the query and EC2 protocols of AWS write the shapes of a model. */
import { XMLBuilder } from 'fast-xml-parser';
import type { BotocoreRef, BotocoreService, BotocoreShape } from './botocore.ts';
import { isObject } from './member-path.ts';

/** What a form says below one name. */
interface FormNode {
  text: string | undefined;
  readonly below: Map<string, FormNode>;
}

const builder = new XMLBuilder({ ignoreAttributes: false, suppressEmptyNode: true });

export class QueryWire {
  readonly #service: BotocoreService;

  constructor(service: BotocoreService) {
    this.#service = service;
  }

  /** The input of an operation out of a form. What the shape does not have is kept under its name, to be found. */
  read(form: URLSearchParams, input: BotocoreRef | undefined): unknown {
    const root: FormNode = { text: undefined, below: new Map() };
    for (const [name, value] of form) {
      if (name === 'Action' || name === 'Version') continue;
      let at = root;
      for (const segment of name.split('.')) {
        const next = at.below.get(segment) ?? { text: undefined, below: new Map<string, FormNode>() };
        at.below.set(segment, next);
        at = next;
      }
      at.text = value;
    }
    return input ? this.#value(root, input) : this.#unknown(root);
  }

  /** The answer of an operation. */
  write(name: string, output: (BotocoreRef & { readonly resultWrapper?: string }) | undefined, body: unknown): string {
    const { protocol } = this.#service;
    const members = output ? this.elements(body, output) : {};
    const id = 'fake-request';
    const inner =
      protocol === 'ec2'
        ? { requestId: id, ...(isObject(members) && members) }
        : {
            ...(output?.resultWrapper !== undefined && { [output.resultWrapper]: members }),
            ResponseMetadata: { RequestId: id },
          };
    return this.document(`${name}Response`, inner);
  }

  /** These elements below one of this name, which has the namespace of the service. */
  document(name: string, inside: unknown): string {
    const { xmlNamespace } = this.#service;
    const attributes = xmlNamespace === '' ? {} : { '@_xmlns': xmlNamespace };
    return builder.build({ [name]: isObject(inside) ? { ...attributes, ...inside } : inside });
  }

  error({
    code,
    message,
    status,
  }: {
    readonly code: string;
    readonly message: string;
    readonly status: number;
  }): string {
    const error = { Code: code, Message: message };
    return builder.build(
      this.#service.protocol === 'ec2'
        ? { Response: { Errors: { Error: error }, RequestID: 'fake-request' } }
        : {
            ErrorResponse: {
              Error: { Type: status < 500 ? 'Sender' : 'Receiver', ...error },
              RequestId: 'fake-request',
            },
          },
    );
  }

  #shape({ shape }: BotocoreRef): BotocoreShape {
    return this.#service.shapes[shape] ?? { type: 'string' };
  }

  #value(node: FormNode, ref: BotocoreRef): unknown {
    const shape = this.#shape(ref);
    const { key, member, members = {}, type, value } = shape;
    if (type === 'structure') {
      const names = new Map(Object.entries(members).map(([name, one]) => [this.#nameOf(name, one), name]));
      return Object.fromEntries(
        [...node.below].map(([wire, below]) => {
          const name = names.get(wire);
          const one = name === undefined ? undefined : members[name];
          if (name !== undefined && one) return [name, this.#value(below, one)];
          // The name that an SDK shows may be another one on the wire.
          return [Object.hasOwn(members, wire) ? `${wire} (as sent)` : wire, this.#unknown(below)];
        }),
      );
    }
    if (type === 'list' && member) {
      const inner = this.#isFlat(shape) ? node : (node.below.get(member.locationName ?? 'member') ?? node);
      return numbered(inner).map((item) => this.#value(item, member));
    }
    if (type === 'map' && key && value) {
      const entries = numbered(this.#isFlat(shape) ? node : (node.below.get('entry') ?? node));
      const part = (entry: FormNode, one: BotocoreRef, name: string): FormNode =>
        entry.below.get(one.locationName ?? name) ?? { text: '', below: new Map() };
      return Object.fromEntries(
        entries.map((entry) => [part(entry, key, 'key').text ?? '', this.#value(part(entry, value, 'value'), value)]),
      );
    }
    // A value with something below it, or none: as it came, for the schema to refuse.
    return node.below.size > 0 ? this.#unknown(node) : scalar(node.text ?? '', type);
  }

  #unknown(node: FormNode): unknown {
    if (node.below.size === 0) return node.text ?? '';
    return Object.fromEntries([...node.below].map(([name, below]) => [name, this.#unknown(below)]));
  }

  /** A member's name in a form. */
  #nameOf(name: string, ref: BotocoreRef): string {
    const { locationName, queryName } = ref;
    if (this.#service.protocol === 'ec2') {
      return (
        queryName ??
        (locationName === undefined ? name : `${locationName.slice(0, 1).toUpperCase()}${locationName.slice(1)}`)
      );
    }
    const shape = this.#shape(ref);
    const flatItem = shape.type === 'list' && shape.flattened === true ? shape.member?.locationName : undefined;
    return flatItem ?? locationName ?? name;
  }

  #isFlat({ flattened }: BotocoreShape): boolean {
    return this.#service.protocol === 'ec2' || flattened === true;
  }

  /** A value as elements, as the shape of `ref` names them. */
  elements(value: unknown, ref: BotocoreRef): unknown {
    const { key, member, members = {}, type, value: inMap } = this.#shape(ref);
    if (type === 'structure' && isObject(value)) {
      return Object.fromEntries(
        Object.entries(members).flatMap(([name, one]): [string, unknown][] => {
          const given = value[name];
          if (given === undefined || given === null) return [];
          const shape = this.#shape(one);
          const isFlat = shape.flattened === true && shape.type === 'list';
          const element = (isFlat ? shape.member?.locationName : undefined) ?? one.locationName ?? name;
          return [[element, isFlat ? this.#items(given, shape.member) : this.elements(given, one)]];
        }),
      );
    }
    if (type === 'list') return { [member?.locationName ?? 'member']: this.#items(value, member) };
    if (type === 'map' && isObject(value) && key && inMap) {
      const entry = Object.entries(value).map(([name, one]) => ({
        [key.locationName ?? 'key']: name,
        [inMap.locationName ?? 'value']: this.elements(one, inMap),
      }));
      return { entry };
    }
    if (type === 'timestamp' && typeof value === 'number') return new Date(value * 1_000).toISOString();
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  #items(value: unknown, member: BotocoreRef | undefined): readonly unknown[] {
    return Array.isArray(value) && member ? value.map((item) => this.elements(item, member)) : [];
  }
}

/** `1`, `2` … in their order. */
function numbered({ below }: FormNode): readonly FormNode[] {
  return [...below].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, node]) => node);
}

/** A text as its type has it; what is none stays text, for the schema to refuse. */
export function scalar(text: string, type: string): unknown {
  if (['integer', 'long', 'float', 'double'].includes(type) && /^-?\d+(?:\.\d+)?$/u.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
