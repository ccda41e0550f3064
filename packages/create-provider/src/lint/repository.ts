/** The files of a repository, as the requirements ask for them. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { checkoutOf } from '../docs/checkout.ts';
import { CARD_FILE, readCard, type ProviderCard } from '../provider-card.ts';

const NOT_ITS_OWN = new Set(['node_modules', '.git', 'dist', 'coverage', 'artifacts', 'vendor']);

export class Repository {
  /** Absolute. */
  readonly directory: string;
  /** What `provider.yaml` says, or why it says nothing. */
  readonly card: ProviderCard | Error;

  /** Throws an `Error` where there is no such folder. */
  constructor(directory: string) {
    this.directory = path.resolve(directory);
    if (!statSync(this.directory, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`there is no folder ${directory}`);
    this.card = this.#readCard();
  }

  isFolder(name: string): boolean {
    return this.exists(name) && statSync(this.#pathOf(name)).isDirectory();
  }

  /** A symbolic link out of the repository leads nowhere: by it, other files of this machine would be published. */
  exists(name: string): boolean {
    const file = this.#pathOf(name);
    if (!existsSync(file)) return false;
    // Providers that share a checkout name files of it: `../../deploy`.
    const within = path.relative(this.directory, file).startsWith('..') ? checkoutOf(this.directory) : this.directory;
    return !path.relative(realpathSync(within), realpathSync(file)).startsWith('..');
  }

  /** `undefined` where there is no such file. */
  read(name: string): string | undefined {
    const file = this.#pathOf(name);
    return this.exists(name) && statSync(file).isFile() ? readFileSync(file, 'utf8') : undefined;
  }

  /** Files below a folder, relative to the repository, with `/`; what was built or installed is left out. */
  filesBelow(folder: string): readonly string[] {
    if (!this.isFolder(folder)) return this.exists(folder) ? [folder] : [];
    return readdirSync(this.#pathOf(folder), { withFileTypes: true }).flatMap((entry) => {
      const name = path.posix.join(folder, entry.name);
      if (entry.isDirectory()) return NOT_ITS_OWN.has(entry.name) ? [] : this.filesBelow(name);
      return entry.isFile() ? [name] : [];
    });
  }

  #pathOf(name: string): string {
    return path.join(this.directory, name);
  }

  #readCard(): ProviderCard | Error {
    const text = this.read(CARD_FILE);
    if (text === undefined) return new Error(`there is no ${CARD_FILE}`);
    try {
      return readCard(text);
    } catch (error) {
      const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      return new Error(`${CARD_FILE}: ${why}`);
    }
  }
}
