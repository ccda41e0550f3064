/** A new operator's first day with the chart: install, a Service, a wrong credential, its remedy, an upgrade, the end. Whatever installs it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ControlPlane } from '@outrigger/testing';
import { CloudStory } from './cloud-story.ts';
import { kubectl } from './granted-program.ts';
import { allObjects, startPod } from './installed-chart.ts';
import { status } from './status-command.ts';

/** The values of the chart that change in the course of the day. */
export interface ChartValues {
  /** `cloudConfig.inline`. */
  readonly cloudConfig: string;
  readonly extraArgs: readonly string[];
}

export interface Installer {
  install(values: ChartValues): Promise<void>;
  upgrade(values: ChartValues): Promise<void>;
  uninstall(): Promise<void>;
}

const FLAGS: readonly string[] = [
  // Who ends gives its Lease back: nobody waits for it to expire, and no program that a busy machine stops for a while loses it.
  '--leader-elect-lease-duration=60s',
  '--leader-elect-renew-deadline=45s',
  '--leader-elect-retry-period=1s',
];
const LEASE = 'cloud-controller-manager';
const GUIDE = new URL('../docs/guides/deploy/helm.md', import.meta.url);

/** What an Event tells an operator to do, done. A remedy that is not here fails the test: nobody would know what to do either. */
type Remedies = Readonly<Record<string, () => Promise<void>>>;

export async function operatorsDay(controlPlane: ControlPlane, installer: Installer): Promise<void> {
  await using story = await CloudStory.open(controlPlane);
  await using cloud = await guardCloud(story.endpoint, 'correct-horse');
  const valuesWith = (password: string, ...more: readonly string[]): ChartValues => ({
    cloudConfig: JSON.stringify({ endpoint: `${cloud.endpoint}/${password}` }),
    extraArgs: [...FLAGS, ...more],
  });
  const ready = (name: string): Promise<string> =>
    kubectl(controlPlane, ['wait', '--for=condition=LoadBalancerReady', '--timeout=120s', `service/${name}`]);
  const expose = (name: string): Promise<string> =>
    kubectl(controlPlane, ['create', 'service', 'loadbalancer', name, '--tcp=80:8080']);
  const before = await allObjects(controlPlane);

  // Installed, and a node and a Service come into use.
  await installer.install(valuesWith('correct-horse'));
  const first = await startPod(controlPlane, 'first');
  await using firstManager = first.program.manager;
  story.programs.push(first.program);
  await story.join('n1');
  await story.isInitialised('n1');
  await expose('web');
  assert.match(await ready('web'), /condition met/u);
  const manager = [`--server=https://127.0.0.1:${first.program.port}`, '--insecure-skip-tls-verify'];
  const problems = async (): Promise<string> => {
    const { text } = await status(`--kubeconfig=${controlPlane.kubeconfig.path}`, ...manager);
    return [...text.matchAll(/^\d+\. .*$(?:\n {3}.*$)*/gmu)].map(([one]) => one).join('\n');
  };
  // A busy machine may be late with what the program counts, and with its answer.
  const untilProblems = (what: string, areThese: (problems: string) => boolean): Promise<void> =>
    story.until(`status tells ${what}`, async () => areThese(await problems()));
  // No kubelet says that a pod is ready here.
  await untilProblems('of the pod alone', (text) =>
    /^1\. ERROR (?:DaemonSet|Deployment) \S+: [^\n]*(?:\n {3}[^\n]*)*$/u.test(text),
  );

  // The password in the Secret is wrong from now on. The Service says so, and an Event what is to be done.
  const { pid } = firstManager;
  await installer.upgrade(valuesWith('wrong-horse'));
  await first.sync();
  await story.until('the changed cloud config is taken', async () => (await logOf(first)).includes('File reloaded'));
  await expose('shop');
  const message = await told(story, controlPlane, 'CloudCredentialsRefused');
  await story.until('the Service says why it is not ready', async () =>
    (await conditionOf(controlPlane, 'shop')).startsWith('False Unauthenticated'),
  );
  assert.ok(!message.includes('wrong-horse'), message);
  await untilProblems('of the credentials', (text) =>
    /The cloud refuses the credentials .*\n {3}Remedy: {2}Correct the credentials/u.test(text),
  );
  const remedies: Remedies = {
    'correct the credentials in its cloud config, which is read again': async () => {
      await installer.upgrade(valuesWith('correct-horse'));
      await first.sync();
    },
  };
  const [, remedy = ''] = /To do: (.*)\.$/u.exec(message) ?? [];
  const follow = remedies[remedy];
  assert.ok(follow, `an Event that says what to do: ${message}`);
  await follow();
  assert.match(await ready('shop'), /condition met/u);
  await told(story, controlPlane, 'CloudAnswers');
  await untilProblems('nothing of credentials and Services', (text) => !/credentials|Service/u.test(text));
  assert.equal(firstManager.pid, pid, 'nothing was restarted');

  // Upgraded: the new pod is there before the old one has gone, and works only after it.
  const holder = await story.untilHeld(LEASE);
  await installer.upgrade(valuesWith('correct-horse', '--concurrent-service-syncs=3'));
  const second = await startPod(controlPlane, 'second');
  assert.ok(second.args.includes('--concurrent-service-syncs=3'), second.args.join(' '));
  await using secondManager = second.program.manager;
  story.programs.push(second.program);
  await story.until('the new pod waits for the Lease', async () => (await logOf(second)).includes('New leader seen'));
  assert.ok(!(await logOf(second)).includes('Became leader'));
  assert.equal(await story.untilHeld(LEASE), holder);
  assert.equal(await firstManager.end('SIGTERM'), 0, await logOf(first));
  await story.until('the new pod leads', async () => ![holder, ''].includes(await holderOf(controlPlane)));
  await kubectl(controlPlane, ['patch', 'service', 'web', '--type=json', '--patch', NEW_PORT]);
  assert.match(await ready('web'), /condition met/u);
  await story.until('the new port is served', () =>
    Promise.resolve(story.cloud.parts().some(({ attributes }) => JSON.stringify(attributes).includes('8081'))),
  );

  // The end, as the guide has it.
  await kubectl(controlPlane, ['delete', 'service', 'web', 'shop', '--timeout=120s']);
  assert.deepEqual(story.cloud.parts(), [], 'nothing stays in the cloud');
  await installer.uninstall();
  assert.equal(await secondManager.end('SIGTERM'), 0, await logOf(second));
  for (const command of await afterUninstall()) await kubectl(controlPlane, command);
  await kubectl(controlPlane, ['delete', 'node', 'n1']);
  assert.deepEqual(await allObjects(controlPlane), before, 'nothing stays in the cluster');
}

