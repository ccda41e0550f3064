/** The REST protocols of AWS: members of a shape in path, query and headers, and the rest in a body of JSON or XML. */
import type { AwsProtocol } from './aws-protocol.ts';
import {
  shapeSchema,
  type BotocoreOperation,
  type BotocoreRef,
  type BotocoreService,
  type BotocoreShape,
} from './botocore.ts';
import type { FakeAnswer, FakeInput, FakeRequest } from './fake-request.ts';
import { jsonAnswer, readJson, valueOf } from './json-wire.ts';
import { isObject } from './member-path.ts';
import { RestXmlWire } from './rest-xml-wire.ts';

/** By the name that an SDK shows. */
type Values = Record<string, unknown>;

/** What a body holds: a shape's members that are nowhere else, or one member that is all of it. */
interface RestBody {
  readonly read: (text: string, ref: BotocoreRef) => unknown;
  /** Of JSON, with the names that are on the wire. */
  readonly write: (value: unknown, ref: BotocoreRef) => Pick<FakeAnswer, 'headers' | 'text'>;
  readonly refuse: AwsProtocol['refuse'];
}

/** Some SDKs repeat the operation's name. */
const REPEATED_NAME = 'x-id';

export function restProtocol(service: BotocoreService): AwsProtocol {
  const { shapes } = service;
  const shapeOf = (ref: BotocoreRef | undefined): BotocoreShape => shapes[ref?.shape ?? ''] ?? { type: 'structure' };
  const body = service.protocol === 'rest-xml' ? xmlBody(service) : jsonBody(shapeOf);
  const isText = (ref: BotocoreRef): boolean => ['string', 'blob'].includes(shapeOf(ref).type);
  return {
    matches: (operation) => {
      const constants = constantsOf(operation.http.requestUri);
      const told = isAlone(operation, service) ? [] : toldApartBy(operation, shapes);
      if (constants.length + told.length === 0) return undefined;
      return ({ headers, query }) =>
        constants.every(([name, value]) => query.has(name) && (value === '' || query.get(name) === value)) &&
        told.every(({ location, wire }) =>
          location === 'header' ? headers[wire.toLowerCase()] !== undefined : query.has(wire),
        );
    },
    read: (operation, request, params) => {
      const { input } = operation;
      const { members = {}, payload } = shapeOf(input);
      const values = placedIn(operation, request, params, shapeOf);
      const whole = payload === undefined ? undefined : members[payload];
      if (request.text === '' || !input) return values;
      if (whole && payload !== undefined)
        return { ...values, [payload]: isText(whole) ? request.text : body.read(request.text, whole) };
      const read = body.read(request.text, input);
      return isObject(read) ? { ...values, ...read } : read;
    },
    write: ({ http, output }, { body: given, headers, status = http.responseCode ?? 200 }) => {
      const { members = {}, payload } = shapeOf(output);
      const values = isObject(given) ? given : {};
      const own = { ...headersOf(values, members), ...headers };
      const whole = payload === undefined ? undefined : members[payload];
      const inBody = Object.entries(values).filter(([name]) => members[name]?.location === undefined);
      const [value, ref] =
        whole && payload !== undefined ? [values[payload], whole] : [Object.fromEntries(inBody), output];
      const all = Object.values(members);
      // Of a shape whose members are all in headers there is no body.
      const isBare = !whole && all.length > 0 && all.every(({ location }) => location !== undefined);
      if (http.method === 'HEAD' || isBare || value === undefined || !ref) return { status, headers: own, text: '' };
      if (whole && isText(whole)) return { status, headers: own, text: textOf(value) };
      const written = body.write(value, ref);
      return { status, headers: { ...written.headers, ...own }, text: written.text };
    },
    refuse: body.refuse,
  };
}

/** Of operations with one path those that ask for more are tried first: `/{Bucket}?tagging` before `/{Bucket}`. */
export function mostWantedFirst({ operations, shapes }: BotocoreService): readonly BotocoreOperation[] {
  const wants = (one: BotocoreOperation): number =>
    constantsOf(one.http.requestUri).length + toldApartBy(one, shapes).length;
  return operations.toSorted((a, b) => wants(b) - wants(a));
}

function isAlone({ http }: BotocoreOperation, { operations }: BotocoreService): boolean {
  const same = operations.filter((one) => one.http.method === http.method && one.http.requestUri === http.requestUri);
  return same.length === 1;
}

