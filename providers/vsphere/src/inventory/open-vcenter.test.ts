// Over 400 lines: one rig, and one test for each way in which a vCenter's sessions and answers can fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CallContext, type CloudErrorShape } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { FakeClock } from '@outrigger/testing';
import { fault, FakeVim } from '../../fake/fake-vim.ts';
import { openedHost } from '../../../../packages/provider-kit/src/opened-host.suite.ts';
import { openVcenter, type OpenVcenterOptions } from './open-vcenter.ts';
import type { InventoryChange, Vcenter } from './vcenter.ts';

interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly vim: FakeVim;
  readonly vcenter: Vcenter;
  readonly opened: OpenedProvider;
  readonly call: CallContext;
}

async function rig(settings: Partial<OpenVcenterOptions['settings']> = {}): Promise<Rig> {
  const clock = new FakeClock();
  const { host, opened } = await openedHost(clock);
  const vim = new FakeVim(clock);
  for (let number = 1; number <= 5; number++)
    vim.machines.set(`vm-${number}`, { name: `node-${number}`, uuid: uuid(number) });
  const vcenter = openVcenter({
    host,
    settings: {
      server: 'vc.example',
      port: 443,
      credentials: { kind: 'user', user: 'user', password: 'pass' },
      insecure: false,
      ...settings,
    },
    fetch: vim.fetch,
  });
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 1 });
  return { clock, vim, vcenter, opened, call, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

const uuid = (number: number): string => `00000000-0000-0000-0000-00000000000${number}`;

async function errorOf(promise: Promise<unknown>): Promise<CloudErrorShape> {
  const error = await promise.then(
    () => assert.fail('it did not fail'),
    (cause: unknown) => cause,
  );
  assert.ok(isCloudError(error), String(error));
  return error;
}

test('one login serves all callers, and one view all lists', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  const lists = await Promise.all([1, 2, 3].map(() => vcenter.findByUuid(uuid(2), call)));
  assert.deepEqual(lists, [['vm-2'], ['vm-2'], ['vm-2']]);
  await Promise.all([1, 2].map(() => vcenter.machines(call)));
  await vcenter.machines(call);
  assert.deepEqual(vim.asked, [
    'RetrieveServiceContent',
    'Login',
    'FindAllByUuid',
    'FindAllByUuid',
    'FindAllByUuid',
    'CreateContainerView',
    'RetrievePropertiesEx',
    'RetrievePropertiesEx',
    'RetrievePropertiesEx',
  ]);
  await vcenter.close();
  assert.equal(vim.sessions, 0);
});

test('sessions are given back once, also when the calls of the host have ended already; a wait holds nothing up', async () => {
  await using one = await rig();
  const { call, clock, opened, vcenter, vim } = one;
  await vcenter.tags([{ type: 'HostSystem', reference: 'host-1' }], ['zone'], call);
  assert.deepEqual([vim.sessions, vim.restSessions.size], [1, 1]);
  const background = opened.callContext({ signal: new AbortController().signal, priority: 'background', reads: true });
  const followed = (async () => {
    for await (const change of vcenter.changes(background)) assert.fail(JSON.stringify(change));
  })();
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(vim.asked.at(-1), 'WaitForUpdatesEx');
  vim.before = (method) => (method === 'Logout' ? { status: 503, text: '' } : undefined);
  await vcenter.close();
  await followed;
  assert.deepEqual([vim.sessions, vim.restSessions.size], [1, 0]);
  assert.ok(vim.asked.includes('Logout'));
  await opened[Symbol.asyncDispose]();
  vim.asked.length = 0;
  await vcenter.close();
  await clock.advance(10_000);
  assert.deepEqual(vim.asked, []);
  await using late = await rig();
  await late.vcenter.identify(late.call);
  await late.opened[Symbol.asyncDispose]();
  await late.vcenter.close();
  assert.equal(late.vim.sessions, 0);
});

test('a logout that is not answered is given up after 5 s', async () => {
  await using one = await rig();
  const { call, clock, vcenter, vim } = one;
  await vcenter.tags([{ type: 'HostSystem', reference: 'host-1' }], ['zone'], call);
  vim.isSilent = true;
  let isClosed = false;
  const closing = vcenter.close().then(() => (isClosed = true));
  await clock.advance(4_900);
  assert.equal(isClosed, false);
  await clock.advance(100);
  await closing;
  assert.deepEqual([vim.sessions, vim.restSessions.size], [1, 1]);
});

