/** The vim25 API on the wire: references, objects with their properties, and what faults mean. */
import { CloudError } from '@outrigger/cloud-provider';
import {
  xmlChild,
  xmlChildren,
  xmlText,
  isHttpError,
  soapFormat,
  type BodyFormat,
  type ErrorRule,
  type HttpError,
  type SoapApi,
  type XmlElement,
} from '@outrigger/provider-kit';
import type { ManagedObject } from '../inventory/vcenter.ts';

/** Every vCenter from 6.7 on takes this version, as later ones keep the earlier versions. */
export const VIM: SoapApi = { path: '/sdk', namespace: 'urn:vim25', action: 'urn:vim25/6.7' };
/** Where vCenter's services are. */
export const LOOKUP: SoapApi = { path: '/lookupservice/sdk', namespace: 'urn:lookup', action: 'urn:lookup/2.0' };

/** As `soapFormat`, and the text itself as `text`: of what is signed, each byte counts. */
export const signedFormat: BodyFormat = {
  ...soapFormat,
  read: (text) => ({ ...(soapFormat.read(text) as object), text }),
};

export function referenceTo({ reference, type }: ManagedObject): XmlElement {
  return { '@type': type, '#text': reference };
}

/** `<obj type="VirtualMachine">vm-42</obj>`. */
export function managedObjectIn(element: unknown): ManagedObject | undefined {
  const [type, reference] = [xmlText(xmlChild(element, '@type')), xmlText(element)];
  return type === undefined || reference === undefined ? undefined : { type, reference };
}

/** Properties of objects of a type, or of one derived from it. */
export interface PropertySpec {
  readonly type: string;
  readonly paths: readonly string[];
}

/** An object with what was answered of it (`ObjectContent`). */
export interface ObjectContent {
  readonly type: string;
  readonly reference: string;
  readonly properties: ReadonlyMap<string, unknown>;
  /** Faults of properties that were not given, by their paths. */
  readonly missing: ReadonlyMap<string, string>;
}

/** Of an answer of the property collector. Throws where that says the end of the session, which some answers say of each property alone. */
export function objectContents(answer: unknown): readonly ObjectContent[] {
  return xmlChildren(xmlChild(answer, 'returnval'), 'objects').flatMap((object) => {
    const managed = managedObjectIn(xmlChild(object, 'obj'));
    if (!managed) return [];
    const pairs = <T>(element: string, value: (one: unknown) => T, name: string): Map<string, T> =>
      new Map(xmlChildren(object, element).map((one) => [xmlText(xmlChild(one, name)) ?? '', value(one)]));
    const missing = pairs('missingSet', (one) => faultName(xmlChild(one, 'fault')), 'path');
    if ([...missing.values()].includes('NotAuthenticated')) throw sessionEnded();
    return [{ ...managed, properties: pairs('propSet', (one) => xmlChild(one, 'val'), 'name'), missing }];
  });
}

/** As vCenter would say it: a session that ended in the middle of what was asked. */
export function sessionEnded(): HttpError {
  const error = new CloudError('unauthenticated', 'the session with vCenter has ended');
  return Object.assign(error, { status: 500, apiCode: 'NotAuthenticated' });
}

/** A fault within an answer, as of a property that is withheld: `NoPermission`. */
function faultName(localizedFault: unknown): string {
  return (xmlText(xmlChild(localizedFault, 'fault', '@type')) ?? 'unknown').replace(/^.*:/u, '');
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
