/** The user whom a certificate names: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates */
import type { X509Certificate } from 'node:crypto';
import type { Clock, Metrics } from '@outrigger/kube';
import type { CertificateAuthorities } from './certificate-authorities.ts';
import type { Authenticate, User } from './user.ts';

/** Upstream's: half an hour to a year. */
const REMAINING_SECONDS = [0, 0.5, 1, 2, 6, 12, 24, 48, 96, 168, 720, 2_160, 4_320, 8_640].map(
  (hours) => hours * 3_600,
);

/** `authorities` as they are now; `undefined` while there are none. */
export function authenticateByCertificate(
  authorities: () => CertificateAuthorities | undefined,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
): Authenticate {
  const remaining = metrics.histogram({
    name: 'apiserver_client_certificate_expiration_seconds',
    help: 'Remaining lifetime of the client certificate of each request that one authenticated.',
    buckets: REMAINING_SECONDS,
  });
  return ({ certificate }) => {
    const trusted = authorities();
    if (certificate === undefined || !trusted?.vouchFor(certificate)) return Promise.resolve(undefined);
    remaining.observe((certificate.validToDate.getTime() - clock.now()) / 1_000);
    return Promise.resolve(userOf(certificate));
  };
}

/** Common name and organisations of the subject; `undefined` without a common name. */
export function subjectOf(certificate: X509Certificate): {
  readonly names: readonly string[];
  readonly groups: readonly string[];
} {
  const { subject } = certificate.toLegacyObject() as { readonly subject: Readonly<Record<string, string | string[]>> };
  return { names: listOf(subject['CN']), groups: listOf(subject['O']) };
}

function userOf(certificate: X509Certificate): User | undefined {
  const { groups, names } = subjectOf(certificate);
  const [name] = names;
  if (name === undefined || name === '') return undefined;
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  return { name, groups, extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] } };
}

function listOf(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