test('nobody logs in again while it is being closed', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  await vcenter.identify(call);
  const late: Promise<CloudErrorShape>[] = [];
  const { before } = vim;
  vim.before = (method, body) => {
    if (method === 'Logout') {
      vim.endSessions();
      const tags = vcenter.tags([{ type: 'HostSystem', reference: 'host-1' }], ['zone'], call);
      late.push(errorOf(vcenter.findByUuid(uuid(9), call)), errorOf(tags));
    }
    return before(method, body);
  };
  await vcenter.close();
  for (const error of await Promise.all(late)) assert.equal(error.code, 'unavailable');
  assert.equal(late.length, 2);
  assert.equal(vim.asked.filter((name) => name === 'Login').length, 1);
  assert.deepEqual([vim.sessions, vim.restSessions.size], [0, 0]);
});

test('an address that leads to one vCenter now and to another then says nothing against a machine', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  const first = vim.identity;
  await vcenter.identify(call);
  vim.identity = 'bbbbbbbb-0000-0000-0000-00000000000b';
  for (const ask of [
    () => vcenter.findByUuid(uuid(9), call),
    () => vcenter.machine('vm-9', call),
    () => vcenter.identify(call),
  ]) {
    const error = await errorOf(ask());
    assert.equal(error.code, 'configuration');
    assert.match(error.message, /was aaaaaaaa-.* and is now bbbbbbbb-/u);
  }
  vim.identity = first;
  assert.equal(await vcenter.machine('vm-9', call), 'gone');
});

test('a list is read page by page; a session that ends in the middle of it is replaced, and the list is begun anew', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  vim.mostObjects = 2;
  let ends = 1;
  vim.before = (method) => {
    if (method === 'ContinueRetrievePropertiesEx' && ends-- > 0) vim.endSessions();
  };
  const { machines, withheld } = await vcenter.machines(call);
  assert.deepEqual(
    machines.map(({ name, reference }) => [reference, name]),
    [1, 2, 3, 4, 5].map((number) => [`vm-${number}`, `node-${number}`]),
  );
  assert.deepEqual(withheld, []);
  assert.equal(vim.asked.filter((one) => one === 'Login').length, 2);
  // It ends each time: nothing is concluded, and it does not go on for ever.
  ends = Infinity;
  const error = await errorOf(vcenter.machines(call));
  assert.equal(error.code, 'unavailable');
  assert.match(error.message, /ended twice/u);
});

test('a page that is lost, refused or repeated makes the list fail, and never shorter', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  vim.mostObjects = 2;
  const page = 'ContinueRetrievePropertiesEx';
  const again = (token: string): string =>
    `<e:Envelope xmlns:e="x"><e:Body><${page}Response><returnval><token>${token}</token></returnval></${page}Response></e:Body></e:Envelope>`;
  for (const lost of [
    { status: 503, text: '' },
    fault('InvalidProperty'),
    fault('SystemError'),
    { text: again('t') },
  ]) {
    vim.before = (method) => (method === page ? lost : undefined);
    await errorOf(vcenter.machines(call));
  }
  vim.before = () => undefined;
  assert.equal((await vcenter.machines(call)).machines.length, 5);
});

test('what a session that has ended says of a view, of a machine and of a search is never taken for an answer', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  await vcenter.machines(call);
  for (const ask of [
    async () => assert.equal((await vcenter.machines(call)).machines.length, 5),
    async () => assert.notEqual(await vcenter.machine('vm-3', call), 'gone'),
    async () => assert.deepEqual(await vcenter.findByUuid(uuid(3), call), ['vm-3']),
    async () => assert.equal(await vcenter.identify(call), 'aaaaaaaa-0000-0000-0000-00000000000a'),
    async () => assert.equal(await vcenter.machine('vm-9', call), 'gone'),
    async () => assert.deepEqual(await vcenter.findByUuid(uuid(9), call), []),
  ]) {
    vim.endSessions();
    await ask();
    assert.equal(vim.sessions, 1);
  }
});

