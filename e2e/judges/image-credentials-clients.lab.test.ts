/** The requests of the image credential provider beside those of Google's and Azure's own clients: the same, but for what is named here. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { askVendorClient } from '../../packages/image-credentials/judge/vendor-clients.ts';
import {
  askProgram,
  startFakeServices,
  type AskedOfService,
} from '../../packages/image-credentials/src/fake-services.suite.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-clients-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const place = path.join(folder, name);
  writeFileSync(place, text);
  return place;
}

/** As a JWT is formed: both sides look when it ends. */
function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ exp: 4_000_000_000, ...claims })}.x`;
}

interface Gist {
  readonly at: string;
  readonly query: Readonly<Record<string, string>>;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What of a request a service judges by: its place, its query, its form or its JSON, and these headers. */
function gist({ body, form, headers, method, path: place }: AskedOfService, ...names: readonly string[]): Gist {
  const url = new URL(place, 'http://x');
  const sent = body.startsWith('{') ? (JSON.parse(body) as Record<string, unknown>) : Object.fromEntries(form);
  return {
    at: `${method} ${decodeURIComponent(url.pathname)}`,
    query: Object.fromEntries(url.searchParams),
    sent,
    headers: Object.fromEntries(names.map((name) => [name, headers[name]])),
  };
}

const NODE_TOKEN = '/computeMetadata/v1/instance/service-accounts/default/token';
const googleToken = (value: string) => ({
  headers: { 'metadata-flavor': 'Google', 'content-type': 'application/json' },
  json: { access_token: value, expires_in: 3_600, token_type: 'Bearer' },
});

test("Google's client, by the node's service account", async () => {
  await using services = await startFakeServices({
    [`GET ${NODE_TOKEN}`]: () => googleToken('node-token'),
    'GET /computeMetadata/v1/instance/service-accounts/default/': () => ({
      headers: { 'metadata-flavor': 'Google', 'content-type': 'application/json' },
      json: { aliases: ['default'], email: 'node@project.iam.gserviceaccount.com', scopes: [] },
    }),
    'GET /computeMetadata/v1/universe/universe-domain': () => ({
      headers: { 'metadata-flavor': 'Google', 'content-type': 'text/plain' },
      text: 'googleapis.com',
    }),
  });
  const { host } = new URL(services.url);
  assert.equal(await askVendorClient('gcr-node', [], { GCE_METADATA_HOST: host, NO_PROXY: '*' }), 'node-token');
  const theirs = services.asked.find((one) => one.path.startsWith(NODE_TOKEN));
  const config = file('gcr-node.yaml', `gcr:\n  metadataUrl: ${services.url}\n`);
  const { response } = await askProgram(['gcr', `--config=${config}`], { image: 'gcr.io/project/app' });
  assert.equal(response.auth['gcr.io']?.password, 'node-token');
  const ours = services.asked.at(-1);
  assert.ok(theirs && ours && theirs !== ours);
  // Without scopes, the metadata server gives what the machine was made with.
  const asked = gist(theirs, 'metadata-flavor');
  assert.equal(asked.query['scopes'], 'https://www.googleapis.com/auth/cloud-platform');
  assert.deepEqual(gist(ours, 'metadata-flavor'), { ...asked, query: {} });
});

test("Google's client, by a token of the pod, its exchange and a Google service account", async () => {
  const account = 'app@project.iam.gserviceaccount.com';
  const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster';
  await using services = await startFakeServices({
    'POST /v1/token': () => ({
      headers: { 'content-type': 'application/json' },
      json: { access_token: 'federated', expires_in: 3_600, token_type: 'Bearer', issued_token_type: 'x' },
    }),
    [`POST /v1/projects/-/serviceAccounts/${account}:generateAccessToken`]: () => ({
      headers: { 'content-type': 'application/json' },
      json: { accessToken: 'impersonated', expireTime: '2036-01-01T00:00:00Z' },
    }),
    [`POST /v1/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`]: () => ({
      json: { accessToken: 'impersonated', expireTime: '2036-01-01T00:00:00Z' },
    }),
  });
  const token = jwt({ sub: 'system:serviceaccount:default:app' });
  const given = await askVendorClient('gcr-pod', [services.url, audience, file('token', token), account], {
    NO_PROXY: '*',
  });
  assert.equal(given, 'impersonated');
  const theirs = services.asked.map((one) => gist(one, 'authorization', 'content-type'));
  const config = file(
    'gcr-pod.yaml',
    `gcr:\n  stsUrl: ${services.url}\n  iamCredentialsUrl: ${services.url}\n  audience: ${audience}\n  serviceAccount: ${account}\n`,
  );
  const { response } = await askProgram(['gcr', `--config=${config}`], { image: 'gcr.io/project/app', token });
  assert.equal(response.auth['gcr.io']?.password, 'impersonated');
  const ours = services.asked.slice(theirs.length).map((one) => gist(one, 'authorization', 'content-type'));
  const [exchange, impersonation] = theirs;
  assert.ok(exchange && impersonation);
  // Theirs asks for no more than IAM where an account follows; of ours, one scope serves both ways, and the defaults are left out.
  assert.equal(exchange.sent['scope'], 'https://www.googleapis.com/auth/iam');
  const { delegates, lifetime, ...sent } = impersonation.sent;
  assert.deepEqual([delegates, lifetime], [null, '3600s']);
  assert.deepEqual(ours, [
    { ...exchange, sent: { ...exchange.sent, scope: 'https://www.googleapis.com/auth/cloud-platform' } },
    { ...impersonation, sent },
  ]);
});

test("Azure's client, by a managed identity, and the registry's exchange", async () => {
  const entra = jwt({ aud: 'https://containerregistry.azure.net' });
  const refresh = jwt({ aud: 'team.azurecr.io' });
  await using services = await startFakeServices({
    'GET /metadata/identity/oauth2/token': () => ({
      headers: { 'content-type': 'application/json' },
      json: { access_token: entra, expires_on: '4000000000', expires_in: '3600', resource: 'x', token_type: 'Bearer' },
    }),
    'POST /oauth2/exchange': () => ({
      headers: { 'content-type': 'application/json' },
      json: { refresh_token: refresh },
    }),
  });
  const env = { AZURE_POD_IDENTITY_AUTHORITY_HOST: services.url, NO_PROXY: '*' };
  assert.equal(await askVendorClient('acr-node', ['client-1'], env), entra);
  assert.equal(await askVendorClient('acr-exchange', [services.url, 'team.azurecr.io', entra], env), refresh);
  const theirs = services.asked.map((one) => gist(one, 'metadata', 'content-type'));
  const config = file(
    'acr.yaml',
    `acr:\n  metadataUrl: ${services.url}\n  exchangeUrl: ${services.url}\n  managedIdentity: client-1\n`,
  );
  const { response } = await askProgram(['acr', `--config=${config}`], { image: 'team.azurecr.io/app' });
  assert.equal(response.auth['team.azurecr.io']?.password, refresh);
  const ours = services.asked.slice(theirs.length).map((one) => gist(one, 'metadata', 'content-type'));
  const [identity, exchange] = theirs;
  // ACR's own description of the exchange (Azure/acr, docs/AAD-OAuth.md) has no version.
  assert.deepEqual(exchange?.query, { 'api-version': '2021-07-01' });
  assert.deepEqual(ours, [identity, { ...exchange, query: {} }]);
});
