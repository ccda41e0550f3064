/** The plugin file has what Sonobuoy reads, and what it runs is there: https://sonobuoy.io/docs/main/plugins/ */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runClusterConformance } from '@outrigger/conformance';
import { parse } from 'yaml';

interface Plugin {
  readonly 'sonobuoy-config': Readonly<Record<string, unknown>>;
  readonly spec: {
    readonly name: string;
    readonly image: string;
    readonly command?: readonly string[];
    readonly args: readonly string[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  };
}

const DEPLOY = new URL('../deploy/', import.meta.url);
const plugin = parse(readFileSync(new URL('conformance/sonobuoy-plugin.yaml', DEPLOY), 'utf8')) as Plugin;

test('the plugin has the fields that Sonobuoy requires', () => {
  // Its manifest.go: the two parts, of which the first says how it is run and the second is a container.
  assert.deepEqual(Object.keys(plugin), ['sonobuoy-config', 'spec']);
  const config = plugin['sonobuoy-config'];
  assert.ok(['Job', 'DaemonSet'].includes(String(config['driver'])));
  assert.match(
    String(config['plugin-name']),
    /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/u,
    'a part of names of Kubernetes objects',
  );
  assert.ok(['raw', 'junit', 'e2e', 'gojson', 'manual'].includes(String(config['result-format'])));
  assert.equal(plugin.spec.name, 'plugin');
  // The sidecar that hands the results over reads this volume.
  assert.deepEqual(plugin.spec.volumeMounts, [{ name: 'results', mountPath: '/tmp/sonobuoy/results' }]);
});

test('its image is the one that is made for it, in which the program has the command', () => {
  const dockerfile = readFileSync(new URL('conformance/Dockerfile', DEPLOY), 'utf8');
  assert.ok(dockerfile.includes(`docker build -f deploy/conformance/Dockerfile -t ${plugin.spec.image} .\n`));
  assert.equal(plugin.spec.command, undefined, 'the entry point of the image is the program');
  const [, entryPoint = ''] = /^ENTRYPOINT (.*)$/mu.exec(dockerfile) ?? [];
  const [program = '', ...words] = JSON.parse(entryPoint) as readonly string[];
  assert.equal(program, 'node');
  const root = fileURLToPath(new URL('../', DEPLOY));
  const args = words.map((word) => word.replace(/^\/source\//u, root));
  const output = execFileSync(process.execPath, [...args, ...plugin.spec.args, '--list'], {
    encoding: 'utf8',
    cwd: '/',
  });
  assert.match(output, /^nodes \/ the uninitialized taint is removed$/mu);
});

test('its arguments are a command that there is', async () => {
  const [word, suite, ...flags] = plugin.spec.args;
  assert.deepEqual([word, suite], ['conformance', 'cluster']);
  const errors: string[] = [];
  const code = await runClusterConformance([...flags, '--list'], {
    stdout: { write: () => true },
    stderr: { write: (text) => errors.push(text) },
    env: {},
    cwd: '/',
  });
  assert.deepEqual(errors, []);
  assert.equal(code, 0);
});
