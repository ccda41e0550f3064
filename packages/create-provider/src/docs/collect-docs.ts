/** Brings the pages of several providers' repositories into one tree with an index. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Repository } from '../lint/repository.ts';
import type { ProviderCard } from '../provider-card.ts';
import { brokenLinks, isAddress, pathOf } from './broken-links.ts';
import { checkoutOf } from './checkout.ts';
import { summariseReport } from './conformance-summary.ts';
import { mapLinks } from './doc-links.ts';
import { renderIndex, type IndexedProvider } from './provider-index.ts';

export interface CollectOptions {
  /** Folders of repositories, each with its `provider.yaml`. */
  readonly repositories: readonly string[];
  /** Absolute. Made; what an earlier run has made in it is replaced, and nothing else. */
  readonly output: string;
}

export interface CollectedDocs {
  readonly providers: readonly IndexedProvider[];
  /** Relative to the output. */
  readonly pages: readonly string[];
  /** `memory/README.md: x.md`: links of the tree that lead nowhere. */
  readonly broken: readonly string[];
}

/** The index for programs; it tells a tree of ours from a folder of somebody's, and what in it is ours. */
const INDEX = 'index.json';
const NAME = /^[a-z0-9][a-z0-9-]*$/u;

/** Throws an `Error` in one line for a repository without a card or pages, and for an output that is something else. */
export function collectDocs({ output, repositories }: CollectOptions): CollectedDocs {
  if (repositories.length === 0) throw new Error('name at least one repository');
  const read = repositories.map(readRepository).toSorted((a, b) => (a.card.title < b.card.title ? -1 : 1));
  const twice = read.find(({ card }, index) => read.findIndex((one) => one.card.name === card.name) < index);
  if (twice) throw new Error(`two repositories have the provider ${twice.card.name}`);
  const providers = read.map(indexed);
  removeEarlier(output, new Set(read.map(({ card }) => card.name)));
  mkdirSync(output, { recursive: true });
  // First: what follows is then known as ours, if it does not come to its end.
  writeFileSync(path.join(output, INDEX), `${JSON.stringify({ providers }, undefined, 2)}\n`);
  const pages = ['README.md'];
  const broken = new Set<string>();
  for (const { card, files, repository } of read) {
    for (const file of files) {
      const target = path.posix.join(card.name, path.posix.relative('docs', file));
      mkdirSync(path.join(output, path.dirname(target)), { recursive: true });
      if (file.endsWith('.md')) {
        pages.push(target);
        const text = repository.read(file) ?? '';
        const place = { card, directory: repository.directory, page: file, target: path.join(output, target) };
        const tell = (link: string): void => void broken.add(`${target}: ${link}`);
        writeFileSync(
          path.join(output, target),
          mapLinks(text, (link) => linkInTree(link, place, tell)),
        );
      } else {
        copyFileSync(path.join(repository.directory, file), path.join(output, target));
      }
    }
  }
  writeFileSync(path.join(output, 'README.md'), renderIndex(providers));
  for (const link of brokenLinks(output, pages, path.parse(output).root)) broken.add(link);
  return { providers, pages, broken: [...broken] };
}

/** Removes what an earlier run has made. Throws, and has removed nothing, where something else is in the way. */
function removeEarlier(output: string, names: ReadonlySet<string>): void {
  if (!existsSync(output)) return;
  const there = readdirSync(output);
  const earlier = providersIn(path.join(output, INDEX));
  const foreign = there.find((file) => names.has(file) && !earlier?.includes(file));
  if ((earlier === undefined && there.length > 0) || foreign !== undefined) {
    throw new Error(`${output} holds something else: name a folder that is not there yet`);
  }
  for (const file of [...(earlier ?? []), 'README.md', INDEX])
    rmSync(path.join(output, file), { recursive: true, force: true });
}

/** `undefined`: it is no index of ours. */
function providersIn(file: string): readonly string[] | undefined {
  try {
    const { providers } = JSON.parse(readFileSync(file, 'utf8')) as { readonly providers: readonly IndexedProvider[] };
    const names = providers.map(({ card }) => card.name);
    return names.every((name) => NAME.test(name)) ? names : undefined;
  } catch {
    return undefined;
  }
}

interface ReadRepository {
  readonly card: ProviderCard;
  readonly repository: Repository;
  /** All below `docs`. */
  readonly files: readonly string[];
}

function readRepository(directory: string): ReadRepository {
  const repository = new Repository(directory);
  const { card } = repository;
  if (card instanceof Error) throw new Error(`${directory}: ${card.message}`);
  // It becomes a folder.
  if (!NAME.test(card.name))
    throw new Error(`${directory}: provider.yaml: name must be lower-case letters, digits and dashes`);
  const files = repository.filesBelow('docs');
  if (!files.includes('docs/README.md'))
    throw new Error(
      `${directory}: there is no docs/README.md, the first page of its docs; a symbolic link out of the repository is not followed`,
    );
  return { card, repository, files };
}

interface Place {
  readonly card: ProviderCard;
  /** Of the repository. */
  readonly directory: string;
  /** The page, relative to that. */
  readonly page: string;
  /** Where the page is in the tree. */
  readonly target: string;
}

/** What is not among the pages is at the address of the repository; without one, it is the file itself, seen from the tree. */
function linkInTree(
  link: string,
  { card, directory, page, target: copy }: Place,
  tellBroken: (link: string) => void,
): string {
  const [target = '', anchor] = link.split('#');
  if (isAddress(link) || target === '') return link;
  const file = path.join(directory, path.dirname(page), pathOf(target));
  if (!path.relative(path.join(directory, 'docs'), file).startsWith('..')) return link;
  const inside = path.relative(checkoutOf(directory), file).split(path.sep).join('/');
  if (inside.startsWith('..') || !existsSync(file)) {
    tellBroken(link);
    return link;
  }
  const place =
    card.repository === undefined
      ? path.relative(path.dirname(copy), file).split(path.sep).join('/')
      : `${card.repository}/blob/HEAD/${inside}`;
  return `${encodeURI(place)}${anchor === undefined ? '' : `#${anchor}`}`;
}

function indexed({ card, repository }: ReadRepository): IndexedProvider {
  const provider = { card, page: `${card.name}/README.md` };
  const { conformance } = card;
  if (conformance === undefined) return provider;
  if (isAddress(conformance)) return { ...provider, conformanceLink: conformance };
  const summary = summariseReport(repository.read(conformance) ?? '');
  if (!summary) throw new Error(`${repository.directory}: ${conformance} is no report of outrigger conformance`);
  return {
    ...provider,
    conformance: summary,
    ...(card.repository !== undefined && {
      conformanceLink: `${card.repository}/blob/HEAD/${encodeURI(path.relative(checkoutOf(repository.directory), path.join(repository.directory, conformance)))}`,
    }),
  };
}
