/** From the README of the workspace to that of a tarball, which a registry shows without the repository around it. Pure. */
import path from 'node:path';
import { linksOf } from '@outrigger/create-provider';

export interface ReadmeOptions {
  /** Of the package, in the repository: `packages/kube`. */
  readonly folder: string;
  /** Of the release. */
  readonly version: string;
  /** Where the repository can be read: `https://git.example/outrigger`. Default: nobody knows, and a link becomes its text with the path. */
  readonly repositoryUrl?: string | undefined;
}

const LINK = /\[(?<label>[^\]]*)\]\((?<target>[^()\s]+)\)/gu;

/**
 * A relative link leads out of the tarball, which has no pages: it becomes one to the repository, at the tag of the release. What is code stays.
 * Throws an `Error` for a link that leads out of the repository.
 */
export function publishedReadme(text: string, { folder, repositoryUrl, version }: ReadmeOptions): string {
  const links = new Set(linksOf(text));
  return text.replaceAll(LINK, (link, label: string, target: string) => {
    if (!links.has(target) || target.startsWith('#') || /^[a-z]+:/u.test(target)) return link;
    const [file = '', anchor] = target.split('#');
    const page = path.posix.join(folder, file);
    if (page.startsWith('..')) throw new Error(`${folder}/README.md: ${target} leads out of the repository`);
    if (repositoryUrl === undefined) return `${label} (\`${page}\`)`;
    return `[${label}](${repositoryUrl}/blob/v${version}/${page}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
