/** The client against govmomi's simulator: `make e2e-vsphere`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { systemClock } from '@outrigger/kube';
import { LabVcenter } from '../../lab/lab.ts';
import { openedHost } from '../../../../packages/provider-kit/src/opened-host.suite.ts';
import { openVcenter, type OpenVcenterOptions } from './open-vcenter.ts';
import type { InventoryChange, Vcenter } from './vcenter.ts';

let lab: LabVcenter;
let folder: string;

before(async () => {
  // More than a page.
  lab = await LabVcenter.start({ machines: 130, datacenters: 2, folders: 1 });
  folder = await mkdtemp(join(tmpdir(), 'vsphere-client-'));
});

after(async () => {
  await lab[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Rig extends AsyncDisposable {
  readonly vcenter: Vcenter;
  readonly opened: OpenedProvider;
  readonly call: CallContext;
}

async function rig(settings: Partial<OpenVcenterOptions['settings']> = {}): Promise<Rig> {
  const { host, opened } = await openedHost(systemClock, { random: () => 0.5 });
  const vcenter = openVcenter({
    host,
    settings: {
      server: '127.0.0.1',
      port: lab.port,
      credentials: { kind: 'user', user: lab.user, password: lab.password },
      insecure: true,
      ...settings,
    },
  });
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 1 });
  return {
    vcenter,
    opened,
    call,
    [Symbol.asyncDispose]: async () => {
      await vcenter.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

test(
  'the whole inventory is read in one request a page, and the session is given back',
  { timeout: 300_000 },
  async () => {
    {
      await using one = await rig();
      const { call, vcenter } = one;
      assert.equal(await vcenter.identify(call), lab.instanceUuid);
      const { machines, withheld } = await vcenter.machines(call);
      const there = await lab.machines();
      const order = (a: string, b: string): number => a.localeCompare(b);
      assert.deepEqual(
        machines.map(({ biosUuid, name, reference }) => `${reference} ${name} ${biosUuid}`).toSorted(order),
        there.map(({ biosUuid, name, reference }) => `${reference} ${name} ${biosUuid}`).toSorted(order),
      );
      assert.deepEqual(withheld, []);
      await lab.calls(true);
      await vcenter.machines(call);
      assert.deepEqual(
        (await lab.calls()).map(({ method }) => method),
        ['RetrievePropertiesEx', 'ContinueRetrievePropertiesEx'],
      );
      const [first] = there;
      assert.ok(first);
      assert.deepEqual(await vcenter.findByUuid(first.biosUuid, call), [first.reference]);
      const around = await vcenter.surroundings(call);
      for (const object of await lab.objects()) {
        const { name, type } = around.get(object.reference) ?? {};
        assert.deepEqual([type, name], [object.type, object.name]);
      }
      await lab.calls(true);
      const { machines: same, surroundings } = await vcenter.machines(call, { surroundings: true });
      assert.deepEqual(same, machines);
      assert.deepEqual(surroundings, around);
      const pages = new Set((await lab.calls(true)).map(({ method }) => method));
      assert.deepEqual([...pages], ['RetrievePropertiesEx', 'ContinueRetrievePropertiesEx']);
      const datacenters = (await lab.objects('Datacenter')).map(({ name }) => name);
      const inAll = await vcenter.machines(call, { datacenters, surroundings: true });
      assert.deepEqual([inAll.machines.length, inAll.surroundings], [machines.length, around]);
      const views = (await lab.calls(true)).map(({ method }) => method);
      assert.equal(views.filter((method) => method === 'CreateContainerView').length, 2);
      assert.equal(views.filter((method) => method === 'RetrievePropertiesEx').length, 3, 'what is around once');
      const parts = await Promise.all(datacenters.map((name) => vcenter.machines(call, { datacenters: [name] })));
      assert.deepEqual(
        parts.flatMap((part) => part.machines.map(({ reference }) => reference)).toSorted(order),
        there.map(({ reference }) => reference).toSorted(order),
      );
      assert.ok(parts.every((part) => part.machines.length > 0));
    }
    assert.deepEqual(await lab.sessions(), { soap: 0, rest: 0 });
  },
);

test('sessions that are ended in the middle of any answer change none', { timeout: 300_000 }, async () => {
  await using one = await rig();
  const { call, vcenter } = one;
  const [machine] = await lab.machines();
  assert.ok(machine);
  const { biosUuid, reference } = machine;
  const asks: [string, () => Promise<unknown>, unknown][] = [
    ['ContinueRetrievePropertiesEx', async () => (await vcenter.machines(call)).machines.length, 260],
    ['RetrievePropertiesEx', async () => (await vcenter.machines(call)).machines.length, 260],
    ['RetrievePropertiesEx', async () => (await vcenter.surroundings(call)).get('group-d1')?.name, 'Datacenters'],
    ['RetrievePropertiesEx', async () => (await vcenter.machine(reference, call)) === 'gone', false],
    ['RetrievePropertiesEx', () => vcenter.machine('vm-99999', call), 'gone'],
    ['RetrievePropertiesEx', () => vcenter.identify(call), lab.instanceUuid],
    ['FindAllByUuid', () => vcenter.findByUuid(biosUuid, call), [reference]],
    ['FindAllByUuid', () => vcenter.findByUuid('00000000-0000-0000-0000-000000000000', call), []],
  ];
  await vcenter.machines(call);
  for (const [method, ask, expected] of asks) {
    for (const skip of [0, 1]) {
      await lab.setRules([{ method, skip, count: 1, killSessions: true }]);
      assert.deepEqual(await ask(), expected, `${method} after ${skip}`);
    }
    await lab.setRules([]);
    assert.deepEqual(await ask(), expected);
  }
  // Every time: an error, never an answer.
  for (const [method, ask] of asks) {
    await lab.setRules([{ method, killSessions: true }]);
    await assert.rejects(ask(), (error) => isCloudError(error, 'unavailable'), method);
  }
  await lab.setRules([]);
});

test(
  'a machine that is hidden, inaccessible or destroyed is each said as what it is',
  { timeout: 300_000 },
  async () => {
    await using one = await rig();
    const { call, vcenter } = one;
    const [first, second, third, fourth] = await lab.machines();
    assert.ok(first && second && third && fourth);
    await lab.setHardware(fourth.reference, { extraConfig: { 'guestinfo.metadata': '{"a": "<b>"}' } });
    const read = await vcenter.machine(fourth.reference, call);
    assert.deepEqual(read !== 'gone' && read.guestInfo, { 'guestinfo.metadata': '{"a": "<b>"}' });
    await lab.hide([first.reference]);
    await lab.setConnection(second.reference, 'inaccessible');
    await lab.destroy(third.reference);
    await assert.rejects(vcenter.machine(first.reference, call), (error) => isCloudError(error, 'forbidden'));
    const inaccessible = await vcenter.machine(second.reference, call);
    assert.ok(inaccessible !== 'gone');
    assert.deepEqual([inaccessible.connectionState, inaccessible.biosUuid], ['inaccessible', undefined]);
    assert.equal(await vcenter.machine(third.reference, call), 'gone');
    assert.deepEqual(await vcenter.findByUuid(third.biosUuid, call), []);
    const listed = new Set((await vcenter.machines(call)).machines.map(({ reference }) => reference));
    assert.deepEqual(
      [first, second, third].map(({ reference }) => listed.has(reference)),
      [false, true, false],
    );
    await lab.hide([]);
    await lab.setConnection(second.reference, 'connected');
  },
);

test('tags of hosts, clusters and datacenters come in one request', { timeout: 300_000 }, async () => {
  await using one = await rig();
  const { call, vcenter } = one;
  const [host] = await lab.objects('HostSystem');
  const [datacenter] = await lab.objects('Datacenter');
  assert.ok(host && datacenter);
  await lab.tag(host, 'k8s-zone', 'zone-a');
  await lab.tag(host, 'other', 'x');
  await lab.tag(datacenter, 'k8s-region', 'region-1');
  const ask = async (): Promise<unknown> =>
    Object.fromEntries(await vcenter.tags([host, datacenter], ['k8s-zone', 'k8s-region'], call));
  const expected = {
    [host.reference]: [{ category: 'k8s-zone', name: 'zone-a' }],
    [datacenter.reference]: [{ category: 'k8s-region', name: 'region-1' }],
  };
  assert.deepEqual(await ask(), expected);
  await lab.calls(true);
  await lab.untag(host, 'k8s-zone', 'zone-a');
  assert.deepEqual(await ask(), { ...expected, [host.reference]: [] });
  assert.equal((await lab.calls()).length, 1);
  await lab.killSessions();
  assert.deepEqual(await ask(), { ...expected, [host.reference]: [] });
  assert.deepEqual(await lab.sessions(), { soap: 0, rest: 1 });
});

test('what happens to machines is heard of, also after the session was ended', { timeout: 300_000 }, async () => {
  await using one = await rig();
  const { opened, vcenter } = one;
  const stop = new AbortController();
  const heard: InventoryChange[] = [];
  const over = (async () => {
    const call = opened.callContext({ signal: stop.signal, priority: 'background', reads: true });
    for await (const change of vcenter.changes(call)) heard.push(change);
  })();
  const until = async (what: string, done: () => boolean | Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < 1_200; turn++) {
      if (await done()) return;
      await systemClock.sleep(50);
    }
    assert.fail(`${what}: ${JSON.stringify(heard)}`);
  };
  const waits = async (): Promise<number> => {
    const calls = await lab.calls();
    return calls.filter(({ method }) => method === 'WaitForUpdatesEx').length;
  };
  const machines = await lab.machines();
  const [first, second, third] = machines.slice(-3);
  assert.ok(first && second && third);
  // Pages of 100 at first; the last one waits.
  await until('pages', async () => (await waits()) >= Math.ceil(machines.length / 100));
  await systemClock.sleep(2_000);
  assert.deepEqual(heard, []);
  await lab.power(first.reference, 'poweredOff');
  await until('power', () => heard.some(({ kind, reference }) => reference === first.reference && kind === 'modify'));
  await lab.destroy(second.reference);
  await until('destroyed', () =>
    heard.some(({ kind, reference }) => reference === second.reference && kind === 'leave'),
  );
  await lab.killSessions();
  await lab.power(third.reference, 'poweredOff');
  await until('after the end', () => heard.some(({ reference }) => reference === undefined));
  heard.length = 0;
  await lab.power(third.reference, 'poweredOn');
  await until('power again', () => heard.some(({ reference }) => reference === third.reference));
  stop.abort();
  await over;
});

test('a wrong password is asked with once; the right one later serves again', { timeout: 300_000 }, async () => {
  await using one = await rig({ credentials: { kind: 'user', user: lab.user, password: 'another word' } });
  const { call, vcenter } = one;
  await lab.calls(true);
  const [host] = await lab.objects('HostSystem');
  assert.ok(host);
  for (const ask of [
    () => vcenter.machines(call),
    () => vcenter.identify(call),
    () => vcenter.tags([host], ['k8s-zone'], call),
  ]) {
    await assert.rejects(
      ask(),
      (error) => isCloudError(error, 'unauthenticated') && !error.message.includes('another word'),
    );
  }
  const logins = (await lab.calls()).filter(({ method }) => /Login|session/u.test(method));
  assert.deepEqual(
    logins.map(({ method }) => method),
    ['Login'],
  );
});

test('a certificate is a login by a token; a session manager gives a clone', { timeout: 300_000 }, async () => {
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const certify = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=solution', '-days', '2'];
  await promisify(execFile)('openssl', [...certify, '-keyout', keyFile, '-out', certificateFile]);
  const [privateKey, certificate] = await Promise.all([keyFile, certificateFile].map((file) => readFile(file, 'utf8')));
  assert.ok(privateKey !== undefined && certificate !== undefined);
  const [host] = await lab.objects('HostSystem');
  assert.ok(host);
  {
    await using one = await rig({ credentials: { kind: 'certificate', certificate, privateKey } });
    assert.equal(await one.vcenter.identify(one.call), lab.instanceUuid);
    assert.equal((await one.vcenter.tags([host], ['k8s-zone'], one.call)).size, 1);
  }
  let asked = '';
  let token = 'no ticket';
  const tickets = createServer((incoming, response) => {
    asked = `${incoming.method} ${incoming.url} ${incoming.headers.authorization}`;
    response.end(JSON.stringify({ token }));
  });
  await new Promise<void>((resolve) => void tickets.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(tickets.address() as AddressInfo).port}/session?for=vc`;
    await using clone = await rig({ credentials: { kind: 'session-manager', url, token: 'bearer-token' } });
    await assert.rejects(clone.vcenter.identify(clone.call), (error) => isCloudError(error, 'unauthenticated'));
    assert.equal(asked, 'GET /session?for=vc Bearer bearer-token');
    token = await cloneTicket();
    await using second = await rig({ credentials: { kind: 'session-manager', url, token: 'bearer-token' } });
    assert.equal(await second.vcenter.identify(second.call), lab.instanceUuid);
    const tagged = second.vcenter.tags([host], ['k8s-zone'], second.call);
    await assert.rejects(tagged, (error) => isCloudError(error, 'unsupported'));
  } finally {
    tickets.close();
    tickets.closeAllConnections();
  }
});

/** As whoever shares a session gives it. */
async function cloneTicket(): Promise<string> {
  let cookie = '';
  const ask = async (inner: string): Promise<string> => {
    const body = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${inner}</e:Body></e:Envelope>`;
    const options = { method: 'POST', ca: lab.certificate, headers: { soapaction: 'urn:vim25/6.7', cookie } };
    const sent = request(`https://127.0.0.1:${lab.port}/sdk`, options);
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    cookie ||= answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    return text(answer);
  };
  const manager = '<_this type="SessionManager">SessionManager</_this>';
  const { password, user } = lab;
  await ask(`<Login xmlns="urn:vim25">${manager}<userName>${user}</userName><password>${password}</password></Login>`);
  const answer = await ask(`<AcquireCloneTicket xmlns="urn:vim25">${manager}</AcquireCloneTicket>`);
  return /<returnval>(.*)<\/returnval>/u.exec(answer)?.[1] ?? assert.fail(answer);
}

test('a certificate that is not the expected one is sent no password', { timeout: 300_000 }, async () => {
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, lab.certificate);
  for (const settings of [{ thumbprint: lab.sha1 }, { thumbprint: lab.sha256 }, { caFile }]) {
    await using one = await rig({ insecure: false, ...settings });
    assert.equal(await one.vcenter.identify(one.call), lab.instanceUuid);
  }
  await lab.calls(true);
  const wrong = lab.sha256.replaceAll(/[0-9]/gu, (digit) => `${9 - Number(digit)}`);
  for (const settings of [{}, { thumbprint: wrong, caFile, insecure: true }]) {
    await using one = await rig({ insecure: false, ...settings });
    await assert.rejects(one.vcenter.identify(one.call), (error) => isCloudError(error, 'unavailable'));
  }
  assert.deepEqual(await lab.calls(), []);
});
