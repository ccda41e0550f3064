/** A provider that is written with the contract alone, in one file, over the cloud that it was written for. */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { isCloudError, type CloudProvider } from '@outrigger/cloud-provider';
import { providerConformance, providerTests, type ProviderFixture } from '@outrigger/conformance';
import { silentLogger, systemClock, type Clock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { SMALL_CLOUD_TOKEN, smallServer, startSmallCloud, type SmallCloud } from './internal/small-cloud.ts';
import { loadProvider } from './load-provider.ts';
import { openProvider, type OpenedProvider } from './open-provider.ts';

const examples = fileURLToPath(new URL('../../cloud-provider/examples/', import.meta.url));
const signal = new AbortController().signal;

function load(workingDirectory: string, spec: string): Promise<CloudProvider> {
  return loadProvider(spec, { builtIn: {}, workingDirectory });
}

function open(provider: CloudProvider, text: string, clock: Clock): Promise<OpenedProvider> {
  return openProvider(provider, {
    cluster: { id: 'cluster-1', name: 'test' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1 },
    config: { fileName: 'cloud.json', text },
  });
}

function configOf({ endpoint }: SmallCloud, token: string = SMALL_CLOUD_TOKEN): string {
  return JSON.stringify({ endpoint, token });
}

async function fixture(): Promise<ProviderFixture & { readonly cloud: SmallCloud }> {
  const cloud = await startSmallCloud();
  return {
    cloud,
    config: { fileName: 'cloud.json', text: configOf(cloud) },
    http: {
      root: cloud.endpoint,
      config: (endpoint) => ({ fileName: 'cloud.json', text: configOf({ ...cloud, endpoint }) }),
    },
    clock: new FakeClock(),
    createMachine: async (name) => {
      cloud.servers.set(name, smallServer(name));
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    deleteMachine: async ({ name }) => void cloud.servers.delete(name),
    stopMachine: async ({ name }) => void cloud.servers.set(name, { ...smallServer(name), status: 'stopped' }),
    listMachines: async () => [...cloud.servers.keys()],
    requests: async () => cloud.requests,
    requestsOf: { lookUp: 1 },
    [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose](),
  };
}

const EMPTY_LIST = 'instances / a list that is empty makes no machine absent';
const subject = { name: 'the provider of the guide', provider: () => load(examples, './my-cloud.ts') };

// Statuses come from the suite's own proxy, which cannot empty a list.
await providerConformance({
  ...subject,
  fixture,
  without: {
    [EMPTY_LIST]: 'tried below',
    'instances / place is one text for all machines and over restarts': 'the example says no place',
    'provider / a changed config that cannot be read leaves the old one in use': 'the example has no reconfigure',
  },
});

await providerConformance({
  ...subject,
  fixture: async () => {
    const made = await fixture();
    return { ...made, fail: async (how) => void (made.cloud.failure = how ? 'empty' : 0) };
  },
  tests: providerTests.filter(({ name }) => name === EMPTY_LIST),
});

test('without a config, and with one that is none, the program says so in one line that holds no token', async () => {
  const provider = await load(examples, './my-cloud.ts');
  await assert.rejects(open(provider, '{"token": "hunter2"', systemClock), (error: Error) => {
    assert.equal(error.message, 'cloud.json: must be JSON with endpoint and token');
    return isCloudError(error, 'configuration');
  });
});

test('built into one file, with a copy of the contract of its own, its errors are known all the same', async () => {
  await using cloud = await startSmallCloud();
  const directory = await mkdtemp(path.join(tmpdir(), 'own-copy-'));
  try {
    const options = { bundle: true, format: 'esm', platform: 'node', target: 'node24', logLevel: 'error' } as const;
    const outfile = path.join(directory, 'my-cloud.mjs');
    await build({ ...options, entryPoints: [path.join(examples, 'my-cloud.ts')], outfile });
    const provider = await load(directory, './my-cloud.mjs');
    await assert.rejects(open(provider, '{}', systemClock), (error) => isCloudError(error, 'configuration'));
    await using opened = await open(provider, configOf(cloud, 'wrong'), systemClock);
    const node = { name: 'a', uid: 'a', labels: {}, annotations: {} };
    const answer = await opened.lookups?.lookUp(node, { need: 'state', signal });
    assert.ok(answer?.result.kind === 'failed' && isCloudError(answer.result.error, 'unauthenticated'));
    assert.deepEqual(
      opened.recentCalls('a').map(({ operation, code }) => [operation, code]),
      [['GET /servers', 'unauthenticated']],
    );
    assert.deepEqual(opened.recentCalls('b'), []);
  } finally {
    await rm(directory, { recursive: true });
  }
});
