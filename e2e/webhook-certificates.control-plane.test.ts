import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { controlPlaneOrSkip, freePort } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { CERTIFICATES, define, downloadDefinitions } from './custom-definitions.ts';
import { CloudStory } from './cloud-story.ts';
import { kubectl } from './granted-program.ts';
import { startPod } from './installed-chart.ts';

const RENDERED = new URL(
  '../deploy/helm/outrigger-cloud-controller-manager/snapshots/webhooks-cert-manager.yaml',
  import.meta.url,
);

interface Certificate {
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

test("an API server that has cert-manager's definitions takes the chart's Certificate as it is", async (t) => {
  try {
    await downloadDefinitions(CERTIFICATES);
  } catch (error) {
    if (process.env['CI']) throw error;
    t.skip(`the definitions of cert-manager cannot be had: ${(error as Error).message}`);
    return;
  }
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, auditLog: false });
  if (!controlPlane) return;
  await define(controlPlane, CERTIFICATES);
  const apply = (item: object): Promise<string> =>
    kubectl(
      controlPlane,
      ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '--output=name', '--filename=-'],
      JSON.stringify(item),
    );
  const [certificate, ...others] = parseAllDocuments(readFileSync(RENDERED, 'utf8'))
    .map((document) => document.toJS() as Certificate)
    .filter(({ apiVersion }) => apiVersion.startsWith('cert-manager.io/'));
  assert.ok(certificate && others.length === 0, 'one Certificate');
  assert.match(await apply(certificate), /^certificate\.cert-manager\.io\//u);
  // What the definition does not know, it refuses.
  await assert.rejects(apply({ ...certificate, spec: { ...certificate.spec, dnsName: [] } }), /unknown field/u);
});

test('on a new cluster the nodes do not wait for cert-manager, whose pods wait for them; its certificate is served once it is there', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true });
  if (!controlPlane) return;
  await using story = await CloudStory.open(controlPlane);
  const items = parseAllDocuments(readFileSync(RENDERED, 'utf8'))
    .map((document) => document.toJS() as Rendered)
    .filter(({ apiVersion }) => !apiVersion.startsWith('cert-manager.io/'));
  const webhookPort = await freePort();
  for (const item of items) {
    if (item.kind === 'Secret') item.stringData = { 'cloud.conf': JSON.stringify({ endpoint: story.endpoint }) };
    const args = item.spec?.template?.spec.containers[0]?.args;
    // As they would be with `cloudProvider: memory` and `extraArgs`.
    args?.splice(args.indexOf('--cloud-provider=openstack'), 1, '--cloud-provider=memory');
    args?.push('--webhook-bind-address=127.0.0.1', `--webhook-secure-port=${webhookPort}`);
  }
  await kubectl(controlPlane, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const pod = await startPod(controlPlane, 'first');
  await using manager = pod.program.manager;
  story.programs.push(pod.program);
  const { pid } = manager;
  await story.join('n1');
  await story.isInitialised('n1');
  // The API server cannot ask: a Service is stored as it is.
  await kubectl(controlPlane, ['create', 'service', 'loadbalancer', 'web', '--tcp=80:8080']);
  await kubectl(controlPlane, ['wait', '--for=condition=LoadBalancerReady', '--timeout=120s', 'service/web']);

  // What cert-manager does, now that a node takes its pods.
  const issued = issue(controlPlane.directory, WEBHOOK_HOST);
  await kubectl(controlPlane, [
    'create',
    'secret',
    'tls',
    'outrigger-cloud-controller-manager-webhook',
    '--namespace=kube-system',
    `--cert=${issued.certFile}`,
    `--key=${issued.keyFile}`,
  ]);
  await pod.sync();
  await story.until('the certificate is served', () => isTrusted(webhookPort, readFileSync(issued.certFile, 'utf8')));
  assert.equal(manager.pid, pid, 'nothing was restarted');
  assert.doesNotMatch(readFileSync(pod.program.log, 'utf8'), /Changed file rejected/u);
});

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  stringData?: object;
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly { readonly args: string[] }[] } };
  };
}

const WEBHOOK_HOST = 'outrigger-cloud-controller-manager-webhook.kube-system.svc';

/** A certificate for this name that signs itself. */
function issue(directory: string, host: string): { readonly certFile: string; readonly keyFile: string } {
  const files = { certFile: join(directory, 'webhook.crt'), keyFile: join(directory, 'webhook.key') };
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const keys = ['-newkey', 'rsa:2048', '-nodes', '-keyout', files.keyFile];
  execFileSync('openssl', ['req', '-x509', '-days', '1', ...keys, '-out', files.certFile, ...subject], {
    stdio: 'pipe',
  });
  return files;
}

/** As the API server asks: by the name of the Service, with the authority that cert-manager has put into `caBundle`. */
function isTrusted(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: WEBHOOK_HOST }, () => {
      resolve(socket.authorized);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}
