import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FakeClock } from '@outrigger/testing';
import { answer, FakeVim, object } from '../../fake/fake-vim.ts';
import { openedHost } from '../../../../packages/provider-kit/src/opened-host.suite.ts';
import { openVcenter } from './open-vcenter.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const PAGES = 6;
const PAGE = 250;
/** About 1,400 are machines as they are kept; what was read of one, parsed, is three times as much. */
const MOST_BYTES = 2_000;

const nic = (device: number, ...addresses: readonly string[]): string =>
  `<GuestNicInfo><network>VM Network</network><deviceConfigId>${device}</deviceConfigId><ipConfig>${addresses
    .map((one) => `<ipAddress><ipAddress>${one}</ipAddress><prefixLength>24</prefixLength></ipAddress>`)
    .join('')}</ipConfig></GuestNicInfo>`;

/** Made anew each time, so that the fake keeps nothing of it. */
function page(method: string, number: number): { readonly text: string } {
  const machines = Array.from({ length: PAGE }, (_, index) => {
    const id = number * PAGE + index;
    return object('VirtualMachine', `vm-${id}`, [
      ['name', `worker-${id}.example`],
      ['config.uuid', `422e4956-ad22-1139-6d72-${String(id).padStart(12, '0')}`],
      ['config.template', 'false'],
      ['runtime.connectionState', 'connected'],
      ['runtime.powerState', 'poweredOn'],
      ['runtime.host', `host-${id % 100}`],
      ['resourcePool', 'resgroup-8'],
      ['parent', 'group-v3'],
      ['summary.config.guestId', 'ubuntu64Guest'],
      ['summary.config.numCpu', '4'],
      ['summary.config.memorySizeMB', '16384'],
      ['guest.hostName', `worker-${id}`],
      ['guest.net', nic(4000, `10.0.${number}.${index}`, 'fe80::250:56ff:fe00:7') + nic(-1, '172.17.0.1')],
    ]);
  });
  const token = number < PAGES - 1 ? `<token>page-${number}</token>` : '';
  return answer(method, `<returnval>${token}${machines.join('')}</returnval>`);
}

test('of each page of machines nothing is kept but the machines, while the next ones are read', async () => {
  const clock = new FakeClock();
  const { host, opened } = await openedHost(clock);
  const vim = new FakeVim(clock);
  const heap: number[] = [];
  vim.before = (method) => {
    if (method === 'RetrievePropertiesEx') heap.length = 0;
    else if (method !== 'ContinueRetrievePropertiesEx') return undefined;
    collectGarbage();
    heap.push(process.memoryUsage().heapUsed);
    return page(method, heap.length - 1);
  };
  const credentials = { kind: 'user', user: 'user', password: 'pass' } as const;
  const settings = { server: 'vc.example', port: 443, insecure: false, credentials };
  const vcenter = openVcenter({ host, settings, fetch: vim.fetch });
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal', maxAttempts: 1 });
  // What is compiled and remembered once is there by then.
  await vcenter.machines(call);
  const { machines } = await vcenter.machines(call);
  assert.equal(machines.length, PAGES * PAGE);
  const [, first = 0] = heap;
  const bytes = ((heap.at(-1) ?? Infinity) - first) / (PAGE * (PAGES - 2));
  assert.ok(bytes <= MOST_BYTES, `${Math.round(bytes)} bytes a machine`);
  await opened[Symbol.asyncDispose]();
});
