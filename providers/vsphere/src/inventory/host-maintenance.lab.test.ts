/** Maintenance of hosts on govmomi's simulator: `make e2e-vsphere`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance, NodeRef, ProviderHost } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import { HttpClient, soapError, soapFormat, xmlChild, type XmlElement } from '@outrigger/provider-kit';
import { LabVcenter, startLabOrSkip } from '../../lab/lab.ts';
import { signInWith } from '../client/sign-in.ts';
import { referenceTo, soapErrors, managedObjectIn } from '../client/soap.ts';
import { VimClient, VimRequests } from '../client/vim-client.ts';
import { createVsphereProvider } from '../vsphere-provider.ts';
import type { ManagedObject } from './vcenter.ts';

const ENTER = 'HostSystem.enterMaintenanceMode';

test('a host that enters maintenance mode, and one that is in it, are told of its machines, by no more calls', async (t) => {
  const [lab] = (await startLabOrSkip(t, [{ hosts: 2, machines: 4 }])) ?? [];
  if (!lab) return;
  const tagged = await lab.objects('Datacenter');
  assert.ok(tagged[0]);
  await lab.tag(tagged[0], 'k8s-zone', 'zone-1');
  await lab.tag(tagged[0], 'k8s-region', 'region-1');
  const machines = await lab.machines();
  const [first, elsewhere] = machines;
  assert.ok(first && elsewhere);
  const other = (await lab.objects('HostSystem')).find(({ reference }) => reference !== first.host);
  assert.ok(other);
  // The simulator puts each machine on any host: now and then all on one.
  await lab.migrate(elsewhere.reference, other.reference);
  for (const { address, reference } of machines) {
    const nics = [{ network: 'VM Network', addresses: [{ address, prefixLength: 24 }] }];
    await lab.setGuest(reference, { hostName: 'kubernetes.default.svc', ipAddress: address, nics });
  }

  let host: ProviderHost | undefined;
  const provider = createVsphereProvider({ environment: { env: {}, workingDirectory: '/nowhere' } });
  await using opened = await openProvider(
    {
      name: provider.name,
      open: (given) => {
        host = given;
        return provider.open(given);
      },
      close: () => provider.close(),
    },
    {
      cluster: { id: 'cluster-1', name: 'test' },
      clock: systemClock,
      logger: silentLogger,
      random: () => 0.5,
      config: {
        fileName: 'cloud.conf',
        text: LabVcenter.config([lab], '[Labels]\nzone = k8s-zone\nregion = k8s-region\n'),
      },
    },
  );
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 1 });
  const refOf = ({ biosUuid, name }: { readonly biosUuid: string; readonly name: string }): NodeRef => ({
    name: name.toLowerCase(),
    uid: name,
    providerID: `vsphere://${biosUuid}`,
    labels: {},
    annotations: {},
  });
  const lookUp = async (): Promise<readonly Instance[]> => {
    const answers = await opened.capabilities.instances?.lookUp([first, elsewhere].map(refOf), 'metadata', call);
    return (answers ?? []).map(({ result }) => (result.kind === 'found' ? result.instance : assert.fail(result.kind)));
  };
  const callsOf = async (): Promise<readonly string[]> => {
    await lab.calls(true);
    await lookUp();
    // Some are sent at the same time.
    return (await lab.calls()).map(({ method }) => method).toSorted();
  };

  const before = await lookUp();
  assert.deepEqual(
    before.map(({ addressesBy, maintenance, name }) => [name, addressesBy, maintenance]),
    [first, elsewhere].map(({ name }) => [name, 'guest', undefined]),
  );
  const calls = await callsOf();

  assert.ok(host);
  const vim = new VimRequests(
    new HttpClient({
      host,
      cloud: 'vCenter',
      root: `https://127.0.0.1:${lab.port}`,
      format: soapFormat,
      errorOf: soapError,
      errors: soapErrors,
      tls: { rejectUnauthorized: false },
    }),
  );
  const credentials = { kind: 'user', user: lab.user, password: lab.password } as const;
  const issue = (): Promise<string> => Promise.reject(new Error('no token'));
  const client = new VimClient({
    host,
    requests: vim,
    signIn: signInWith({ credentials, host, vim, issue, tickets: undefined }),
  });
  const session = await client.session(call);
  const ask = (method: string, target: ManagedObject, args: XmlElement): Promise<unknown> =>
    session.request(call, method, target, args, { idempotent: false });
  const ofHost = { type: 'HostSystem', reference: first.host };

  // Tasks of the simulator end at once: one that lasts is made as an extension makes it.
  const text = { label: '', summary: '' };
  await ask(
    'RegisterExtension',
    { type: 'ExtensionManager', reference: 'ExtensionManager' },
    {
      extension: {
        description: text,
        key: 'test',
        version: '1',
        taskList: { taskID: ENTER },
        lastHeartbeatTime: '2026-01-01T00:00:00Z',
      },
    },
  );
  const made = await ask(
    'CreateTask',
    { type: 'TaskManager', reference: 'TaskManager' },
    {
      obj: referenceTo(ofHost),
      taskTypeId: ENTER,
      cancelable: false,
    },
  );
  const task = managedObjectIn(xmlChild(made, 'returnval', 'task'));
  assert.ok(task);
  const told = async (): Promise<unknown> => (await lookUp()).map(({ maintenance }) => maintenance);
  const planned = { state: 'planned', reason: 'its host enters maintenance mode' };
  const untilTold = async (isThere = true): Promise<unknown> => {
    // It is there, or gone, some moments after it was answered.
    for (let turn = 0; turn < 1_500 && ((await lookUp())[0]?.maintenance !== undefined) !== isThere; turn++) {
      await systemClock.sleep(20);
    }
    return told();
  };
  assert.deepEqual(await untilTold(), [planned, undefined], 'queued');
  await ask('SetTaskState', task, { state: 'running' });
  assert.deepEqual(await told(), [planned, undefined], 'running');
  await ask('SetTaskState', task, { state: 'success' });
  assert.deepEqual(await untilTold(false), [undefined, undefined], 'ended');

  await ask('EnterMaintenanceMode_Task', ofHost, { timeout: 0 });
  assert.deepEqual(await untilTold(), [{ state: 'in-progress', reason: 'its host is in maintenance mode' }, undefined]);
  assert.deepEqual(await callsOf(), calls);
  await client.close(call, 5_000);
});
