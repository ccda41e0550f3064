/** Of a webhook: whom the API server trusts, and what the replicas serve. Pure. Entry point: `webhooksOf`. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { ClusterFacts, WebhookConfiguration } from './cluster-facts.ts';
import type { CertificateStatus, Problem, ReplicaCertificate, WebhookStatus } from './cluster-status.ts';
import { shell } from './shell-command.ts';
import { timeOf } from './wire-time.ts';

/** Certificates that expire sooner are told of… */
const RENEW_MS = 14 * 86_400_000;
/** …unless they live for less: who renews them by itself does so before this part of their life is left. */
const RENEW_SHARE = 1 / 4;

/** Of a bundle or a chain: each is tried with each. */
const MOST_CERTIFICATES = 100;
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const ANY_USAGE = '2.5.29.37.0';
const RUNBOOK = 'OutriggerServingCertificateExpires';

export type ClientConfig = NonNullable<NonNullable<WebhookConfiguration['webhooks']>[number]['clientConfig']>;

/** For which name an API server wants a certificate. '' for what calls nobody. */
export function serverNameOf({ service, url = '' }: ClientConfig = {}): string {
  if (service) return `${service.name ?? ''}.${service.namespace ?? ''}.svc`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/u, '$1') : '';
}

export function webhooksOf(
  { kind, metadata, webhooks = [] }: WebhookConfiguration,
  { at, certificates }: Pick<ClusterFacts, 'at' | 'certificates'>,
  tell: (problem: Problem) => void,
): readonly WebhookStatus[] {
  const name = metadata?.name ?? '';
  const about = `${kind ?? ''} ${name}`;
  const show = shell`kubectl get ${(kind ?? '').toLowerCase()} ${name} --output=yaml`;
  return webhooks.map(({ clientConfig, failurePolicy, name: webhook = '' }) => {
    const authorities = authoritiesOf(clientConfig?.caBundle ?? '');
    const [last] = authorities;
    const isUseless = !last || expiryOf(last) <= at;
    if (!last || expiryOf(last) - at < RENEW_MS) {
      tell({
        severity: isUseless ? 'error' : 'warning',
        section: 'webhooks',
        about,
        message: last
          ? `The ${authorities.length === 1 ? 'certificate authority' : `last of the ${authorities.length} certificate authorities`} of the webhook ${webhook} ${isUseless ? 'has expired' : 'expires'}: ${timeOf(expiryOf(last))} (${subjectOf(last)}).`
          : `The webhook ${webhook} has no certificate authority (caBundle): the API server cannot ask it.`,
        remedy: 'Renew the certificate, and put its authority into caBundle; docs/guides/service-webhook.md says how.',
        commands: [show],
      });
    }
    const serverName = serverNameOf(clientConfig);
    const served = certificates.get(serverName) ?? [];
    if (served.some(({ isMissing }) => isMissing)) {
      const isIgnored = failurePolicy === 'Ignore';
      const { name: called = '', namespace = '' } = clientConfig?.service ?? {};
      const effect = isIgnored ? 'nothing is reviewed' : 'the API server refuses whatever it should review';
      tell({
        severity: isIgnored ? 'warning' : 'error',
        section: 'webhooks',
        about,
        message: `The webhook ${webhook} calls the Service ${namespace}/${called}, which does not exist: ${effect}.`,
        remedy: 'Create the Service, or delete the configuration.',
        commands: [show],
      });
    }
    // Replicas share one, but in a rotation: each is judged once, and told of once.
    const judged = new Map<string, ReplicaCertificate['certificate']>();
    for (const [pem, replicas] of Map.groupBy(served, (one) => ('value' in one.pem ? one.pem.value : undefined))) {
      if (pem === undefined) continue;
      const who = `${replicas.map(({ replica }) => replica).join(', ')} ${replicas.length === 1 ? 'serves' : 'serve'}`;
      const chain = chainOf(pem);
      const [leaf] = chain;
      if (!leaf) {
        judged.set(pem, { unknown: `what ${who} is no certificate` });
        continue;
      }
      const status: CertificateStatus = {
        expires: timeOf(expiryOf(leaf)),
        trusted: isTrusted(chain, authorities, at),
        named: isFor(leaf, serverName),
      };
      judged.set(pem, { value: status });
      for (const [severity, what, remedy] of faultsOf(leaf, status, { at, isUseless, serverName })) {
        tell({
          severity,
          section: 'webhooks',
          about,
          message: `The certificate that ${who} for ${webhook} ${what} (${subjectOf(leaf)}).`,
          remedy,
          commands: [show],
          runbook: RUNBOOK,
        });
      }
    }
    return {
      kind: kind === 'MutatingWebhookConfiguration' ? kind : 'ValidatingWebhookConfiguration',
      name,
      webhook,
      failurePolicy: failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
      ...(last && { authorityExpires: timeOf(expiryOf(last)) }),
      certificates: served.map(({ pem, replica }) => ({
        replica,
        certificate: 'unknown' in pem ? pem : (judged.get(pem.value) ?? { unknown: '' }),
      })),
    };
  });
}

