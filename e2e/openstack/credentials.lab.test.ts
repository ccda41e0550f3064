/** Each way to sign in that `cloud.conf` has, at the real keystone. */
import assert from 'node:assert/strict';
import { before, after, test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock, systemRandom } from '@outrigger/kube';
import { createOpenStackProvider } from '@outrigger/provider-openstack';
import { LAB_AUTH_URL } from './lab-cloud.ts';
import { LabMachines, type Server } from './lab-machines.ts';
import { openLab, type Lab } from './lab.ts';

let lab: Lab;
let machines: LabMachines;
let server: Server;
let userId: string;
let adminId: string;
let projectId: string;
let credential: { readonly id: string; readonly name: string; readonly secret: string };
let trustId: string;

/** What nova says of a server, to who is signed in; the code of the error to who is not. */
async function ask(lines: string): Promise<string> {
  const text = `[Global]\nauth-url = ${LAB_AUTH_URL}\nregion = RegionOne\n${lines}`;
  await using opened = await openProvider(createOpenStackProvider(), {
    cluster: { id: 'cluster', name: 'cluster' },
    config: { text, fileName: 'cloud.conf' },
    clock: systemClock,
    logger: silentLogger,
    random: systemRandom,
  });
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
  const node = { name: server.name, uid: 'u', providerID: `openstack:///${server.id}`, labels: {}, annotations: {} };
  try {
    const answer = await opened.capabilities.instances?.read(node, 'state', call);
    return answer?.result.kind ?? 'no instances';
  } catch (error) {
    if (isCloudError(error)) return error.code;
    throw error;
  }
}

before(async () => {
  lab = await openLab();
  machines = new LabMachines(lab.user);
  server = await machines.create('lab-asked-for');
  const idOf = async (kind: 'users' | 'projects', name: string): Promise<string> => {
    const [found] = await lab.admin.list<{ readonly id: string }>('identity', `/${kind}?name=${name}`);
    return found?.id ?? '';
  };
  [userId, adminId, projectId] = await Promise.all([
    idOf('users', 'k8s'),
    idOf('users', 'admin'),
    idOf('projects', 'k8s'),
  ]);
  const made = await lab.user.request<{ application_credential: typeof credential }>(
    'identity',
    'POST',
    `/users/${userId}/application_credentials`,
    { body: { application_credential: { name: `e2e-${process.pid}` } } },
  );
  credential = made.application_credential;
  const { trust } = await lab.user.request<{ trust: { id: string } }>('identity', 'POST', '/OS-TRUST/trusts', {
    body: {
      trust: {
        trustor_user_id: userId,
        trustee_user_id: adminId,
        project_id: projectId,
        impersonation: true,
        roles: [{ name: 'member' }, { name: 'reader' }],
      },
    },
  });
  trustId = trust.id;
});

after(async () => {
  await machines[Symbol.asyncDispose]();
  await lab.user.request('identity', 'DELETE', `/users/${userId}/application_credentials/${credential.id}`);
  await lab.user.request('identity', 'DELETE', `/OS-TRUST/trusts/${trustId}`);
});

const user = 'username = k8s\nuser-domain-id = default\n';
const project = 'tenant-name = k8s\ntenant-domain-name = Default\n';

test('a password, by names, by IDs, with one domain for both, at other end points', async () => {
  assert.equal(await ask(`${user}${project}password = k8s`), 'found');
  assert.equal(await ask(`user-id = ${userId}\ntenant-id = ${projectId}\npassword = k8s`), 'found');
  assert.equal(await ask('username = k8s\ntenant-name = k8s\ndomain-id = default\npassword = k8s'), 'found');
  assert.equal(await ask(`${user}${project}password = k8s\nos-endpoint-type = internalURL`), 'found');
  assert.equal(await ask(`${user}${project}password = wrong`), 'unauthenticated');
});

test('an application credential, by ID and by name', async () => {
  const { id, name, secret } = credential;
  assert.equal(await ask(`application-credential-id = ${id}\napplication-credential-secret = "${secret}"`), 'found');
  assert.equal(
    await ask(`${user}application-credential-name = ${name}\napplication-credential-secret = "${secret}"`),
    'found',
  );
  assert.equal(
    await ask(`application-credential-id = ${id}\napplication-credential-secret = wrong`),
    'unauthenticated',
  );
});

test('a trust, as the trustee and as the user', async () => {
  assert.equal(await ask(`trust-id = ${trustId}\ntrustee-id = ${adminId}\ntrustee-password = admin`), 'found');
  assert.equal(
    await ask(`trust-id = ${trustId}\nusername = admin\nuser-domain-id = default\npassword = admin`),
    'found',
  );
  assert.equal(await ask(`trust-id = ${trustId}\n${user}password = k8s`), 'unauthenticated');
});

test('a token', async () => {
  const identity = { methods: ['password'], password: { user: { id: userId, password: 'k8s' } } };
  const answer = await fetch(`${LAB_AUTH_URL}/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth: { identity, scope: { project: { id: projectId } } } }),
  });
  assert.equal(await ask(`token = ${answer.headers.get('x-subject-token')}\ntenant-id = ${projectId}`), 'found');
  assert.equal(await ask(`token = wrong\ntenant-id = ${projectId}`), 'unauthenticated');
});
