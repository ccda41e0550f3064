/** The site of docs/ and of the providers' docs; see ../README.md. The pages themselves are not here: `srcDir` is the repository. */
import { cpSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type MarkdownOptions } from 'vitepress';
import { sidebarOf } from '../../scripts/site/sidebar.ts';
import { PAGE_GLOBS, pageOf, targetOf } from '../../scripts/site/site-pages.ts';
import { slugOf } from '../../packages/create-provider/src/docs/doc-links.ts';

const site = path.resolve(import.meta.dirname, '..');
const root = path.dirname(site);
const pages = globSync([...PAGE_GLOBS], { cwd: root });
/** Of tests, scaffolds and the like. VitePress takes no list of pages, only one of what is none. */
const others = globSync('**/*.md', { cwd: root, exclude: (name) => /(?:^|\/)(?:node_modules|\.git)$/u.test(name) });
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
/** Where a release is published: `/v1.2.3/`. */
const base = (process.env['SITE_BASE'] || '/') as '/';
/** Where files are shown that are no pages: `https://…/blob/v1.2.3`. Without it, what links to one is plain text. */
const sources = process.env['SITE_SOURCES'];

const files: ReadonlySet<string> = new Set(pages);
/** Files of docs/ that are no pages and that a page links to, such as lists of names. */
const linked = new Set<string>();

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** Links lead to files of the repository, as GitHub wants them; here they lead to pages of the site. */
function links(md: MarkdownIt): void {
  md.core.ruler.push('repository-links', (state) => {
    const file = path.relative(root, (state.env as { realPath?: string; path: string }).realPath ?? state.env.path);
    for (const { children } of state.tokens) {
      for (const [i, token] of (children ?? []).entries()) {
        if (token.type !== 'link_open') continue;
        const target = targetOf(file, token.attrGet('href') ?? '', files);
        if (target === undefined) continue;
        if ('page' in target) token.attrSet('href', target.page);
        else if ('file' in target) {
          token.attrSet('href', `${base}${target.file.slice(1)}`);
          token.attrSet('target', '_self');
          linked.add(target.file);
        } else if (sources !== undefined) token.attrSet('href', `${sources}/${target.source}`);
        else {
          const close = children?.slice(i).find(({ type }) => type === 'link_close');
          for (const one of [token, close])
            if (one) Object.assign(one, { type: 'text', tag: '', content: '', nesting: 0 });
        }
      }
    }
  });
}

/** The pages are not beside the node_modules of the site, where what they are compiled to looks for Vue. */
const vueOfTheSite = {
  name: 'vue-of-the-site',
  enforce: 'pre',
  resolveId(this: { resolve(id: string, importer: string): Promise<unknown> }, id: string, importer?: string) {
    if (!/^vue(?:\/|$)/u.test(id) || importer?.startsWith(site)) return undefined;
    return this.resolve(id, path.join(site, 'package.json'));
  },
} as const;

export default defineConfig({
  title: 'Outrigger',
  description: 'The out-of-tree cloud-provider system of Kubernetes, in TypeScript',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  base,
  srcDir: root,
  outDir: path.join(import.meta.dirname, 'dist'),
  cacheDir: path.join(import.meta.dirname, 'cache'),
  srcExclude: others.filter((file) => !pages.includes(file)),
  rewrites: Object.fromEntries(pages.map((page) => [page, pageOf(page) ?? page])),
  metaChunk: true,
  buildEnd: ({ outDir }) => {
    for (const file of linked) cpSync(path.join(root, 'docs', file), path.join(outDir, file));
  },
  // The esbuild of the repository, which no longer writes for the browsers of vite's own default.
  vite: {
    build: { target: 'es2022', chunkSizeWarningLimit: 4_000 },
    plugins: [vueOfTheSite],
  },
  markdown: {
    anchor: { slugify: slugOf },
    languageAlias: { console: 'shellsession' },
    config: links,
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sidebarOf((file) => readFileSync(path.join(root, file), 'utf8')) as never,
    nav: [{ component: 'Versions', props: { own: version, published: Boolean(process.env['SITE_PUBLISHED']) } }],
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