test('gone and not found are said by a session that is still there afterwards', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  let checks = 0;
  vim.before = (method, body) => {
    if (method !== 'RetrievePropertiesEx' || !body.includes('currentSession')) return;
    // After the answer, before the check.
    if (checks++ === 0) vim.endSessions();
  };
  assert.equal(await vcenter.machine('vm-9', call), 'gone');
  assert.equal(checks, 2, 'it was asked anew, and checked again');
  checks = 0;
  assert.deepEqual(await vcenter.findByUuid(uuid(9), call), []);
  assert.equal(checks, 2);
  checks = -Infinity;
  vim.before = (method, body) => {
    if (method === 'RetrievePropertiesEx' && body.includes('currentSession')) vim.endSessions();
  };
  assert.equal((await errorOf(vcenter.machine('vm-9', call))).code, 'unavailable');
  assert.equal((await errorOf(vcenter.findByUuid(uuid(9), call))).code, 'unavailable');
});

test('not found is a machine alone of which vCenter says it by name', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  const says = (obj: string) => (): ReturnType<FakeVim['before']> => fault('ManagedObjectNotFound', obj);
  await vcenter.identify(call);
  for (const obj of ['<obj type="VirtualMachine">vm-4</obj>', '', '<obj type="Folder">group-1</obj>']) {
    vim.before = says(obj);
    await assert.rejects(vcenter.machine('vm-9', call), (error) => isCloudError(error, 'not-found'));
  }
  vim.before = () => ({ text: '<html><body>proxy</body></html>' });
  assert.equal((await errorOf(vcenter.machine('vm-9', call))).code, 'unavailable');
  vim.before = () => ({ status: 404, text: '' });
  assert.equal((await errorOf(vcenter.machine('vm-9', call))).code, 'unavailable');
  vim.before = (method) =>
    method === 'RetrievePropertiesEx'
      ? { text: '<e:Envelope xmlns:e="x"><e:Body><RetrievePropertiesExResponse/></e:Body></e:Envelope>' }
      : undefined;
  assert.equal((await errorOf(vcenter.machine('vm-1', call))).code, 'unavailable');
});

test('what may not be read is withheld from a list with the reason, and refused by itself', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  vim.machines.set('vm-2', { name: 'node-2', missing: { 'config.uuid': 'NoPermission', 'guest.net': 'NoPermission' } });
  vim.machines.set('vm-3', { name: 'node-3', missing: { 'runtime.host': 'HostCommunication' } });
  const { machines, withheld } = await vcenter.machines(call);
  assert.deepEqual(
    machines.map(({ reference }) => reference),
    ['vm-1', 'vm-4', 'vm-5'],
  );
  assert.deepEqual(withheld, [
    { reference: 'vm-2', fault: 'NoPermission' },
    { reference: 'vm-3', fault: 'HostCommunication' },
  ]);
  assert.equal((await errorOf(vcenter.machine('vm-2', call))).code, 'forbidden');
  assert.equal((await errorOf(vcenter.machine('vm-3', call))).code, 'unavailable');
});

test('a wrong password is not tried again and again: first two minutes apart, then ever less often', async () => {
  await using one = await rig();
  const { call, clock, vcenter, vim } = one;
  vim.password = 'another';
  const logins = (): number => vim.asked.filter((name) => name === 'Login').length;
  const asks = async (): Promise<void> => {
    for (const ask of [
      () => vcenter.identify(call),
      () => vcenter.tags([], ['zone'], call).then(() => vcenter.machines(call)),
    ]) {
      const error = await errorOf(ask());
      assert.equal(error.code, 'unauthenticated');
      assert.doesNotMatch(error.message, /pass\b/u);
    }
  };
  await asks();
  assert.equal(logins(), 1);
  await clock.advance(119_000);
  await asks();
  assert.equal(logins(), 1);
  await clock.advance(2_000);
  await asks();
  assert.equal(logins(), 2);
  await clock.advance(180_000);
  await asks();
  assert.equal(logins(), 2, 'four minutes the second time');
  vim.password = 'pass';
  await clock.advance(61_000);
  assert.equal((await vcenter.machines(call)).machines.length, 5);
});

