/**
 * What is asked of keystone for a token (`POST /v3/auth/tokens`), from the keys of `[Global]`. The rules by which domains and
 * scope are put together are those of gophercloud's clientconfig (`v3auth`, `setDomainIfNeeded`), with which
 * cloud-provider-openstack asks; where it refuses an ID together with a name, the ID goes before.
 */
import type { CloudError } from '@outrigger/cloud-provider';
import type { GlobalConfig } from '../config/cloud-config.ts';

export interface AuthRequest {
  /** Sent as JSON. Holds secrets. */
  readonly body: unknown;
  /** Who asks, for messages: `the user "k8s"`. */
  readonly as: string;
  /** What must not be shown. */
  readonly secrets: readonly string[];
}

type Named = { readonly id: string } | { readonly name: string };
type Of = { readonly id: string } | { readonly name: string; readonly domain: Named };

/** What is wrong with `[Global]`, as an error that names the file. */
export type Refuse = (why: string) => CloudError;

/** Throws `configuration` for what is missing. */
export function authRequestOf(global: GlobalConfig, refuse: Refuse): AuthRequest {
  const { token, applicationCredentialSecret: secret, trustId } = global;
  if (trustId !== undefined) return trust(global, trustId, refuse);
  if (token !== undefined) {
    const identity = { methods: ['token'], token: { id: token } };
    return { body: { auth: { identity, ...scopeOf(global, refuse) } }, as: 'the token', secrets: [token] };
  }
  if (secret !== undefined) return applicationCredential(global, secret, refuse);
  return password(global, refuse);
}

function password(global: GlobalConfig, refuse: Refuse): AuthRequest {
  const { password: secret } = global;
  if (secret === undefined) {
    throw refuse('has no password, no application-credential-secret and no token: one of them is needed');
  }
  const user = userOf(global, refuse);
  const identity = passwordIdentity(user, secret);
  return { body: { auth: { identity, ...scopeOf(global, refuse) } }, as: described('user', user), secrets: [secret] };
}

/** The trust is the scope; it is the trustee who asks. */
function trust(global: GlobalConfig, id: string, refuse: Refuse): AuthRequest {
  const { trusteeId, trusteePassword } = global;
  const secret = trusteePassword ?? global.password;
  if (secret === undefined) throw refuse('has a trust-id, but neither trustee-password nor password');
  const user = trusteeId === undefined ? userOf(global, refuse) : { id: trusteeId };
  const auth = { identity: passwordIdentity(user, secret), scope: { 'OS-TRUST:trust': { id } } };
  return { body: { auth }, as: described('user', user), secrets: [secret] };
}

/** Has its scope of its own. */
function applicationCredential(global: GlobalConfig, secret: string, refuse: Refuse): AuthRequest {
  const { applicationCredentialId: id, applicationCredentialName: name } = global;
  if (id === undefined && name === undefined) {
    throw refuse(
      'has an application-credential-secret, but neither application-credential-id nor application-credential-name',
    );
  }
  const credential = id === undefined ? { name, secret, user: userOf(global, refuse) } : { id, secret };
  const identity = { methods: ['application_credential'], application_credential: credential };
  return {
    body: { auth: { identity } },
    as: `the application credential ${JSON.stringify(id ?? name)}`,
    secrets: [secret],
  };
}

function passwordIdentity(user: Of, secret: string): object {
  return { methods: ['password'], password: { user: { ...user, password: secret } } };
}

function userOf(global: GlobalConfig, refuse: Refuse): Of {
  const { userId, username, userDomainId, userDomainName, domainId, domainName } = global;
  if (userId !== undefined) return { id: userId };
  if (username === undefined) throw refuse('names no user: user-id, or username, is needed');
  const domain = named(userDomainId, userDomainName) ?? named(domainId, domainName);
  if (domain) return { name: username, domain };
  throw refuse('has a username without a domain: set user-domain-name or user-domain-id, or domain-name or domain-id');
}

/**
 * The project; without one no scope, for which keystone takes the user's default project, if there is one. Never a domain, where
 * gophercloud asks for one: nova, neutron and octavia show a token of a domain nothing of any project.
 */
function scopeOf(global: GlobalConfig, refuse: Refuse): { readonly scope?: object } {
  const { tenantId, tenantName, tenantDomainId, tenantDomainName, domainId, domainName } = global;
  if (tenantId !== undefined) return { scope: { project: { id: tenantId } } };
  if (tenantName === undefined) return {};
  const own = named(tenantDomainId, tenantDomainName) ?? named(domainId, domainName);
  if (own) return { scope: { project: { name: tenantName, domain: own } } };
  throw refuse(
    'has a tenant-name without a domain: set tenant-domain-name or tenant-domain-id, or domain-name or domain-id',
  );
}

function named(id: string | undefined, name: string | undefined): Named | undefined {
  if (id !== undefined) return { id };
  return name === undefined ? undefined : { name };
}

function described(what: string, of: Of): string {
  return `the ${what} ${JSON.stringify('id' in of ? of.id : of.name)}`;
}
