/** Each bad input through the whole program: one line that says what is wrong, exit code 1, and nothing was touched. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { CloudError, type CloudProvider, type Clusters } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { freePort, startEmbeddedApiServer, type EmbeddedApiServer } from '@outrigger/testing';
import { makeSelfSignedCertificate } from '../../../controller-manager/src/serving/self-signed-certificate.ts';
import { badFiles } from './bad-files.suite.ts';
import { badInputs, inputsRefusedByOthers, type BadInput } from './bad-input.suite.ts';
import { main } from './main.ts';
import { testEnvironment } from './test-environment.suite.ts';

const PROVIDERS = ['careless', 'green', 'odd', 'picky', 'strict', 'stubborn'] as const;

/** Of what was touched. */
let opened = 0;

/** Without any capability, providers are warned of when they are open, which may be before or after a port is found in use. */
const clusters: Clusters = {
  list: () => Promise.resolve([]),
  controlPlaneAddress: () => Promise.resolve(undefined),
};

/** The provider of this name. Each is refused in its own way, but for green. */
function provider(of: (typeof PROVIDERS)[number], name: string = of): CloudProvider {
  return {
    name,
    open: () => {
      opened++;
      if (of === 'picky') return Promise.reject(new CloudError('configuration', 'region is not set'));
      const capabilities: object = of === 'odd' ? { instances: 7 } : { clusters };
      return Promise.resolve(capabilities);
    },
    ...(of === 'careless' && { checkConfig: () => Promise.reject(new RangeError('no such index')) }),
    ...(of === 'strict' && {
      checkConfig: () => Promise.reject(new CloudError('configuration', 'region is not set')),
    }),
    close: () => Promise.resolve(),
  };
}

let server: EmbeddedApiServer;
let directory: string;
const taken = createServer();

before(async () => {
  server = await startEmbeddedApiServer();
  directory = await mkdtemp(join(tmpdir(), 'outrigger-bad-'));
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { cert, key } = await makeSelfSignedCertificate(systemClock, []);
  const { key: otherKey } = await makeSelfSignedCertificate(systemClock, []);
  const { yaml } = server.kubeconfig('certificate');
  const files = {
    ...badFiles,
    kubeconfig: yaml,
    nobody: yaml.replace(/client-certificate-data.*\n/u, '').replace(/client-key-data.*/u, 'token: nobody'),
    'cloud.json': '{}',
    'good.crt': cert,
    'good.key': key,
    'other.key': otherKey,
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
});

after(async () => {
  taken.close();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

interface Outcome {
  readonly code: number;
  /** All lines but those that say how far it came, or that a busy machine did not run it. */
  readonly complaints: readonly string[];
  readonly requests: readonly string[];
}

async function run({ line }: BadInput): Promise<Outcome> {
  const { port } = taken.address() as AddressInfo;
  const words = line.replaceAll('{dir}', directory).replaceAll('{taken}', String(port)).split(' ');
  const env = words.filter((word) => /^[A-Z_]+=/u.test(word)).map((word) => word.split('=') as [string, string]);
  let log = '';
  const before = server.requests.length;
  opened = 0;
  const code = await main(
    [
      '--cloud-provider=green',
      `--kubeconfig=${join(directory, 'kubeconfig')}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${await freePort()}`,
      ...words.slice(env.length),
    ],
    {
      ...testEnvironment(directory, (text) => void (log += text)),
      builtInProviders: Object.fromEntries(
        PROVIDERS.map((of) => [
          of,
          async () => ({
            default: ({ name }: { name?: string }) => provider(of, of === 'stubborn' ? undefined : name),
          }),
        ]),
      ),
      env: { HOME: directory, ...Object.fromEntries(env) },
    },
  );
  return {
    code,
    complaints: log
      .trimEnd()
      .replaceAll(directory, '{dir}')
      .replaceAll(String(port), '{taken}')
      .split('\n')
      .filter((text) => !text.startsWith('I') && !text.includes('The process was not run for a while'))
      .map(saidIn),
    requests: server.requests.slice(before).map(({ method, path }) => `${method} ${path}`),
  };
}

/** What a person is told: of a line on stderr, all after the name of the program; of a line of the log, its error. */
function saidIn(text: string): string {
  const [, error] = /^E.*\] "Cannot start" err=("(?:[^"\\]|\\.)*")/u.exec(text) ?? [];
  return error === undefined ? text.replace('cloud-controller-manager: ', '') : (JSON.parse(error) as string);
}

for (const input of badInputs) {
  test(`refused before anything is touched: ${input.line}`, async () => {
    const { code, complaints, requests } = await run(input);
    assert.deepEqual(
      { code, complaints, opened, requests },
      { code: 1, complaints: [input.says], opened: 0, requests: [] },
    );
  });
}

for (const input of inputsRefusedByOthers) {
  test(`refused by the API server, the provider or the system, before anything is changed: ${input.line}`, async () => {
    const { code, complaints, requests } = await run(input);
    assert.deepEqual({ code, complaints }, { code: 1, complaints: [input.says] });
    assert.deepEqual(requests, ['GET /api/v1/namespaces/kube-system']);
  });
}

test('of several clouds, a config that is refused is told before the API server is asked, and keeps nobody from the start', async () => {
  const signals = new EventEmitter();
  let log = '';
  const code = await main(
    ['--cloud-provider=green,strict', `--kubeconfig=${join(directory, 'kube/nowhere')}`, '--secure-port=0'],
    {
      ...testEnvironment(directory, (text) => {
        log += text;
        if (text.includes('API server is not reachable')) signals.emit('SIGTERM', 'SIGTERM');
      }),
      builtInProviders: {
        green: async () => ({ default: () => provider('green') }),
        strict: async () => ({ default: () => provider('strict') }),
      },
      env: { HOME: directory },
      signals,
    },
  );
  assert.equal(code, 0, log);
  const refused =
    /^E.*"The cloud config is refused".* err="provider strict: region is not set; --cloud-config is not set"/mu;
  const found = refused.exec(log);
  assert.ok(found, log);
  assert.ok(found.index < log.indexOf('API server is not reachable'), log);
});

test('there are many, and none stands twice', () => {
  const all = [...badInputs, ...inputsRefusedByOthers];
  assert.ok(all.length > 100);
  assert.equal(new Set(all.map(({ line }) => line)).size, all.length);
});
