import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  compareAccess,
  sharedControlPlane,
  startFaultProxy,
  type AccessComparison,
  type ControlPlane,
} from '@outrigger/testing';
import { CloudStory, STORY_FLAGS } from './cloud-story.ts';
import { grant, grantedTo, kubectl, startGrantedProgram, type GrantedProgram } from './granted-program.ts';

const shared = sharedControlPlane(after, { kubectl: true });

/** Every cluster has them; the rules in them are not ours to choose. */
const BUILT_IN = ['system:auth-delegator', 'extension-apiserver-authentication-reader'];

const WITHOUT_ROUTE_OWNERS = `--cloud-provider=${fileURLToPath(new URL('unmarked-routes-provider.ts', import.meta.url))}`;
const EVERY_CONTROLLER =
  '--controllers=*,node-ipam-controller,persistent-volume-label-controller,kubelet-serving-approver';

async function theRest(story: CloudStory): Promise<void> {
  await Promise.all([
    story.serve('web'),
    story.shutDownAndStart('n2'),
    story.takeAway('n3'),
    story.labelVolume('v1'),
    story.certify('n1'),
  ]);
}

/** Somebody who may scrape, and nothing else. */
async function makeScraper(controlPlane: ControlPlane): Promise<string> {
  const token = await controlPlane.serviceAccountToken('default', 'scraper');
  const [role, binding] = [
    ['create', 'clusterrole', 'scraper', '--verb=get', '--non-resource-url=/metrics'],
    ['create', 'clusterrolebinding', 'scraper', '--clusterrole=scraper', '--serviceaccount=default:scraper'],
  ] as const;
  await kubectl(controlPlane, role);
  await kubectl(controlPlane, binding);
  return token;
}

function scrape({ port }: GrantedProgram, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false, headers: { authorization: `Bearer ${token}` } };
    get(`https://127.0.0.1:${port}/metrics`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

/**
 * What was refused to an account, and what it was granted in vain. `program`: the account to which the rules were printed;
 * only what was printed counts, whatever else the cluster grants.
 */
async function compared(controlPlane: ControlPlane, program: string, name = program): Promise<AccessComparison> {
  return compareAccess({
    objects: await grantedTo(controlPlane, program),
    entries: await controlPlane.auditLog.requests(),
    account: { namespace: 'kube-system', name },
    builtIn: BUILT_IN,
  });
}

/** What may be read again after a clash may not have been needed; what may be written has been. */
async function assertSufficient(controlPlane: ControlPlane, program: string, name = program): Promise<void> {
  const { forbidden, unused } = await compared(controlPlane, program, name);
  assert.deepEqual(forbidden, [], name);
  const idle = unused.filter((line) =>
    /^(?:create|update|patch|delete) (?:nodes|services|persistentvolumes|certificatesigningrequests)/u.test(line),
  );
  assert.deepEqual(idle, [], name);
}

test('with every controller on, the printed rules suffice, and none of them is idle', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await using story = await CloudStory.open(controlPlane);
  await using proxy = await startFaultProxy({
    target: controlPlane.server,
    certificateAuthority: controlPlane.certificateAuthority,
  });
  const account = 'all-controllers';
  // Of a cloud whose routes have no owner a record is kept.
  const flags = STORY_FLAGS.map((flag) => (flag === '--cloud-provider=memory' ? WITHOUT_ROUTE_OWNERS : flag));
  const args = [...flags, EVERY_CONTROLLER];
  await grant(controlPlane, account, args);
  const token = await makeScraper(controlPlane);
  // What happens in a bad hour only: a server without initial streams, a node that somebody else has just written, a lost answer.
  const faults = [
    proxy.add({ match: { path: /sendInitialEvents/u }, fault: { type: 'status', code: 400 } }),
    proxy.add({ match: { resource: 'nodes', verb: 'patch', nth: 1 }, fault: { type: 'status', code: 409 } }),
    proxy.add({
      match: { path: /namespaces\/default\/events/u, verb: 'create', nth: 1 },
      fault: { type: 'lose-answer' },
    }),
  ];
  const options = { controlPlane, proxy, account, args: [...args, `--cloud-config=${story.cloudConfig}`] };
  const first = await startGrantedProgram(options);
  await using leader = first.manager;
  story.programs.push(first);
  const holder = await story.untilHeld('cloud-controller-manager');
  const second = await startGrantedProgram({ ...options, replica: '2' });
  await using standby = second.manager;
  story.programs.push(second);

  for (const name of ['n1', 'n2', 'n3']) await story.join(name);
  await Promise.all(['n1', 'n2', 'n3'].map((name) => story.isServed(name)));
  await theRest(story);
  await story.until('the route of the node that has gone is removed', () =>
    Promise.resolve(story.cloud.routes().every(({ nodeName }) => nodeName !== 'n3')),
  );
  assert.equal(await scrape(first, token), 200);
  await story.until('the standby watches the Lease', () =>
    Promise.resolve(proxy.calls.calls.some(({ resource, verb }) => resource === 'leases' && verb === 'watch')),
  );
  assert.equal(await leader.end('SIGTERM'), 0, await readFile(first.log, 'utf8'));
  await story.until('the standby leads', async () => (await story.untilHeld('cloud-controller-manager')) !== holder);
  await story.join('n4');
  await story.isServed('n4');
  assert.equal(await standby.end('SIGTERM'), 0, await readFile(second.log, 'utf8'));
  for (const [index, { hits }] of faults.entries()) assert.ok(hits > 0, `fault ${index} has not struck`);

  assert.deepEqual(await compared(controlPlane, account), { forbidden: [], unused: [] });
});

test('each controller alone does its work with the rules that are printed for it', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await using story = await CloudStory.open(controlPlane);
  const started = await Promise.all(
    ['cloud-node', 'cloud-node-lifecycle', 'service', 'route', 'nodeipam', 'pvlabel', 'kubelet-serving'].map(
      async (controller) => {
        const args = [...STORY_FLAGS, `--controllers=${controller}`, `--leader-elect-resource-name=${controller}`];
        return { controller, program: await story.run(controller, args) };
      },
    ),
  );
  for (const { controller } of started) await story.untilHeld(controller);
  for (const name of ['n1', 'n2', 'n3']) await story.join(name);
  await Promise.all(['n1', 'n2', 'n3'].map((name) => story.isServed(name)));
  await theRest(story);
  for (const { controller, program } of started) {
    assert.equal(await program.manager.end('SIGTERM'), 0, await readFile(program.log, 'utf8'));
    await assertSufficient(controlPlane, controller);
  }
});

test('with accounts of their own, controllers do all their work as these, and the program none of it', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await using story = await CloudStory.open(controlPlane);
  const account = 'borrows';
  const program = await story.run(account, [...STORY_FLAGS, EVERY_CONTROLLER, '--use-service-account-credentials']);
  for (const name of ['n1', 'n2', 'n3']) await story.join(name);
  await Promise.all(['n1', 'n2', 'n3'].map((name) => story.isServed(name)));
  await theRest(story);
  assert.equal(await program.manager.end('SIGTERM'), 0, await readFile(program.log, 'utf8'));
  for (const name of [account, 'node-controller', 'service-controller', 'route-controller', 'orphan-controller']) {
    await assertSufficient(controlPlane, account, name);
  }
});