test('faults are told apart by their codes', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  await vcenter.identify(call);
  for (const [name, code] of [
    ['NoPermission', 'forbidden'],
    ['InvalidArgument', 'invalid'],
    ['NotSupported', 'unsupported'],
    ['MethodNotFound', 'unsupported'],
    ['RequestCanceled', 'timeout'],
    ['HostCommunication', 'unavailable'],
    ['SystemError', 'unavailable'],
  ] as const) {
    vim.before = () => fault(name);
    const error = await errorOf(vcenter.findByUuid(uuid(1), call));
    assert.deepEqual([error.code, error.message.includes(`it was ${name}`)], [code, true], name);
  }
});

test('a machine is read as it is: nics, prefixes, guest info, absent as absent', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  const nic = (inner: string): string => `<GuestNicInfo>${inner}</GuestNicInfo>`;
  vim.machines.set('vm-7', {
    name: 'a &#34;b&#34; &amp; c',
    uuid: 'ABCDEF00-0000-0000-0000-000000000007',
    power: 'poweredOff',
    more: {
      'config.template': 'false',
      'summary.config.numCpu': '4',
      'summary.config.memorySizeMB': '8192',
      'runtime.host': 'host-1',
      parent: 'group-v1',
      'config.extraConfig["guestinfo.metadata"]':
        '<key>guestinfo.metadata</key><value xsi:type="xsd:string">{&#34;a&#34;:1}</value>',
      'guest.net':
        nic(
          '<network>VM Network</network><ipAddress>10.0.0.7</ipAddress><ipAddress>fe80::7</ipAddress><macAddress>00:50:56:00:00:07</macAddress>' +
            '<connected>true</connected><deviceConfigId>4000</deviceConfigId><ipConfig><ipAddress><ipAddress>10.0.0.7</ipAddress>' +
            '<prefixLength>24</prefixLength><state>preferred</state></ipAddress><ipAddress><ipAddress>fe80::7</ipAddress>' +
            '<prefixLength>64</prefixLength></ipAddress></ipConfig>',
        ) + nic('<ipAddress>172.17.0.1</ipAddress><connected>false</connected><deviceConfigId>-1</deviceConfigId>'),
    },
  });
  const expected = {
    reference: 'vm-7',
    name: 'a "b" & c',
    biosUuid: 'abcdef00-0000-0000-0000-000000000007',
    isTemplate: false,
    connectionState: 'connected',
    powerState: 'poweredOff',
    guestId: undefined,
    guestHostName: undefined,
    nics: [
      {
        network: 'VM Network',
        deviceConfigId: 4000,
        addresses: ['10.0.0.7', 'fe80::7'],
      },
      {
        network: undefined,
        deviceConfigId: -1,
        addresses: ['172.17.0.1'],
      },
    ],
    cpus: 4,
    memoryMB: 8192,
    host: 'host-1',
    resourcePool: undefined,
    parent: 'group-v1',
    guestInfo: { 'guestinfo.metadata': '{"a":1}' },
  };
  assert.deepEqual(await vcenter.machine('vm-7', call), expected);
  // A vCenter that gives no single keys is asked for all of them.
  vim.refusesKeys = true;
  vim.machines.set('vm-7', {
    ...(vim.machines.get('vm-7') as { name: string }),
    more: {
      'config.extraConfig':
        '<OptionValue><key>guestinfo.metadata</key><value>x</value></OptionValue><OptionValue><key>other</key><value>y</value></OptionValue>',
    },
  });
  const machine = await vcenter.machine('vm-7', call);
  assert.deepEqual(machine !== 'gone' && machine.guestInfo, { 'guestinfo.metadata': 'x' });
  const { machines } = await vcenter.machines(call);
  assert.equal(machines.length, 6);
});

