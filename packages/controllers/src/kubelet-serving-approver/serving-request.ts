/** What a CertificateSigningRequest of a kubelet asks for, and whether a kubelet would ask so. No cloud is needed for it. Pure. */
// The library's dependency injection asks for it, and leaves it to the program to bring it.
import 'reflect-metadata/lite';
import * as x509 from '@peculiar/x509';
import { canonicalIp, NAME_LENGTH, quote } from '@outrigger/cloud-provider';
import type { CertificateSigningRequest } from '@outrigger/kube';
import { isOneDerValue } from './der.ts';
import { LONGEST_REQUEST } from './trim-request.ts';

const NODE_USER = 'system:node:';
// Not that of `kube`: this is loaded on demand, and a value from there would have all of that package made loadable on demand in the bundle.
const NODES_GROUP = 'system:nodes';
/** The machines of clouds have a dozen names and addresses at most. */
const MOST_NAMES = 64;
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
/** One block, and nothing around it: whoever else reads it can find no other request in it. */
const PEM = /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/u;
const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/iu;
/** With a key that can encrypt, and without: `ValidateKubeletServingCSR` of k8s.io/kubernetes. */
const USAGES: readonly string[] = ['digital signature,key encipherment,server auth', 'digital signature,server auth'];

/** Why a request is none that a kubelet makes for itself. */
export type MalformedReason = 'unreadable' | 'wrong-group' | 'wrong-subject' | 'wrong-usages' | 'wrong-names';

export type ServingRequest =
  /** Whoever made it is no kubelet: a person who may approve it as well, and is left to it. */
  | { readonly kind: 'not-a-kubelet' }
  | {
      readonly kind: 'malformed';
      readonly nodeName: string;
      readonly reason: MalformedReason;
      /** A clause: `it asks for the URI "spiffe://x"`. */
      readonly problem: string;
    }
  | {
      readonly kind: 'well-formed';
      readonly nodeName: string;
      /** As they were asked for. */
      readonly dnsNames: readonly string[];
      /** In canonical form. */
      readonly ips: readonly string[];
    };

/** Reads the request. Bounded: what is longer than a kubelet's can be is refused unread. */
export function readServingRequest({ spec }: CertificateSigningRequest): ServingRequest {
  const { groups = [], request, usages = [], username = '' } = spec;
  const nodeName = username.startsWith(NODE_USER) ? username.slice(NODE_USER.length) : '';
  if (nodeName === '' || nodeName.length > NAME_LENGTH) return { kind: 'not-a-kubelet' };
  const malformed = (reason: MalformedReason, problem: string): ServingRequest => ({
    kind: 'malformed',
    nodeName,
    reason,
    problem,
  });
  if (!groups.includes(NODES_GROUP)) return malformed('wrong-group', `who asks is not in the group ${NODES_GROUP}`);
  if (!USAGES.includes([...new Set<string>(usages)].toSorted().join())) {
    return malformed('wrong-usages', `it asks for the usages ${quote(usages.join(', '))}`);
  }
  const asked = parse(request);
  if (typeof asked === 'string') return malformed('unreadable', asked);
  if (!isSubjectOf(asked.subjectName, username)) {
    return malformed(
      'wrong-subject',
      `its subject is ${quote(asked.subject)} and not O=${NODES_GROUP}, CN=${username}`,
    );
  }
  const names = namesOf(asked);
  if (typeof names === 'string') return malformed('wrong-names', names);
  return { kind: 'well-formed', nodeName, ...names };
}

/** The request, or why it cannot be read. `base64`: of PEM. */
function parse(base64: string): x509.Pkcs10CertificateRequest | string {
  if (base64.length > LONGEST_REQUEST) return 'it is longer than the request of a kubelet can be';
  const body = PEM.exec(Buffer.from(base64, 'base64').toString('latin1'))?.[1];
  if (body === undefined) return 'it is not one certificate request in PEM';
  const bytes = Buffer.from(body, 'base64');
  // The library reads on beyond the end of what is around a value, where the signer finds other names.
  if (!isOneDerValue(bytes)) return 'it is not a certificate request (PKCS #10) in DER';
  try {
    const request = new x509.Pkcs10CertificateRequest(bytes);
    // Both are decoded when they are first asked for.
    void [request.subject, request.attributes];
    return request;
  } catch {
    return 'it is not a certificate request (PKCS #10) that can be read';
  }
}

/** One organization and one common name, and nothing besides: the signer takes the subject over as it is. */
function isSubjectOf(subject: x509.Name, username: string): boolean {
  const values = subject
    .toJSON()
    .flatMap((part) => Object.entries(part).flatMap(([type, all]) => all.map((value) => `${type}=${value}`)));
  return values.length === 2 && values.includes(`CN=${username}`) && values.includes(`O=${NODES_GROUP}`);
}

interface Names {
  readonly dnsNames: readonly string[];
  readonly ips: readonly string[];
}

/** The subject alternative names, or why they are none of a kubelet's. */
function namesOf({ attributes }: x509.Pkcs10CertificateRequest): Names | string {
  const [attribute, ...more] = attributes;
  // Of several, each reader may take another.
  if (!(attribute instanceof x509.ExtensionsAttribute) || more.length > 0 || attribute.values.length !== 1) {
    return attribute === undefined
      ? 'it asks for no name and no address'
      : `it has other attributes than one request for extensions (${EXTENSION_REQUEST})`;
  }
  const [extension, ...others] = attribute.items;
  const other = [extension, ...others].find((one) => one && one.type !== SUBJECT_ALTERNATIVE_NAME);
  // Kube-controller-manager drops others; another signer may not.
  if (other) return `it asks for another extension than names and addresses (${other.type})`;
  if (others.length > 0) return 'it asks for one extension twice';
  const isNames = extension instanceof x509.SubjectAlternativeNameExtension;
  if (isNames && !isOneDerValue(new Uint8Array(extension.value))) return 'its names and addresses are not in DER';
  const items = isNames ? extension.names.items : [];
  if (items.length === 0) return 'it asks for no name and no address';
  if (items.length > MOST_NAMES) return `it asks for ${items.length} names and addresses, more than ${MOST_NAMES}`;
  const dnsNames: string[] = [];
  const ips: string[] = [];
  for (const { type, value } of items) {
    const ip = type === 'ip' ? canonicalIp(value) : undefined;
    if (type === 'dns' && DNS_NAME.test(value) && canonicalIp(value) === undefined) dnsNames.push(value);
    // An IPv4 address in IPv6 is another name to whoever compares bytes; no kubelet asks for one.
    else if (ip !== undefined && ip.includes(':') === value.includes(':')) ips.push(ip);
    else return `it asks for the ${WORDS[type] ?? type} ${quote(value)}`;
  }
  return { dnsNames, ips };
}

const WORDS: Readonly<Partial<Record<string, string>>> = {
  dns: 'name',
  ip: 'address',
  url: 'URI',
  email: 'e-mail address',
};
