/**
 * Writes `packages/kube/src/types/generated`, or with `--check` says what differs from it (exit 1).
 *
 *     node tools/kube-types/generate.ts --kubeconfig FILE [--check]
 *     node tools/kube-types/generate.ts --server https://HOST:PORT --certificate-authority FILE --token-file FILE [--check]
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sources } from './kinds.ts';
import { fetchDocument, serverFromKubeconfig, type Server } from './openapi-document.ts';
import { render } from './render.ts';

const OUTPUT = join(import.meta.dirname, '../../packages/kube/src/types/generated');

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    server: { type: 'string' },
    'certificate-authority': { type: 'string' },
    'token-file': { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});

function chooseServer(): Server {
  if (values.kubeconfig) return serverFromKubeconfig(values.kubeconfig);
  if (!values.server) throw new Error('say which API server: --kubeconfig FILE or --server URL');
  const ca = values['certificate-authority'];
  const token = values['token-file'];
  return {
    url: values.server,
    ...(ca && { ca: readFileSync(ca) }),
    ...(token && { token: readFileSync(token, 'utf8').trim() }),
  };
}

const server = chooseServer();
const documents = new Map<string, unknown>();
for (const { document } of sources) {
  if (!documents.has(document)) documents.set(document, await fetchDocument(server, document));
}
const files = await render(documents);

if (values.check) {
  const present = existsSync(OUTPUT) ? readdirSync(OUTPUT) : [];
  const differing = [...new Set([...files.keys(), ...present])].filter((file) => {
    const path = join(OUTPUT, file);
    return !existsSync(path) || readFileSync(path, 'utf8') !== files.get(file);
  });
  for (const file of differing) process.stderr.write(`differs from what the API server says: ${file}\n`);
  process.exitCode = differing.length > 0 ? 1 : 0;
} else {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  for (const [file, text] of files) writeFileSync(join(OUTPUT, file), text);
  process.stdout.write(`${files.size} files in packages/kube/src/types/generated\n`);
}
