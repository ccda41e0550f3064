import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { MetadataSource } from '../../config/cloud-config.ts';
import { readMetadataService } from './metadata-service.ts';
import { readOwnInstance, type OwnInstance, type ReadMetadata } from './own-instance.ts';

const DATA = JSON.stringify({ uuid: '83679162', name: 'web', availability_zone: 'zone 1', devices: [] });

const callWith = (signal: AbortSignal): CallContext => ({
  signal,
  priority: 'normal',
  logger: silentLogger,
  call: (_operation, send) => send(signal),
});
const call = callWith(new AbortController().signal);

const gone: ReadMetadata = () => Promise.reject(new Error('there is no such disk'));
const there: ReadMetadata = () => Promise.resolve(DATA);
const hanging: ReadMetadata = () => new Promise(() => {});

function read(
  searchOrder: readonly MetadataSource[],
  sources: Readonly<Record<MetadataSource, ReadMetadata>>,
  clock: FakeClock = new FakeClock(),
): Promise<OwnInstance> {
  return readOwnInstance({ metadata: { searchOrder, requestTimeoutMs: 60_000 }, clock, sources }, call);
}

test('the sources are asked in the order that is set, until one answers', async () => {
  const want = { id: '83679162', name: 'web', zone: 'zone-1' };
  const never: ReadMetadata = () => Promise.reject(new Error('must not be asked'));
  assert.deepEqual(
    await read(['configDrive', 'metadataService'], { configDrive: there, metadataService: never }),
    want,
  );
  assert.deepEqual(
    await read(['metadataService', 'configDrive'], { configDrive: never, metadataService: there }),
    want,
  );
  assert.deepEqual(await read(['configDrive', 'metadataService'], { configDrive: gone, metadataService: there }), want);
});

test('where none answers, each says why', async () => {
  const said = 'which server this machine is could not be read:';
  const bad =
    (text: string): ReadMetadata =>
    () =>
      Promise.resolve(text);
  for (const [text, why] of [
    ['bogus', /metadataService: meta_data\.json is no JSON$/],
    ['{}', /metadataService: meta_data\.json has no uuid$/],
    ['null', /metadataService: meta_data\.json has no uuid$/],
    ['{"uuid":""}', /metadataService: meta_data\.json has no uuid$/],
  ] as const) {
    await assert.rejects(
      read(['configDrive', 'metadataService'], { configDrive: gone, metadataService: bad(text) }),
      ({ message }: Error) => {
        assert.ok(message.startsWith(`${said} configDrive: there is no such disk; `), message);
        return why.test(message);
      },
    );
  }
});

test('one that never answers has its time, and then the next is asked', async () => {
  const clock = new FakeClock();
  const answer = read(['metadataService', 'configDrive'], { configDrive: there, metadataService: hanging }, clock);
  await clock.advance(60_000);
  assert.equal((await answer).id, '83679162');
});

test('who gives up is not asked on behalf of further', async () => {
  const controller = new AbortController();
  const metadata = { searchOrder: ['metadataService', 'configDrive'] as const, requestTimeoutMs: 1_000 };
  const answer = readOwnInstance(
    { metadata, clock: new FakeClock(), sources: { configDrive: there, metadataService: hanging } },
    callWith(controller.signal),
  );
  controller.abort(new Error('enough'));
  await assert.rejects(answer, /^Error: enough$/);
});

test('the metadata service is asked at its own address, and its word counts with status 200 alone', async () => {
  const asked: string[] = [];
  const answering =
    (status: number): typeof fetch =>
    async (url, init) => {
      asked.push(`${new Request(url).url} ${init?.redirect}`);
      return new Response(DATA, { status });
    };
  assert.equal(await readMetadataService(call, answering(200)), DATA);
  assert.deepEqual(asked, ['http://169.254.169.254/openstack/latest/meta_data.json error']);
  for (const [status, code] of [
    [404, 'not-found'],
    [500, 'unavailable'],
    [203, 'invalid'],
  ] as const) {
    await assert.rejects(readMetadataService(call, answering(status)), { code });
  }
});
