/** The suite as tests of `node:test`, in a process of its own, as an author has it: what the runner ends, and what is left behind. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

/** `deleteMachine`, and what one test does once its machine is there. */
interface Author {
  readonly deletes: string;
  readonly does: string;
}

function authorsFile({ deletes, does }: Author): string {
  return `
import { providerConformance } from '${new URL('provider-conformance.ts', import.meta.url).href}';
const nobody = { name: 'a', uid: 'a', labels: {}, annotations: {} };
await providerConformance({
  name: 'toy',
  provider: () => ({ name: 'toy', open: async () => ({}), close: async () => {} }),
  fixture: async () => ({
    createMachine: async () => nobody,
    stopMachine: async () => {},
    deleteMachine: async ({ name }) => { ${deletes} },
    listMachines: async () => [],
    [Symbol.asyncDispose]: async () => {},
  }),
  tests: [{
    name: 'one', feature: 'provider', source: 'somewhere',
    run: async (rig) => { await rig.createMachine('m'); ${does} },
  }],
});
`;
}

async function run(author: Author, ...args: readonly string[]): Promise<{ code: number; said: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'provider-conformance-'));
  const file = path.join(folder, 'toy.test.ts');
  writeFileSync(file, authorsFile(author));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ['--test', '--test-reporter=tap', ...args, file],
        { env, timeout: 300_000 },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? 255), said: stdout + stderr });
        },
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a test that the runner ends takes away its machine', async () => {
  const deletes = 'process.stderr.write(`deleted ${name}\\n`);';
  // Only its signal ends it.
  const does = 'await rig.wait(3_600_000);';
  const { code, said } = await run({ deletes, does }, '--test-timeout=12000');
  assert.equal(code, 1, said);
  assert.match(said, /test timed out after 12000ms/u);
  assert.match(said, /deleted a\n/u);
});

test('what is left behind fails the test that left it, by name', async () => {
  const { code, said } = await run({ deletes: "throw new Error('the cloud says no');", does: '' });
  assert.equal(code, 1, said);
  assert.match(said, /^not ok 1 - toy: one$/mu);
  assert.match(said, /left behind: machine a: the cloud says no/u);
});
