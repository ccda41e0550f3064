/** kubeadm itself reads the files of its page, and makes of them what the page says and the test of that page takes for granted. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { judgeProgram, KUBERNETES } from './programs.ts';

const page = readFileSync(new URL('../../docs/guides/deploy/kubeadm.md', import.meta.url), 'utf8');
const files = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gmu)].map(([, text = '']) => text);

/** What a page cannot know: the release, so that nobody is asked for the newest one, and the machine's address. */
const HERE = 'localAPIEndpoint: {advertiseAddress: 192.0.2.1}\n';
const DISCOVERY =
  'discovery:\n  bootstrapToken:\n    token: abcdef.0123456789abcdef\n    apiServerEndpoint: 192.0.2.1:6443\n    unsafeSkipCAVerification: true\n';

const directory = mkdtempSync(join(tmpdir(), 'outrigger-kubeadm-'));
after(() => rmSync(directory, { recursive: true }));
let program = '';
before(async () => void (program = await judgeProgram('kubeadm')));

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function kubeadm(...args: readonly string[]): Ended {
  const env = { ...process.env, KUBEADM_INIT_DRYRUN_DIR: directory };
  const { error, status, stderr, stdout } = spawnSync(program, args, { cwd: directory, env, encoding: 'utf8' });
  if (error) throw error;
  return { status, out: stdout, err: stderr };
}

function save(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return `--config=${join(directory, name)}`;
}

function fileOf(kind: string): string {
  const file = files.find((text) => text.includes(`kind: ${kind}\n`));
  assert.ok(file, `the page has a ${kind}`);
  return file;
}

/** The file of the page for a cluster, on this machine. */
function clusterFile(): string {
  return fileOf('ClusterConfiguration')
    .replace('kind: InitConfiguration\n', `kind: InitConfiguration\n${HERE}`)
    .replace(
      'kind: ClusterConfiguration\n',
      `kind: ClusterConfiguration\nkubernetesVersion: v${KUBERNETES}.0\ncertificatesDir: ${join(directory, 'pki')}\n`,
    );
}

test('kubeadm takes the files as they are, and no misspelled ones', () => {
  for (const [name, text] of [
    ['kubeadm.yaml', fileOf('ClusterConfiguration')],
    ['join.yaml', `${fileOf('JoinConfiguration')}${DISCOVERY}`],
  ] as const) {
    const good = kubeadm('config', 'validate', save(name, text));
    assert.deepEqual([good.status, good.out.trim()], [0, 'ok'], good.err);
    const bad = kubeadm('config', 'validate', save('bad.yaml', text.replace('kubeletExtraArgs', 'kubeletExtraArg')));
    assert.notEqual(bad.status, 0);
    assert.match(bad.err, /unknown field "nodeRegistration\.kubeletExtraArg"/u);
  }
});

/** The flags in the file of a static pod. */
function flagsOf(name: string): Readonly<Record<string, string>> {
  const { spec } = parse(written(`${name}.yaml`)) as {
    readonly spec: { readonly containers: readonly { readonly command: readonly string[] }[] };
  };
  const words = spec.containers[0]?.command.slice(1) ?? [];
  return Object.fromEntries(words.map((word) => /^--([\w-]+)=(.*)$/su.exec(word)?.slice(1) as [string, string]));
}

function written(name: string): string {
  return readFileSync(join(directory, name), 'utf8');
}

test('kubelet, kube-apiserver and kube-controller-manager are set as the pages say', () => {
  const config = save('here.yaml', clusterFile());
  for (const phase of ['kubelet-start', 'control-plane']) {
    const words = phase === 'control-plane' ? [phase, 'all'] : [phase];
    const { err, status } = kubeadm('init', 'phase', ...words, '--dry-run', config);
    assert.equal(status, 0, err);
  }
  assert.match(written('kubeadm-flags.env'), /^KUBELET_KUBEADM_ARGS="(?:.* )?--cloud-provider=external(?: .*)?"$/mu);
  assert.match(written('config.yaml'), /^staticPodPath: \/etc\/kubernetes\/manifests$/mu);
  const manager = flagsOf('kube-controller-manager');
  assert.deepEqual(
    ['cloud-provider', 'allocate-node-cidrs', 'cluster-cidr'].map((name) => manager[name]),
    ['external', 'true', '10.244.0.0/16'],
  );
  assert.equal(flagsOf('kube-apiserver')['kubelet-preferred-address-types'], 'InternalIP,ExternalIP,Hostname');
});

test('the user of the static pod is who its page says: this name, and in no group', () => {
  const config = save('here.yaml', clusterFile());
  const made = kubeadm('init', 'phase', 'certs', 'ca', config);
  assert.equal(made.status, 0, made.err);
  const name = 'outrigger-cloud-controller-manager';
  const { err, out, status } = kubeadm('kubeconfig', 'user', `--client-name=${name}`, config);
  assert.equal(status, 0, err);
  const [user] = (parse(out) as { readonly users: readonly { readonly user: Record<string, string> }[] }).users;
  const certificate = new X509Certificate(Buffer.from(user?.user['client-certificate-data'] ?? '', 'base64'));
  assert.equal(certificate.subject, `CN=${name}`);
});
