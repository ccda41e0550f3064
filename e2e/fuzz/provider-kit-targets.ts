/** The paths that a text takes through the provider kit. */
import { annotationTable } from '../../packages/provider-kit/src/annotations/annotation-table.ts';
import { readConfig } from '../../packages/provider-kit/src/config/read-config.ts';
import { named, optional, required, secret } from '../../packages/provider-kit/src/config/config-schema.ts';
import {
  duration,
  listOf,
  text as anyText,
  url,
  wholeNumber,
} from '../../packages/provider-kit/src/config/value-kinds.ts';
import { pathOf } from '../../packages/provider-kit/src/http/operation.ts';
import { nextByLink, nextByUrl, PagedList } from '../../packages/provider-kit/src/http/paged-list.ts';
import { refusalOf } from '../../packages/provider-kit/src/http/refusal.ts';
import type { Target } from './target.ts';

const annotations = annotationTable({
  words: { name: 'words', values: ['a', 'b'], meaning: '' },
  integer: { name: 'integer', values: 'integer', meaning: '' },
  boolean: { name: 'boolean', values: 'boolean', meaning: '', orDefault: true },
  text: { name: 'text', values: 'string', meaning: '', maxLength: 4_096 },
});
const schema = {
  a: secret(required(url, '')),
  list: optional(listOf(anyText), ''),
  time: optional(duration, ''),
  count: optional(wholeNumber(0), ''),
  each: named({ a: optional(anyText, '') }, ''),
};
const refusal = {
  cloud: 'x',
  errorOf: (body: unknown) => body as { readonly code: string; readonly message: string },
  errors: [{ code: 'a', means: 'invalid' as const }],
};

async function twoPages(next: typeof nextByLink, text: string): Promise<void> {
  const page = { body: { items: [text], next: text }, header: () => text };
  await new PagedList({ operation: 'x', first: {}, ask: async () => page, itemsOf: () => [text], next }).all();
}

export const providerKitTargets: readonly Target[] = [
  ...(['words', 'integer', 'boolean', 'text'] as const).map((name) => ({
    name: `kit: annotation of ${name}`,
    run: (text: string) => annotations.read({ [name]: text }),
  })),
  {
    name: 'kit: answer of a cloud',
    run: (text) =>
      refusalOf(refusal, 'GET /', { status: 404, header: () => text, text }, { code: text, message: text }, 0),
  },
  { name: 'kit: an ID in a path', run: (text) => pathOf('GET /{a}/{+b}', { a: text, b: text }) },
  { name: 'kit: link to a page', run: (text) => twoPages(nextByLink, text) },
  {
    name: 'kit: URL of a page',
    run: (text) =>
      twoPages(
        nextByUrl(() => text),
        text,
      ),
  },
  {
    name: 'kit: a value of the config',
    run: (text) =>
      readConfig(schema, { fileName: 'f', text: JSON.stringify({ a: text, list: text }) }, { provider: 'x' }),
  },
  {
    name: 'kit: gcfg',
    run: (text) => readConfig(schema, { fileName: 'f', text }, { provider: 'x', format: 'gcfg' }),
    scans: 30_000,
  },
];
