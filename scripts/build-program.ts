/** Bundles each of the two programs into one file and puts its launcher beside it. `make build` runs this through `build.ts`. */
import { chmod, copyFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { builtPageModule } from '../packages/ui/src/build-page.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** One file of the distribution, bundled. */
export interface Bundle {
  readonly bundle: string;
  readonly bundleBytes: number;
  /** Of it, what packages of npm are. */
  readonly libraryBytes: number;
  /** Of the files in a folder of the repository. */
  readonly bytesOf: (folder: string) => number;
  /** Source files that something was taken from, relative to the repository, with `/`. */
  readonly inputs: readonly string[];
}

/** The manager is what the members of `Bundle` are about. */
export interface BuiltProgram extends Bundle {
  readonly launcher: string;
  /** The launcher of the commands. */
  readonly outrigger: string;
  readonly commands: Bundle;
}

/** By these names kubectl finds the commands, and what completes them. */
export const PLUGIN: readonly string[] = ['kubectl-outrigger', 'kubectl_complete-outrigger'];

/** CommonJS packages in the bundle ask for these, which an ES module does not have. */
const COMMONJS_NAMES = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __dirnameOf } from 'node:path';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  'const __dirname = __dirnameOf(__filename);',
].join('\n');

/** Of undici the program uses three classes. The package's entry brings fetch, caches and mocks along: 400 kB of text in memory. */
const onlyDispatchers: Plugin = {
  name: 'only-dispatchers-of-undici',
  setup: (builder) => {
    const namespace = 'only-dispatchers';
    builder.onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({
      path: 'undici',
      namespace,
      pluginData: resolveDir,
    }));
    builder.onLoad({ filter: /^undici$/, namespace }, ({ pluginData }) => ({
      resolveDir: String(pluginData),
      // As its entry does: calls are put onto the prototype there. `request` is the program's, `connect` that of its agents for proxies.
      contents: [
        "import connect from 'undici/lib/api/api-connect.js';",
        "import request from 'undici/lib/api/api-request.js';",
        "import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';",
        'Object.assign(Dispatcher.prototype, { connect, request });',
        "export { default as buildConnector } from 'undici/lib/core/connect.js';",
        "export { default as Agent } from 'undici/lib/dispatcher/agent.js';",
        "export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';",
        "export { default as Pool } from 'undici/lib/dispatcher/pool.js';",
        "export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';",
      ].join('\n'),
    }));
  },
};

/**
 * Of the signer of AWS' SDK the program uses signatures of requests, not those of events in a stream. The package that it takes small functions
 * from makes a class and a UUID function when it is loaded, so it is not cut to what is used. A name that is missing here fails the build.
 */
const onlySignatures: Plugin = {
  name: 'only-signatures-of-smithy',
  setup: (builder) => {
    const namespace = 'only-signatures';
    builder.onResolve({ filter: /^@smithy\/core\/serde$/ }, ({ importer, resolveDir }) =>
      importer.includes('@smithy/signature-v4/dist-es/') ? { path: 'serde', namespace, pluginData: resolveDir } : null,
    );
    builder.onLoad({ filter: /^serde$/, namespace }, ({ pluginData }) => {
      const serde = join(String(pluginData), '../../core/dist-es/submodules/serde');
      return {
        resolveDir: serde,
        contents: [
          "export { isArrayBuffer } from './is-array-buffer/is-array-buffer';",
          "export { toHex } from './util-hex-encoding/hex-encoding';",
          "export { toUint8Array } from './util-utf8/toUint8Array';",
          "export { writeKey } from './writeKey';",
          "export { hasOwn } from '@smithy/core/transport';",
        ].join('\n'),
      };
    });
    builder.onLoad({ filter: /@smithy\/signature-v4\/dist-es\/HeaderFormatter\.js$/ }, () => ({
      contents: 'export class HeaderFormatter {}',
    }));
    // URLs that are signed in advance, events and texts: a method of a class is never cut as not used.
    builder.onLoad({ filter: /@smithy\/signature-v4\/dist-es\/SignatureV4\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(
        /^ {4}async (?:presign|signEvent|signMessage|signString)\([\s\S]*?^ {4}\}\n/gmu,
        '',
      ),
    }));
  },
};

/** Of pino the program writes to standard error from its own thread: transports, with their threads and files, are of no use to it. */
const noLogTransports: Plugin = {
  name: 'no-transports-of-pino',
  setup: (builder) => {
    builder.onLoad({ filter: /\/pino\/lib\/transport\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('this program has no log transports'); };",
    }));
  },
};

