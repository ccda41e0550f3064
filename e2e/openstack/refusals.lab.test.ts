/**
 * What a cloud refuses: a quota of octavia, of neutron, of nova, and a password. Each is one clear Event, nothing is made and
 * deleted again meanwhile, and when it is put right the Service is served.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { idOf } from './lab-machines.ts';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { serviceOf } from './service-cases.ts';

const WRONG_PASSWORD = 'wrong-password-of-the-lab';
/** For so long nothing may be made, deleted or told anew. */
const QUIET_MS = 20_000;

const plain = (name: string): ReturnType<typeof serviceOf> => serviceOf({ name, listeners: [] }, '');

test('services that the cloud refuses', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab, manager } = cluster;
  const services = new LabServices(cluster);
  const [server] = await cluster.join('lab-refused-1');
  assert.ok(server);
  await cluster.until(
    'the node is initialised',
    async () => (await cluster.node('lab-refused-1'))?.spec?.providerID !== undefined,
  );
  const before = await listProject(lab.user);
  const projectId = await lab.user.projectId();

  /** The one Warning about the Service, when what is there has been the same for a while. */
  const onlyWarning = async (name: string): Promise<string> => {
    const warnings = (): Promise<readonly string[]> => cluster.eventsAbout(name, 'Service', 'Warning');
    await cluster.until(`${name} has a Warning`, async () => (await warnings()).length > 0);
    // A floating IP is refused while Octavia is still at work on the load balancer, whose ports come and change until then.
    await cluster.until(`octavia is done with ${name}`, async () =>
      (await services.statuses(name)).every((status) => !status.startsWith('PENDING')),
    );
    const began = systemClock.monotonic();
    const held = await listProject(lab.user);
    while (systemClock.monotonic() < began + QUIET_MS) {
      assert.deepEqual(differenceOf(held, await listProject(lab.user)), [], 'made or deleted meanwhile');
      await systemClock.sleep(1_000);
    }
    const told = await warnings();
    assert.equal(told.length, 1, told.join('\n'));
    return told[0] ?? '';
  };
  const isServedAndLeavesNothing = async (name: string): Promise<void> => {
    // It is tried again after the longest delay, or when the Service changes.
    await services.patch(name, { metadata: { annotations: { example: 'put right' } } });
    const addresses = await services.untilServed(name);
    assert.deepEqual(addresses, [(await services.untilActive(name)).floatingIP]);
    await services.delete(name);
    assert.deepEqual(differenceOf(before, await listProject(lab.user)), []);
  };

  await t.test('octavia: no more load balancers', async () => {
    const path = `/quotas/${projectId}`;
    await lab.admin.request('load-balancer', 'PUT', path, { body: { quota: { load_balancer: 0 } } });
    try {
      await services.create(plain('no-load-balancer'));
      assert.match(await onlyWarning('no-load-balancer'), /octavia.*quota|quota.*octavia/iu);
    } finally {
      await lab.admin.request('load-balancer', 'DELETE', path);
    }
    await isServedAndLeavesNothing('no-load-balancer');
  });

  for (const [what, quota] of [
    ['no more floating IPs', 'floatingip'],
    ['no more ports', 'port'],
  ] as const) {
    await t.test(`neutron: ${what}`, async () => {
      const name = `no-${quota}`;
      const path = `/quotas/${projectId}`;
      await lab.admin.request('network', 'PUT', path, { body: { quota: { [quota]: 0 } } });
      try {
        await services.create(plain(name));
        assert.match(await onlyWarning(name), /quota/iu);
      } finally {
        await lab.admin.request('network', 'DELETE', path);
      }
      await isServedAndLeavesNothing(name);
    });
  }

  await t.test('nova: no more servers, of which octavia would make the load balancer', async () => {
    const projects = await lab.admin.list<{ readonly id: string; readonly name: string }>('identity', '/projects');
    const path = `/os-quota-sets/${idOf(projects, 'service')}`;
    await lab.admin.request('compute', 'PUT', path, { body: { quota_set: { instances: 0, force: true } } });
    try {
      await services.create(plain('no-server'));
      assert.match(await onlyWarning('no-server'), /ERROR/u);
    } finally {
      await lab.admin.request('compute', 'DELETE', path);
    }
    await isServedAndLeavesNothing('no-server');
  });

  await t.test('keystone: a wrong password, which is told nowhere, and put right without a restart', async () => {
    await manager.end('SIGTERM');
    await cluster.configure({ password: WRONG_PASSWORD });
    manager.start();
    await services.create(plain('no-password'));
    const warning = await onlyWarning('no-password');
    assert.match(warning, /keystone/iu);
    const told = [await readFile(cluster.log, 'utf8'), warning];
    assert.ok(told.every((text) => !text.includes(WRONG_PASSWORD)));
    await cluster.configure({});
    await cluster.until('the file is read', async () =>
      (await readFile(cluster.log, 'utf8')).includes('"File reloaded"'),
    );
    await isServedAndLeavesNothing('no-password');
  });
});