test('a session manager gives a ticket, and the token service a token: both are logins', async () => {
  const tickets: string[] = [];
  {
    await using one = await rig({
      credentials: { kind: 'session-manager', url: 'https://sessions.example/a?b=c', token: 'bearer-token' },
    });
    one.vim.before = (method, body) => {
      if (method === 'GET /a?b=c') return { text: '{"token":"ticket-1"}' };
      if (method === 'CloneSession') tickets.push(/<cloneTicket>(.*)<\/cloneTicket>/u.exec(body)?.[1] ?? '');
      return undefined;
    };
    await one.vcenter.identify(one.call);
    assert.deepEqual(tickets, ['ticket-1']);
    assert.equal(one.vim.headers[1]?.['authorization'], 'Bearer bearer-token');
    assert.ok(one.vim.headers.every((headers, index) => index === 1 || headers['authorization'] === undefined));
    const tags = one.vcenter.tags([{ type: 'HostSystem', reference: 'host-1' }], ['zone'], one.call);
    assert.equal((await errorOf(tags)).code, 'unsupported');
  }
  const wrong = { kind: 'certificate', certificate: 'no PEM', privateKey: 'none' } as const;
  await assert.rejects(rig({ credentials: wrong }), (error) => isCloudError(error, 'configuration'));
  await assert.rejects(rig({ caFile: '/nowhere/ca.pem' }), (error) => isCloudError(error, 'configuration'));
});

test('tags come in one request for many objects; what is known of them is not asked again until it may have changed', async () => {
  await using one = await rig();
  const { call, clock, vcenter, vim } = one;
  vim.tags.set('t1', ['zone-a', 'k8s-zone']);
  vim.tags.set('t2', ['nightly', 'backup']);
  vim.attached.set('host-1', ['t1', 't2']);
  vim.attached.set('host-2', ['t1', 'deleted']);
  const objects = ['host-1', 'host-2', 'host-3'].map((reference) => ({ type: 'HostSystem', reference }));
  const ask = async (): Promise<unknown> => Object.fromEntries(await vcenter.tags(objects, ['k8s-zone'], call));
  const expected = {
    'host-1': [{ category: 'k8s-zone', name: 'zone-a' }],
    'host-2': [{ category: 'k8s-zone', name: 'zone-a' }],
    'host-3': [],
  };
  assert.deepEqual(await ask(), expected);
  vim.tags.set('t1', ['zone-b', 'k8s-zone']);
  vim.asked.length = 0;
  vim.attached.set('host-2', []);
  assert.deepEqual(await ask(), { ...expected, 'host-2': [] });
  assert.deepEqual(vim.asked, [
    'POST /rest/com/vmware/cis/tagging/tag-association?%7Eaction=list-attached-tags-on-objects',
  ]);
  vim.endSessions();
  await clock.advance(600_000);
  const old = await vcenter.tags(objects, ['k8s-zone'], call, { oldNames: true });
  assert.deepEqual(Object.fromEntries(old), { ...expected, 'host-2': [] });
  assert.deepEqual(await ask(), { ...expected, 'host-1': [{ category: 'k8s-zone', name: 'zone-b' }], 'host-2': [] });
  assert.deepEqual(await vcenter.tags(objects, [], call), new Map(objects.map(({ reference }) => [reference, []])));
  assert.equal(vim.restSessions.size, 1);
  await vcenter.close();
  assert.deepEqual([vim.restSessions.size, vim.sessions], [0, 0]);
});

test('a tag and a category of many objects are read once, by the newer API where it is', async () => {
  await using one = await rig();
  const { call, vcenter, vim } = one;
  const answers: Readonly<Record<string, unknown>> = {
    'POST /api/session': 'session-1',
    'POST /api/cis/tagging/tag-association?action=list-attached-tags-on-objects': ['host-1', 'host-2'].map((id) => ({
      object_id: { id },
      tag_ids: ['t1', 't2'],
    })),
    'GET /api/cis/tagging/tag/t1': { name: 'zone-a', category_id: 'c1' },
    'GET /api/cis/tagging/tag/t2': { name: 'zone-b', category_id: 'c1' },
    'GET /api/cis/tagging/category/c1': { name: 'k8s-zone' },
    'DELETE /api/session': '',
  };
  vim.before = (operation) =>
    operation in answers ? { text: JSON.stringify(answers[operation]), status: 200 } : undefined;
  const objects = ['host-1', 'host-2'].map((reference) => ({ type: 'HostSystem', reference }));
  const tags = ['zone-a', 'zone-b'].map((name) => ({ category: 'k8s-zone', name }));
  assert.deepEqual(
    await vcenter.tags(objects, ['k8s-zone'], call),
    new Map(objects.map(({ reference }) => [reference, tags])),
  );
  assert.deepEqual(
    vim.asked.filter((name) => name.includes('/')),
    Object.keys(answers).slice(0, 5),
  );
  await vcenter.close();
  assert.equal(vim.asked.at(-1), 'DELETE /api/session');
});