const NEW_PORT = JSON.stringify([{ op: 'replace', path: '/spec/ports/0/port', value: 8081 }]);

async function logOf({ program }: { readonly program: { readonly log: string } }): Promise<string> {
  return readFile(program.log, 'utf8');
}

const MESSAGES = String.raw`{range .items[*]}{.message}{"\n"}{end}`;

/** The message of the newest Event of this reason, wherever it is. */
async function told(story: CloudStory, controlPlane: ControlPlane, reason: string): Promise<string> {
  let message = '';
  await story.until(`an Event ${reason}`, async () => {
    const args = ['get', 'events', '--all-namespaces', `--field-selector=reason=${reason}`];
    message = (await kubectl(controlPlane, [...args, `--output=jsonpath=${MESSAGES}`])).trim().split('\n').at(-1) ?? '';
    return message !== '';
  });
  return message;
}

function conditionOf(controlPlane: ControlPlane, name: string): Promise<string> {
  const path = '{range .status.conditions[?(@.type=="LoadBalancerReady")]}{.status} {.reason}{end}';
  return kubectl(controlPlane, ['get', 'service', name, `--output=jsonpath=${path}`]);
}

function holderOf(controlPlane: ControlPlane): Promise<string> {
  return kubectl(controlPlane, [
    'get',
    'lease',
    LEASE,
    '-n',
    'kube-system',
    '--output=jsonpath={.spec.holderIdentity}',
  ]);
}

/** What the guide has people type after `helm uninstall`. */
async function afterUninstall(): Promise<readonly (readonly string[])[]> {
  const [, section = ''] = (await readFile(GUIDE, 'utf8')).split('**Uninstall.**');
  const commands = [...section.matchAll(/^ +kubectl (.*delete (?:lease|configmap|pod|secret) .*)$/gmu)].map(
    ([, words = '']) => words.split(' '),
  );
  assert.equal(commands.length, 5, 'the guide says what the program has made in the cluster');
  return commands;
}

/** Lets through to the cloud what has the password as the first part of its path, and answers all else with 401. */
async function guardCloud(cloud: string, password: string): Promise<{ readonly endpoint: string } & AsyncDisposable> {
  const server = createServer((incoming, outgoing) => {
    const prefix = `/${password}/`;
    if (!incoming.url?.startsWith(prefix)) {
      outgoing.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"the password is wrong"}');
      return;
    }
    const { headers, method } = incoming;
    const asked = forward(`${cloud}/${incoming.url.slice(prefix.length)}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    incoming.pipe(asked);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
