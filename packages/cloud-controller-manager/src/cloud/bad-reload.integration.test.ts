/** Every file that is read again, made bad while the whole program runs: it is refused, that is said and counted, and the old one stays in force. */
import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { CloudProvider } from '@outrigger/cloud-provider';
import { sleepOn, systemClock, type Clock } from '@outrigger/kube';
import { freePort } from '@outrigger/testing';
import { makeSelfSignedCertificate } from '../../../controller-manager/src/serving/self-signed-certificate.ts';
import { Bench, greenCloud, page } from '../program/program-bench.suite.ts';

/** Looks at files each second, not each 10 s; as much is left of the 10 s in which a connection has to be made. In all else the system's. */
const LOOK_MS = 10_000;
const SOONER_MS = 1_000;
const lookingClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  setTimer: (delayMs, fire, options) => systemClock.setTimer(delayMs === LOOK_MS ? SOONER_MS : delayMs, fire, options),
  sleep: (delayMs, signal) => sleepOn(lookingClock, delayMs, signal),
};

/** By the name under which it is reloaded: the file that goes bad, and the words of its refusal. */
const RELOADED = {
  config: ['config.yml', /config\.yml:1: the file must be a mapping/u],
  'cloud-config': ['cloud.conf', /region is not set/u],
  'serving-certificate': ['serving.crt', /PEM|certificate/iu],
  'sni-certificates': ['sni.crt', /PEM|certificate/iu],
  'webhook-serving-certificate': ['webhook.crt', /PEM|certificate/iu],
  'webhook-sni-certificates': ['webhook-sni.crt', /PEM|certificate/iu],
  'client-ca-file': ['clients.pem', /--client-ca-file: .*no PEM block CERTIFICATE/u],
  'requestheader-client-ca-file': ['proxies.pem', /--requestheader-client-ca-file: .*no PEM block CERTIFICATE/u],
  'route-ranges': ['ranges', /line 1: \\"bad\\" is not a CIDR range/u],
  'node-ipam-ranges': ['ranges', /line 1: \\"bad\\" is not a CIDR range/u],
} as const satisfies Record<string, readonly [string, RegExp]>;

const CONFIG = 'apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n';

/** What a caller of this port is shown, who asks for this name. */
function shownCertificate(port: number, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false }, () => {
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      resolve(fingerprint256);
    }).on('error', reject);
  });
}

