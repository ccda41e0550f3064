/** Builds the page, minified. In a checkout alone: what ships has it in it. */
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { BuiltPage } from './built-page.ts';

const page = fileURLToPath(new URL('../page/', import.meta.url));

/** Throws what esbuild throws. */
export function buildPage(): BuiltPage {
  const { outputFiles } = buildSync({
    entryPoints: [`${page}app.tsx`, `${page}app.css`],
    outdir: page,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'chrome110', 'firefox110', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
  });
  const text = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return { js: text('.js'), css: text('.css') };
}

/** What `built-page.ts` is replaced by. */
export function builtPageSource(): string {
  return `export const builtPage = ${JSON.stringify(buildPage())};\n`;
}