type Fault = readonly [severity: Problem['severity'], what: string, remedy: string];

/** Each with what the API server makes of it. */
function faultsOf(
  leaf: X509Certificate,
  { expires, named, trusted }: CertificateStatus,
  { at, isUseless, serverName }: { readonly at: number; readonly isUseless: boolean; readonly serverName: string },
): readonly Fault[] {
  const left = expiryOf(leaf) - at;
  const life = expiryOf(leaf) - Number(leaf.validFromDate);
  const renew = 'Renew it. If that was done, the replica has not taken the new files: its log says why.';
  return [
    ...(left <= 0 ? [['error', `has expired: ${expires}`, renew] as const] : []),
    ...(left > 0 && left < Math.min(RENEW_MS, life * RENEW_SHARE)
      ? [['warning', `expires: ${expires}`, renew] as const]
      : []),
    ...(Number(leaf.validFromDate) > at
      ? [
          [
            'error',
            `is not valid before ${timeOf(Number(leaf.validFromDate))}`,
            'Check the clock of who has made it.',
          ] as const,
        ]
      : []),
    // That there is none, or that all have expired, is told by itself.
    ...(trusted || isUseless
      ? []
      : [
          [
            'error',
            'is not signed by an authority in caBundle, for servers: the API server refuses it',
            'Put its authority into caBundle, or have it signed by one that is there.',
          ] as const,
        ]),
    ...(named
      ? []
      : [
          [
            'error',
            `is not for ${serverName}: the API server refuses it`,
            `Make one with the DNS name ${serverName}.`,
          ] as const,
        ]),
  ];
}

/** By its alternative names alone, as in Go. */
function isFor(leaf: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? leaf.checkHost(name, { subject: 'never' }) : leaf.checkIP(name)) !== undefined;
}

/** As Go does it: each authority is an end of the chain, whether or not it has signed itself, and so is a certificate that is in the bundle. */
function isTrusted(
  [leaf, ...others]: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  at: number,
): boolean {
  if (!leaf) return false;
  const usages = leaf.keyUsage as readonly string[] | undefined;
  if (usages && !usages.includes(SERVER_AUTH) && !usages.includes(ANY_USAGE)) return false;
  const isCurrent = (one: X509Certificate): boolean => Number(one.validFromDate) <= at && at <= expiryOf(one);
  const anchors = authorities.filter((one) => isCurrent(one));
  const found = [leaf];
  // It grows by those who have signed one that is in it.
  for (const one of found) {
    if (anchors.some((anchor) => anchor.fingerprint256 === one.fingerprint256 || isSignedBy(one, anchor))) return true;
    found.push(...others.filter((next) => !found.includes(next) && isCurrent(next) && isSignedBy(one, next)));
  }
  return false;
}

function isSignedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && one.checkIssued(issuer) && one.verify(issuer.publicKey);
}

function expiryOf({ validToDate }: X509Certificate): number {
  return Number(validToDate);
}

/** Many have no subject, and names alone. */
function subjectOf({ subject, subjectAltName }: X509Certificate): string {
  return (subject || subjectAltName || 'no subject').replaceAll('\n', ', ');
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/** Those that can be read, of a whole bundle or chain. */
function chainOf(text: string): readonly X509Certificate[] {
  return (text.match(CERTIFICATE) ?? []).slice(0, MOST_CERTIFICATES).flatMap((pem) => {
    try {
      return [new X509Certificate(pem)];
    } catch {
      return [];
    }
  });
}

/**
 * First the one that expires last: the API server trusts each of them, passes over what it cannot read, and in a rotation the old one
 * stands beside its successor.
 */
function authoritiesOf(bundle: string): readonly X509Certificate[] {
  return chainOf(Buffer.from(bundle, 'base64').toString()).toSorted((a, b) => expiryOf(b) - expiryOf(a));
}