test('a bad new file is one warning and a metric, what was read before stays in force, and a good one is taken then', async () => {
  await using bench = await Bench.start();
  bench.clock = lookingClock;
  bench.addNode('node-1');
  const file = (name: string): string => join(bench.directory, name);
  /** At once, so that nobody reads half of it. */
  const put = async (name: string, text: string): Promise<void> => {
    await writeFile(file('new'), text);
    await rename(file('new'), file(name));
  };
  const good = new Map<string, string>();
  for (const name of ['serving', 'sni', 'webhook', 'webhook-sni']) {
    const { cert, key } = await makeSelfSignedCertificate(systemClock, [`${name}.example.com`]);
    good.set(`${name}.crt`, cert);
    await writeFile(file(`${name}.key`), key);
    good.set(name === 'sni' ? 'clients.pem' : 'proxies.pem', cert);
  }
  good.set('cloud.conf', 'region: a').set('ranges', '10.9.0.0/16').set('config.yml', CONFIG);
  for (const [name, text] of good) await put(name, text);

  const inForce: string[] = [];
  const provider: CloudProvider = {
    ...greenCloud(),
    reconfigure: ({ text }) => {
      if (text === 'bad') return Promise.reject(new Error('region is not set'));
      inForce.push(text);
      return Promise.resolve();
    },
  };
  const webhookPort = await freePort();
  const program = await bench.run(
    provider,
    '--leader-elect=false',
    '--config=config.yml',
    '--cloud-config=cloud.conf',
    `--tls-cert-file=${file('serving.crt')}`,
    `--tls-private-key-file=${file('serving.key')}`,
    `--tls-sni-cert-key=${file('sni.crt')},${file('sni.key')}`,
    `--client-ca-file=${file('clients.pem')}`,
    `--requestheader-client-ca-file=${file('proxies.pem')}`,
    '--feature-gates=CloudControllerManagerWebhook=true',
    '--webhooks=*',
    '--webhook-bind-address=127.0.0.1',
    `--webhook-secure-port=${webhookPort}`,
    `--webhook-tls-cert-file=${file('webhook.crt')}`,
    `--webhook-tls-private-key-file=${file('webhook.key')}`,
    `--webhook-tls-sni-cert-key=${file('webhook-sni.crt')},${file('webhook-sni.key')}`,
    '--controllers=*,node-ipam-controller',
    '--allocate-node-cidrs',
    '--cluster-cidr=10.8.0.0/16',
    '--additional-cluster-cidrs-file=ranges',
  );
  const port = Number(new URL(program.url).port);
  const shown = (): Promise<readonly string[]> =>
    Promise.all([
      shownCertificate(port, 'serving.example.com'),
      shownCertificate(port, 'sni.example.com'),
      shownCertificate(webhookPort, 'webhook.example.com'),
      shownCertificate(webhookPort, 'webhook-sni.example.com'),
    ]);
  const stateOf = async (wanted: 0 | 1): Promise<readonly string[]> => {
    const metrics = await page(`${program.url}/metrics`).catch(() => '');
    return Object.keys(RELOADED).filter(
      (name) => !metrics.includes(`\noutrigger_reload_successful{file="${name}"} ${wanted}\n`),
    );
  };
  /** Waits for what the program does by itself; five minutes are for machines that have much else to do. */
  const until = async (wanted: 0 | 1): Promise<void> => {
    let others = await stateOf(wanted);
    for (let i = 0; i < 6_000 && others.length > 0; i++) {
      await systemClock.sleep(50);
      others = await stateOf(wanted);
    }
    assert.deepEqual(others, [], program.log());
  };

  // Ranges are refused until it is known which nodes there are.
  for (let i = 0; i < 6_000 && !bench.node('node-1').spec?.podCIDR; i++) await systemClock.sleep(50);
  assert.ok(bench.node('node-1').spec?.podCIDR, program.log());
  await until(1);
  const start = program.log().length;
  const before = await shown();
  assert.equal(new Set(before).size, 4, 'each has its own');
  for (const name of good.keys()) await put(name, 'bad');
  await until(0);
  assert.deepEqual(await shown(), before);
  assert.deepEqual(inForce, []);
  for (const [name, [, words]] of Object.entries(RELOADED)) {
    const lines = program.log().slice(start).split('\n');
    const told = lines.filter(
      (line) => line.startsWith('W') && line.includes('rejected') && line.includes(`file="${name}"`),
    );
    assert.equal(told.length, 1, `${name}: one warning\n${program.log()}`);
    assert.match(told[0] ?? '', words, name);
  }

  good.set('cloud.conf', 'region: b');
  for (const [name, text] of good) await put(name, text);
  await until(1);
  assert.deepEqual(await shown(), before);
  assert.deepEqual(inForce, ['region: b']);
  program.signal('SIGTERM');
  assert.equal(await program.ended, 0, program.log());
});

test('how fast a cloud is asked is changed by the file of --config, for requests that wait already', async () => {
  await using bench = await Bench.start();
  bench.clock = lookingClock;
  const put = async (limit: string): Promise<void> => {
    const file = join(bench.directory, 'config.yml');
    await writeFile(`${file}.new`, `${CONFIG}outrigger: { cloudCallLimits: ["${limit}"] }\n`);
    await rename(`${file}.new`, file);
  };
  await put('green=0.0001:1');
  let sent = 0;
  const all = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const provider: CloudProvider = {
    name: 'green',
    open: (host) => {
      const call = host.callContext();
      const ask = (): Promise<void> => call.call({ name: 'GET /machines' }, async () => void sent++);
      // The first takes the token of the burst; the others would wait for hours.
      void ask().then(() => waiting.resolve());
      void Promise.all([ask(), ask()]).then(() => all.resolve());
      return Promise.resolve({});
    },
    close: () => Promise.resolve(),
  };
  const program = await bench.run(provider, '--leader-elect=false', '--config=config.yml');
  await waiting.promise;
  assert.equal(sent, 1);
  await put('green=1000');
  await all.promise;
  assert.equal(sent, 3);
  program.signal('SIGTERM');
  assert.equal(await program.ended, 0, program.log());
});
