/** Builds the page, minified. In a checkout alone: what ships has it in it. */
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { BuiltPage } from './built-page.ts';

const page = fileURLToPath(new URL('../page/', import.meta.url));

/** Throws what esbuild throws. */
export function buildPage(): BuiltPage {
  return bundle().built;
}

/** What `built-page.ts` is replaced by, and the files that something of the page was taken from, relative to the repository. */
export function builtPageModule(): { readonly source: string; readonly inputs: readonly string[] } {
  const { built, inputs } = bundle();
  return { source: `export const builtPage = ${JSON.stringify(built)};\n`, inputs };
}

function bundle(): { readonly built: BuiltPage; readonly inputs: readonly string[] } {
  const { metafile, outputFiles } = buildSync({
    absWorkingDir: fileURLToPath(new URL('../../../', import.meta.url)),
    entryPoints: [`${page}app.tsx`, `${page}app.css`],
    outdir: page,
    bundle: true,
    metafile: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'chrome110', 'firefox110', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
  });
  const text = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  return { built: { js: text('.js'), css: text('.css') }, inputs };
}
