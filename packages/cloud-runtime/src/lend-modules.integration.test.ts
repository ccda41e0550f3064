import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { CloudError, isCloudError, type CloudProvider } from '@outrigger/cloud-provider';
import { loadProvider } from './load-provider.ts';
import { withFiles } from './with-files.suite.ts';

/** Its `close` throws a `CloudError` of the contract that it has found. */
const LONE = `import { CloudError, type CloudProvider } from '@outrigger/cloud-provider';
export default (): CloudProvider => ({
  name: 'lone',
  open: async () => ({}),
  close: async () => { throw new CloudError('unavailable', 'from far away'); },
});
`;
const OTHER_CONTRACT = `export class CloudError extends Error {
  constructor(code, message) { super(message); this.code = code; this[Symbol.for('outrigger.dev/cloud-error')] = true; }
}
export const other = true;
`;

function load(workingDirectory: string, spec: string): Promise<CloudProvider> {
  return loadProvider(spec, { builtIn: {}, workingDirectory });
}

test('a lone file finds the contract of the program, and what it imports in turn finds it too', async () => {
  const files = {
    'lone.ts': LONE,
    'parts.mjs': "export { default } from './lone.ts';",
    'old.mjs': `import { createRequire } from 'node:module';
const { CloudError } = createRequire(import.meta.url)('@outrigger/cloud-provider');
export default () => ({ name: 'old', open: async () => ({}), close: async () => { throw new CloudError('unavailable', 'x'); } });`,
  };
  await withFiles(files, async (directory) => {
    for (const spec of ['./lone.ts', './parts.mjs', './old.mjs']) {
      const provider = await load(directory, spec);
      await assert.rejects(
        provider.close(),
        (error) => error instanceof CloudError && isCloudError(error, 'unavailable'),
        spec,
      );
    }
  });
});

test('a file that has a copy of the contract keeps it', async () => {
  const files = {
    'package.json': '{"type":"module"}',
    'lone.ts': LONE,
    'node_modules/@outrigger/cloud-provider/package.json': '{"type":"module","exports":"./index.js"}',
    'node_modules/@outrigger/cloud-provider/index.js': OTHER_CONTRACT,
  };
  await withFiles(files, async (directory) => {
    const provider = await load(directory, './lone.ts');
    await assert.rejects(provider.close(), (error) => !(error instanceof CloudError));
  });
});

test('no other package is lent, and a copy that is broken is not passed over', async () => {
  const files = {
    'other.mjs': "import '@outrigger/kube'; export default () => {};",
    'on-the-kit.mjs': "import '@outrigger/provider-kit'; export default () => {};",
    'below.mjs': "import '@outrigger/cloud-provider/src/errors.ts'; export default () => {};",
    'broken/lone.ts': LONE,
    'broken/node_modules/@outrigger/cloud-provider/package.json': '{"type":"module","exports":"./gone.js"}',
  };
  await withFiles(files, async (directory) => {
    await assert.rejects(
      load(directory, './other.mjs'),
      /could not be loaded: Cannot find package '@outrigger\/kube'/u,
    );
    await assert.rejects(
      load(directory, './on-the-kit.mjs'),
      /Cannot find package '@outrigger\/provider-kit'.*: install the kit beside the provider, or bundle both into one file$/u,
    );
    await assert.rejects(load(directory, './below.mjs'), /could not be loaded: Cannot find package/u);
    await assert.rejects(load(directory, './broken/lone.ts'), /could not be loaded: Cannot find module .*gone\.js/u);
  });
});
