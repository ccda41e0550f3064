import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, isCloudError } from '@outrigger/cloud-provider';
import { globalSection } from '../config/cloud-conf-keys.ts';
import type { GlobalConfig } from '../config/cloud-config.ts';
import { authRequestOf, type AuthRequest } from './auth-request.ts';

function ask(set: Partial<GlobalConfig>): AuthRequest {
  const defaults = Object.entries(globalSection.keys).map(([member, { byDefault }]) => [member, byDefault]);
  const refuse = (why: string): CloudError => new CloudError('configuration', `cloud.conf: [Global] ${why}`);
  return authRequestOf({ ...(Object.fromEntries(defaults) as GlobalConfig), ...set }, refuse);
}

const password = (user: object): object => ({
  methods: ['password'],
  password: { user: { ...user, password: 'hunter2' } },
});
const me = { username: 'me', password: 'hunter2' };

/** What clientconfig.AuthOptions and gophercloud's ToTokenV3CreateMap make of the same keys. */
const asked: Readonly<Record<string, readonly [set: Partial<GlobalConfig>, auth: object]>> = {
  'domain for user and project': [
    { ...me, tenantName: 'p', domainName: 'Default' },
    {
      identity: password({ name: 'me', domain: { name: 'Default' } }),
      scope: { project: { name: 'p', domain: { name: 'Default' } } },
    },
  ],
  'domains of their own': [
    { ...me, tenantName: 'p', domainId: 'd', userDomainId: 'u', tenantDomainName: 'P' },
    {
      identity: password({ name: 'me', domain: { id: 'u' } }),
      scope: { project: { name: 'p', domain: { name: 'P' } } },
    },
  ],
  'IDs need no domain, and go before names': [
    { ...me, userId: 'u1', tenantId: 'p1', tenantName: 'p', domainName: 'Default' },
    { identity: password({ id: 'u1' }), scope: { project: { id: 'p1' } } },
  ],
  'a domain without a project is no scope': [
    { ...me, userDomainName: 'U', domainId: 'd' },
    { identity: password({ name: 'me', domain: { name: 'U' } }) },
  ],
  'no scope': [{ ...me, userDomainName: 'U' }, { identity: password({ name: 'me', domain: { name: 'U' } }) }],
  'a token goes before a password': [
    { ...me, token: 'hunter2', tenantId: 'p1' },
    { identity: { methods: ['token'], token: { id: 'hunter2' } }, scope: { project: { id: 'p1' } } },
  ],
  'an application credential by ID has neither user nor scope': [
    {
      ...me,
      tenantId: 'p1',
      applicationCredentialId: 'a1',
      applicationCredentialName: 'a',
      applicationCredentialSecret: 'hunter2',
    },
    { identity: { methods: ['application_credential'], application_credential: { id: 'a1', secret: 'hunter2' } } },
  ],
  'an application credential by name is of a user': [
    { username: 'me', domainName: 'Default', applicationCredentialName: 'a', applicationCredentialSecret: 'hunter2' },
    {
      identity: {
        methods: ['application_credential'],
        application_credential: { name: 'a', secret: 'hunter2', user: { name: 'me', domain: { name: 'Default' } } },
      },
    },
  ],
  'a trust, as the user': [
    { userId: 'u1', password: 'hunter2', trustId: 't1', tenantId: 'p1' },
    { identity: password({ id: 'u1' }), scope: { 'OS-TRUST:trust': { id: 't1' } } },
  ],
  'a trust, as the trustee': [
    { userId: 'u1', password: 'other', trustId: 't1', trusteeId: 'u2', trusteePassword: 'hunter2' },
    { identity: password({ id: 'u2' }), scope: { 'OS-TRUST:trust': { id: 't1' } } },
  ],
};

for (const [name, [set, auth]] of Object.entries(asked)) {
  test(name, () => {
    const request = ask(set);
    assert.deepEqual(request.body, { auth });
    assert.deepEqual(request.secrets, ['hunter2']);
    assert.doesNotMatch(request.as, /hunter2/u);
  });
}

const refused: readonly (readonly [set: Partial<GlobalConfig>, why: RegExp])[] = [
  [{}, /^cloud\.conf: \[Global\] has no password, no application-credential-secret and no token/u],
  [{ password: 'hunter2' }, /names no user/u],
  [{ ...me, tenantId: 'p1' }, /has a username without a domain/u],
  [{ ...me, userDomainId: 'u', tenantName: 'p' }, /has a tenant-name without a domain/u],
  [{ applicationCredentialSecret: 'hunter2' }, /neither application-credential-id nor application-credential-name/u],
  [{ applicationCredentialSecret: 'hunter2', applicationCredentialName: 'a' }, /names no user/u],
  [{ trustId: 't1', userId: 'u1' }, /neither trustee-password nor password/u],
];

for (const [set, why] of refused) {
  test(`refuses ${JSON.stringify(set)}`, () => {
    assert.throws(
      () => ask(set),
      (error) => isCloudError(error, 'configuration') && why.test(error.message) && !error.message.includes('hunter2'),
    );
  });
}