/**
 * A provider is bundled into one module before it goes into the program. It is imported lazily, and esbuild wraps each module of what is: a
 * hundred names of files and calls of each other, some 10 % of a provider's text. What packages give it stays imported, and is there once.
 */
const wholeProviders: Plugin = {
  name: 'whole-providers',
  setup: (builder) => {
    builder.onLoad({ filter: /\/providers\/[^/]+\/src\/index\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        absWorkingDir: root,
        entryPoints: [path],
        // Not written; what a source map says is from here.
        outdir: dirname(path),
        write: false,
        bundle: true,
        packages: 'external',
        platform: 'node',
        format: 'esm',
        target: 'node24',
        sourcemap: 'inline',
        logLevel: 'warning',
      });
      return { contents: outputFiles[0]?.contents ?? '', resolveDir: dirname(path) };
    });
  },
};

const PAGE = 'packages/ui/src/built-page.ts';

/** The page of `outrigger ui` is in the program, built. */
function builtPage(source: string): Plugin {
  return {
    name: 'built-page',
    setup: (builder) => {
      builder.onLoad({ filter: /packages\/ui\/src\/built-page\.ts$/ }, () => ({ contents: source }));
    },
  };
}

/**
 * Writes `<directory>/dist/cloud-controller-manager.js` and `outrigger.js`, and what runs them in
 * `<directory>/bin`: `cloud-controller-manager`, `outrigger`, `kubectl-outrigger`, `kubectl_complete-outrigger`. `maps`: also the source
 * maps, default true; without them, the files do not depend on the directory. `without`: packages that are left out, to see what they weigh;
 * default: none.
 */
export async function buildProgram(
  directory: string = root,
  maps: boolean = true,
  without: readonly string[] = [],
): Promise<BuiltProgram> {
  const bin = join(directory, 'bin');
  const [launcher, outrigger] = [join(bin, 'cloud-controller-manager'), join(bin, 'outrigger')];
  const options = { maps, page: builtPageModule(), without };
  const [manager, commands] = await Promise.all([
    bundleOf('cloud-controller-manager', directory, options),
    bundleOf('outrigger', directory, options),
  ]);
  await mkdir(bin, { recursive: true });
  for (const file of [launcher, outrigger, ...PLUGIN.map((name) => join(bin, name))]) {
    await copyFile(join(root, 'distribution/launcher.sh'), file);
    await chmod(file, 0o755);
  }
  return { ...manager, commands, launcher, outrigger };
}

interface BundleOptions {
  readonly maps: boolean;
  readonly page: ReturnType<typeof builtPageModule>;
  readonly without: readonly string[];
}

async function bundleOf(name: string, directory: string, { maps, page, without }: BundleOptions): Promise<Bundle> {
  const bundle = join(directory, 'dist', `${name}.js`);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, `distribution/src/${name}.ts`)],
    outfile: bundle,
    // One file, also what is imported lazily: that runs only when it is needed, though its text is read with the rest.
    bundle: true,
    plugins: [onlyDispatchers, onlySignatures, noLogTransports, wholeProviders, builtPage(page.source)],
    external: [...without],
    metafile: true,
    // ES modules can be cut to what is used; 'main' is CommonJS where a package has both.
    mainFields: ['module', 'main'],
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Readable stack traces are worth more than kilobytes that are read once.
    minify: false,
    // …but white space doubles the text that stays in memory, and long ways to write the same are another 3 % of it. Names stay.
    minifyWhitespace: true,
    minifySyntax: true,
    // By this name undici leaves its experimental parser of HTTP out, as for Node itself: 160 kB that nobody asks for.
    define: { esbuildDetection: 'true' },
    sourcemap: maps && 'linked',
    // A file beside it; in the program their typographic quotes would double its text in memory.
    legalComments: 'external',
    banner: { js: COMMONJS_NAMES },
    logLevel: 'warning',
    // What a provider's module asks for and uses types of alone.
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  const inputs = Object.entries(metafile.outputs)
    .filter(([path]) => path.endsWith('.js'))
    .flatMap(([, output]) => Object.entries(output.inputs));
  const libraries = inputs.filter(([path]) => path.includes('node_modules/'));
  return {
    bundle,
    bundleBytes: (await stat(bundle)).size,
    libraryBytes: libraries.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0),
    bytesOf: (folder) =>
      inputs.reduce((sum, [path, { bytesInOutput }]) => (path.startsWith(`${folder}/`) ? sum + bytesInOutput : sum), 0),
    inputs: inputs.flatMap(([path]) => (path === PAGE ? [path, ...page.inputs] : [path])).sort(),
  };
}
