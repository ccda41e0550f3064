/** The example of the README, so that it cannot rot: it must stand there word for word, and it must run. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { createTransport, CONTROLLER_SUFFIX, loadConfig, userAgent } from '@outrigger/kube';
import { startLocalServer } from './transport/local-server.suite.ts';
import { createTestAuthority } from './transport/test-certificates.suite.ts';

// example: begin
async function printVersion(kubeconfig: string, print: (line: string) => void): Promise<void> {
  const config = await loadConfig({ kubeconfig });
  await using transport = createTransport(config, { userAgent: userAgent({ suffix: CONTROLLER_SUFFIX }) });

  const answer = await transport.send({ method: 'GET', path: '/version', timeoutMs: 5_000 });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  print(`${config.source}: HTTP ${answer.status} ${Buffer.concat(chunks).toString('utf8')}`);
}
// example: end

test('the example of the README runs, and stands in it as it is here', async () => {
  const here = await readFile(new URL(import.meta.url), 'utf8');
  const code = /\/\/ example: begin\n([\s\S]*?)\/\/ example: end/.exec(here)?.[1]?.trim();
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  assert.ok(code && readme.includes(code), 'README.md and this file differ');

  const authority = await createTestAuthority();
  await using server = await startLocalServer({
    protocol: 'h2',
    authority,
    handler: (request, response) =>
      void (response as NodeJS.WritableStream).end(`${request.url} ${request.headers['user-agent']}`),
  });
  const directory = await mkdtemp(`${tmpdir()}/outrigger-`);
  try {
    const kubeconfig = `${directory}/kubeconfig`;
    const ca = Buffer.from(authority.ca).toString('base64');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        'current-context': 'local',
        clusters: [{ name: 'local', cluster: { server: server.url, 'certificate-authority-data': ca } }],
        contexts: [{ name: 'local', context: { cluster: 'local' } }],
      }),
    );
    const lines: string[] = [];
    await printVersion(kubeconfig, (line) => void lines.push(line));
    assert.match(
      lines.join('\n'),
      /^context "local" of .*kubeconfig: HTTP 200 \/version outrigger\/\S+ \(\w+\/\w+\) external-controller-manager$/,
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});
