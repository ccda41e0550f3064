/** Answers of the protocols `ec2` and `query`: of the XML, what the model has. */
import { quote } from '@outrigger/cloud-provider';
import type { ServiceApi } from './service-api.ts';
import { XmlCursor } from './xml-cursor.ts';

interface Member {
  readonly name: string;
  /** `[`: a list; `=`: a structure. */
  readonly kind: '' | '#' | '?' | '@' | '=' | '[';
  /** Of the structure, or of the list's items; empty for texts, and for a structure that has the member's own name. */
  readonly structure: string;
}

type Members = ReadonlyMap<string, Member>;

/** Reads the answers of one service. */
export class AnswerDecoder {
  readonly #api: ServiceApi;
  /** By structure; made when one is first seen. */
  readonly #members = new Map<string, Members>();

  constructor(api: ServiceApi) {
    this.#api = api;
  }

  /** Throws a `SyntaxError` for what is none, or is cut off. */
  decode(operation: string, text: string): object {
    const cursor = new XmlCursor(text);
    const root = cursor.root();
    if (this.#api.protocol === 'ec2') return this.#structure(cursor, root, operation);
    // <DescribeTagsResponse><DescribeTagsResult>…</DescribeTagsResult><ResponseMetadata>…</ResponseMetadata></DescribeTagsResponse>
    let answer = {};
    for (let child = cursor.child(root); child !== undefined; child = cursor.child(root)) {
      if (child === `${operation}Result`) answer = this.#structure(cursor, child, operation);
      else cursor.skip(child);
    }
    return answer;
  }

  #structure(cursor: XmlCursor, element: string, structure: string): object {
    const members = this.#membersOf(structure);
    const read: Record<string, unknown> = {};
    for (let child = cursor.child(element); child !== undefined; child = cursor.child(element)) {
      const member = members.get(child);
      if (!member) cursor.skip(child);
      else if (member.kind === '=') read[member.name] = this.#structure(cursor, child, member.structure || member.name);
      else if (member.kind === '[') read[member.name] = this.#list(cursor, child, member.structure);
      else read[member.name] = valueOf(child, member.kind, cursor.text(child));
    }
    return read;
  }

  #list(cursor: XmlCursor, element: string, structure: string): readonly unknown[] {
    const items: unknown[] = [];
    for (let item = cursor.child(element); item !== undefined; item = cursor.child(element))
      items.push(structure === '' ? cursor.text(item) : this.#structure(cursor, item, structure));
    return items;
  }

  #membersOf(structure: string): Members {
    let members = this.#members.get(structure);
    if (!members) {
      members = parseMembers(this.#api, structure);
      this.#members.set(structure, members);
    }
    return members;
  }
}

function parseMembers({ answers, protocol }: ServiceApi, structure: string): Members {
  const members = (answers[structure] ?? '').matchAll(/(\w+)(?::(\w+))?([#?@=[]?)(\w*)/gu);
  return new Map(
    [...members].map(([, wire = '', own, kind, inner = '']) => {
      const derived = protocol === 'ec2' ? wire.charAt(0).toUpperCase() + wire.slice(1) : wire;
      return [wire, { name: own ?? derived, kind: kind as Member['kind'], structure: inner }];
    }),
  );
}

function valueOf(element: string, kind: Member['kind'], text: string): unknown {
  if (kind === '') return text;
  if (kind === '?' && (text === 'true' || text === 'false')) return text === 'true';
  const value = kind === '#' && text !== '' ? Number(text) : Date.parse(text);
  if (kind === '?' || Number.isNaN(value)) throw new SyntaxError(`${element} is ${quote(text)}`);
  return kind === '#' ? value : new Date(value);
}