/** What a request of it has, and one of another operation at the same place may lack: the source of CopyObject, which PutObject has not. */
function toldApartBy(
  { input }: BotocoreOperation,
  shapes: BotocoreService['shapes'],
): readonly { readonly location: string; readonly wire: string }[] {
  const { members = {}, required = [] } = shapes[input?.shape ?? ''] ?? {};
  return required.flatMap((name) => {
    const { location = '', locationName = name } = members[name] ?? {};
    return location === 'header' || location === 'querystring' ? [{ location, wire: locationName }] : [];
  });
}

function constantsOf(requestUri: string): readonly (readonly [string, string])[] {
  return [...new URLSearchParams(requestUri.split('?')[1] ?? '')].filter(([name]) => name !== REPEATED_NAME);
}

/** The members that are in the path, the query and the headers. */
function placedIn(
  { http, input }: BotocoreOperation,
  { headers, query }: FakeRequest,
  params: FakeInput['params'],
  shapeOf: (ref: BotocoreRef | undefined) => BotocoreShape,
): Values {
  const { members = {} } = shapeOf(input);
  const schemaOf = (ref: BotocoreRef): Readonly<Record<string, unknown>> => {
    const { member, type } = shapeOf(ref);
    return type === 'list' && member
      ? { type: 'array', items: shapeSchema(shapeOf(member)) }
      : shapeSchema(shapeOf(ref));
  };
  const entries = Object.entries(members);
  const values: Values = {};
  const take = (location: string, wire: string, given: readonly string[]): void => {
    const found = entries.find(([name, ref]) => ref.location === location && (ref.locationName ?? name) === wire);
    // What is no parameter stays under its own name, to be found.
    values[found?.[0] ?? wire] = found ? valueOf(given, schemaOf(found[1])) : given.join(',');
  };
  const constants = new Set([REPEATED_NAME, ...constantsOf(http.requestUri).map(([name]) => name)]);
  for (const [wire, value] of Object.entries(params)) take('uri', wire, [value]);
  for (const wire of new Set(query.keys())) if (!constants.has(wire)) take('querystring', wire, query.getAll(wire));
  for (const [name, { location, locationName = name }] of entries) {
    const wire = locationName.toLowerCase();
    const value = location === 'header' ? headers[wire] : undefined;
    if (value !== undefined) take('header', locationName, [value]);
    if (location !== 'headers') continue;
    const all = Object.entries(headers).filter(([header]) => header.startsWith(wire));
    if (all.length > 0) values[name] = Object.fromEntries(all.map(([header, one]) => [header.slice(wire.length), one]));
  }
  return values;
}

function headersOf(values: Values, members: Readonly<Record<string, BotocoreRef>>): Readonly<Record<string, string>> {
  const entries = Object.entries(members).flatMap(([name, { location, locationName = name }]): [string, unknown][] => {
    const value = values[name];
    if (value === undefined) return [];
    if (location === 'headers' && isObject(value))
      return Object.entries(value).map(([key, one]) => [`${locationName}${key}`, one]);
    return location === 'header' ? [[locationName, value]] : [];
  });
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), textOf(value)]));
}

function jsonBody(shapeOf: (ref: BotocoreRef | undefined) => BotocoreShape): RestBody {
  const membersOf = (ref: BotocoreRef): readonly [string, BotocoreRef][] =>
    Object.entries(shapeOf(ref).members ?? {}).filter(([, { location }]) => location === undefined);
  const renamed = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [names.get(name) ?? name, one]));
  };
  return {
    read: (text, ref) =>
      renamed(readJson(text), new Map(membersOf(ref).map(([name, { locationName = name }]) => [locationName, name]))),
    write: (value, ref) => {
      const names = new Map(membersOf(ref).map(([name, { locationName = name }]) => [name, locationName]));
      return jsonAnswer({ body: renamed(value, names) });
    },
    refuse: ({ code, message, status }) =>
      jsonAnswer({ status, headers: { 'x-amzn-errortype': code }, body: { message } }),
  };
}

function xmlBody(service: BotocoreService): RestBody {
  const wire = new RestXmlWire(service);
  const headers = { 'content-type': 'application/xml' };
  return {
    read: (text, ref) => wire.read(text, ref),
    write: (value, ref) => ({ headers, text: wire.write(value, ref) }),
    refuse: (error) => ({ status: error.status, headers, text: wire.error(error) }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
