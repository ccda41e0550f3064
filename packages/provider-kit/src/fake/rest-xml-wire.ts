/** Bodies in XML, as the REST-XML protocol of AWS writes the shapes of a model: S3, Route 53, CloudFront. Attributes are left out. */
import { xmlFormat } from '../http/xml-format.ts';
import type { BotocoreRef, BotocoreService, BotocoreShape } from './botocore.ts';
import { isObject } from './member-path.ts';
import { QueryWire, scalar } from './query-wire.ts';

const format = xmlFormat();

export class RestXmlWire {
  readonly #service: BotocoreService;
  readonly #elements: QueryWire;

  constructor(service: BotocoreService) {
    this.#service = service;
    this.#elements = new QueryWire(service);
  }

  /** What the root element says, of the shape of `ref`; another element than that one is kept under its name, to be found. */
  read(text: string, ref: BotocoreRef): unknown {
    const document = format.read(text) as Readonly<Record<string, unknown>>;
    const root = rootOf(ref);
    return Object.hasOwn(document, root) ? this.#value(document[root], ref) : document;
  }

  write(value: unknown, ref: BotocoreRef): string {
    return this.#elements.document(rootOf(ref), this.#elements.elements(value, ref));
  }

  /** S3 has its errors bare, the others in an envelope. */
  error(error: { readonly code: string; readonly message: string; readonly status: number }): string {
    if (this.#service.endpointPrefix !== 's3') return this.#elements.error(error);
    const { code, message } = error;
    return format.write({ Error: { Code: code, Message: message, RequestId: 'fake-request' } });
  }

  #shape({ shape }: BotocoreRef): BotocoreShape {
    return this.#service.shapes[shape] ?? { type: 'string' };
  }

  #value(node: unknown, ref: BotocoreRef): unknown {
    const { key, member, members = {}, type, value } = this.#shape(ref);
    if (type === 'structure') return node === '' ? {} : this.#structure(node, members);
    if (type === 'list' && member) {
      const items = below(node, member.locationName ?? 'member');
      return items?.map((item) => this.#value(item, member)) ?? node;
    }
    if (type === 'map' && key && value) {
      const entries = below(node, 'entry');
      if (!entries?.every(isObject)) return node;
      const [name, inside] = [key.locationName ?? 'key', value.locationName ?? 'value'];
      return Object.fromEntries(entries.map((entry) => [String(entry[name]), this.#value(entry[inside], value)]));
    }
    return typeof node === 'string' ? scalar(node, type) : node;
  }

  #structure(node: unknown, members: Readonly<Record<string, BotocoreRef>>): unknown {
    if (!isObject(node)) return node;
    const names = new Map(Object.entries(members).map(([name, ref]) => [this.#elementOf(name, ref), name]));
    return Object.fromEntries(
      Object.entries(node).map(([element, inside]) => {
        const name = names.get(element);
        const ref = name === undefined ? undefined : members[name];
        // The name that an SDK shows may be another one on the wire.
        if (name === undefined || !ref)
          return [Object.hasOwn(members, element) ? `${element} (as sent)` : element, inside];
        const { flattened, member, type } = this.#shape(ref);
        if (type !== 'list' || flattened !== true || !member) return [name, this.#value(inside, ref)];
        return [name, listed(inside).map((item) => this.#value(item, member))];
      }),
    );
  }

  #elementOf(name: string, ref: BotocoreRef): string {
    const { flattened, member, type } = this.#shape(ref);
    return (type === 'list' && flattened === true ? member?.locationName : undefined) ?? ref.locationName ?? name;
  }
}

function rootOf({ locationName, shape }: BotocoreRef): string {
  return locationName ?? shape;
}

/** `undefined` for what has other elements than these. */
function below(node: unknown, element: string): readonly unknown[] | undefined {
  if (node === '') return [];
  if (!isObject(node) || Object.keys(node).some((name) => name !== element)) return undefined;
  return listed(node[element]);
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