test('changes are told as they come, also across the end of a session; machines as they were at first are none', async () => {
  await using one = await rig();
  const { clock, opened, vcenter, vim } = one;
  const stop = new AbortController();
  const heard: InventoryChange[] = [];
  const over = (async () => {
    const call = opened.callContext({ signal: stop.signal, priority: 'background', reads: true });
    for await (const change of vcenter.changes(call)) heard.push(change);
  })();
  const until = async (done: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 500 && !done(); turn++) {
      await clock.advance(10);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    assert.ok(done(), JSON.stringify([heard, vim.asked.slice(-5)]));
  };
  const waits = (): number => vim.asked.filter((name) => name === 'WaitForUpdatesEx').length;
  await until(() => waits() === 3);
  assert.deepEqual(heard, []);
  vim.change('vm-2', 'modify');
  vim.change('vm-3', 'leave');
  await until(() => heard.length === 2);
  assert.deepEqual(heard, [
    { reference: 'vm-2', kind: 'modify' },
    { reference: 'vm-3', kind: 'leave' },
  ]);
  await until(() => waits() === 4);
  // It ends while nothing is heard: what happened in between is not known.
  vim.before = (method) => {
    if (method !== 'WaitForUpdatesEx') return;
    vim.before = () => undefined;
    vim.endSessions();
  };
  vim.change('vm-4', 'enter');
  await until(() => heard.length >= 4);
  assert.deepEqual(heard.slice(3), [{ kind: 'modify' }]);
  await until(() => waits() >= 8);
  vim.before = (method) => {
    if (method !== 'WaitForUpdatesEx') return undefined;
    vim.before = () => undefined;
    return fault('InvalidCollectorVersion');
  };
  vim.change('vm-1', 'modify');
  await until(() => heard.length === 6);
  // However much changes, vCenter is asked once a second.
  const before = waits();
  for (let change = 0; change < 100; change++) {
    vim.change('vm-1', 'modify');
    await clock.advance(50);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  assert.ok(waits() - before >= 4 && waits() - before <= 7, String(waits() - before));
  await clock.advance(1);
  stop.abort();
  await over;
  await until(() => vim.asked.at(-1) === 'DestroyPropertyCollector');
});

test('a wait that is cut on its way goes on from where it was, for half as long each time', async () => {
  await using one = await rig();
  const { clock, opened, vcenter, vim } = one;
  const stop = new AbortController();
  const heard: InventoryChange[] = [];
  const waits: string[] = [];
  vim.longestSilence = 300;
  vim.before = (method, body) => {
    if (method === 'WaitForUpdatesEx')
      waits.push([...body.matchAll(/>(\d+)</gu)].map(([, number]) => number).join(' for '));
  };
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => void setImmediate(resolve));
  };
  const over = (async () => {
    const call = opened.callContext({ signal: stop.signal, priority: 'background', reads: true });
    for await (const change of vcenter.changes(call)) heard.push(change);
  })();
  await turns();
  for (let times = 0; times < 4; times++) {
    await clock.advance(300_000);
    await turns();
  }
  vim.change('vm-1', 'modify');
  await turns();
  assert.deepEqual(waits, [
    '0',
    '1 for 0',
    '2 for 900',
    '2 for 450',
    '2 for 225',
    '3 for 225',
    '4 for 225',
    '5 for 225',
  ]);
  assert.deepEqual(heard, [{ reference: 'vm-1', kind: 'modify' }]);
  stop.abort();
  await over;
});

test('an idle hour costs a wait each quarter of it, and no other request', async () => {
  await using one = await rig();
  const { clock, opened, vcenter, vim } = one;
  const stop = new AbortController();
  const over = (async () => {
    const call = opened.callContext({ signal: stop.signal, priority: 'background', reads: true });
    for await (const change of vcenter.changes(call)) void change;
  })();
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => void setImmediate(resolve));
  const before = vim.asked.length;
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => void setImmediate(resolve));
  }
  assert.ok(vim.asked.length - before <= 4, JSON.stringify(vim.asked.slice(before)));
  stop.abort();
  await over;
});
