/** The vim25 API on the wire: envelopes, references, and what faults mean. */
import {
  isHttpError,
  xmlFormat,
  type ApiError,
  type BodyFormat,
  type ErrorRule,
  type HttpError,
} from '@outrigger/provider-kit';
import type { ManagedObject } from '../inventory/vcenter.ts';

/** An element: its children in the order of the schema, attributes as `@type`, text as `#text`. */
export interface XmlElement {
  readonly [name: string]: XmlValue;
}
type XmlValue = string | number | boolean | undefined | XmlElement | readonly XmlValue[];

/** One of vCenter's SOAP APIs. */
export interface SoapApi {
  readonly path: `/${string}`;
  readonly namespace: string;
  /** With its version. Every vCenter from 6.7 on takes that of 6.7, as later ones keep the earlier versions. */
  readonly action: string;
}

export const VIM: SoapApi = { path: '/sdk', namespace: 'urn:vim25', action: 'urn:vim25/6.7' };
/** Where vCenter's services are. */
export const LOOKUP: SoapApi = { path: '/lookupservice/sdk', namespace: 'urn:lookup', action: 'urn:lookup/2.0' };

const SOAP_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
const xml = xmlFormat({ attributes: true });

/** What is written already, as what is signed, goes as it is. */
export const soapFormat: BodyFormat = {
  mediaType: 'text/xml',
  writes: 'text/xml; charset=utf-8',
  write: (body) => (typeof body === 'string' ? body : xml.write(body)),
  read: (text) => xml.read(text),
};

/** As `soapFormat`, and the text itself as `text`: of what is signed, each byte counts. */
export const signedFormat: BodyFormat = {
  ...soapFormat,
  read: (text) => ({ ...(xml.read(text) as object), text }),
};

export function envelope(method: string, target: ManagedObject, args: XmlElement, namespace: string): XmlElement {
  return {
    'soapenv:Envelope': {
      '@xmlns:soapenv': SOAP_NAMESPACE,
      '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'soapenv:Body': { [method]: { '@xmlns': namespace, _this: referenceTo(target), ...args } },
    },
  };
}

export function referenceTo({ reference, type }: ManagedObject): XmlElement {
  return { '@type': type, '#text': reference };
}

/** The children of this name, however many. */
export function childrenOf(element: unknown, name: string): readonly unknown[] {
  const found = childOf(element, name);
  // In JSON an empty list may be `null`.
  if (found === undefined || found === null || found === '') return [];
  return Array.isArray(found) ? (found as readonly unknown[]) : [found];
}

export function childOf(element: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (one, name) =>
      typeof one === 'object' && one !== null ? (one as Readonly<Record<string, unknown>>)[name] : undefined,
    element,
  );
}

/** The text of an element, with or without attributes. `undefined`: there is none, or an empty one. */
export function textOf(element: unknown): string | undefined {
  const text = typeof element === 'object' && element !== null ? childOf(element, '#text') : element;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** `<obj type="VirtualMachine">vm-42</obj>`. */
export function managedObjectIn(element: unknown): ManagedObject | undefined {
  const [type, reference] = [textOf(childOf(element, '@type')), textOf(element)];
  return type === undefined || reference === undefined ? undefined : { type, reference };
}

/** For `errorOf`: the name of the fault in the detail (`InvalidLogin`), else the fault code; of what it names, `obj` and `name`. */
export function soapFault(body: unknown): ApiError | undefined {
  const fault = childOf(body, 'Envelope', 'Body', 'Fault');
  if (fault === undefined) return undefined;
  const [element, detail] = Object.entries(childOf(fault, 'detail') ?? {}).find(([name]) => !name.startsWith('@')) ?? [
    '',
    undefined,
  ];
  const code = localName(textOf(childOf(detail, '@type')) ?? element.replace(/Fault$/u, ''));
  const [obj, name] = [textOf(childOf(detail, 'obj')), textOf(childOf(detail, 'name'))];
  return {
    code: code === '' || code === 'Fault' ? localName(textOf(childOf(fault, 'faultcode')) ?? '') : code,
    message: textOf(childOf(fault, 'faultstring')) ?? '',
    detail: { ...(obj !== undefined && { obj }), ...(name !== undefined && { name }) },
  };
}

/** A fault within an answer, as of a property that is withheld: `NoPermission`. */
export function faultName(localizedFault: unknown): string {
  return localName(textOf(childOf(localizedFault, 'fault', '@type')) ?? 'unknown');
}

export function isFault(error: unknown, ...names: readonly string[]): error is HttpError {
  return isHttpError(error, 500) && names.includes(error.apiCode);
}

const MEANINGS: Readonly<Record<string, readonly string[]>> = {
  unauthenticated: [
    'InvalidLogin',
    'NotAuthenticated',
    'PasswordExpired',
    'NoClientCertificate',
    // Of the token service.
    'FailedAuthentication',
    'InvalidSecurity',
    'InvalidCredentials',
  ],
  forbidden: ['NoPermission', 'RestrictedVersion', 'RestrictedByAdministrator', 'SecurityError', 'NotEnoughLicenses'],
  'not-found': ['ManagedObjectNotFound'],
  invalid: ['InvalidArgument', 'InvalidProperty', 'InvalidRequest', 'InvalidType', 'InvalidName'],
  unsupported: ['MethodNotFound', 'NotImplemented', 'NotSupported', 'MethodDisabled'],
  conflict: ['InvalidCollectorVersion', 'ConcurrentAccess', 'InvalidState'],
  timeout: ['Timedout', 'RequestCanceled'],
};

/** Every other fault is `unavailable` and passes: of vCenter itself, of a host that it does not reach. */
export const soapErrors: readonly ErrorRule[] = Object.entries(MEANINGS).flatMap(([means, codes]) =>
  codes.map((code) => ({ status: 500, code, means: means as ErrorRule['means'], effect: 'none' as const })),
);

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
