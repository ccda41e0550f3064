/** Where the checkout begins that a folder is in. */
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The nearest folder above that git knows, for providers that share a repository; the folder itself where there is none. */
export function checkoutOf(directory: string): string {
  for (let folder = path.resolve(directory); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.git'))) return folder;
    if (folder === path.dirname(folder)) return path.resolve(directory);
  }
}
