/** How a fake keeps a thing: as it stands, and as it stood, for answers that are late. */
import { valuesAt } from './member-path.ts';
import type { FakeReference, FakeThing } from './fake-table.ts';

/** What is above a thing in its path, by the names in the braces. */
export type FakeScope = Readonly<Record<string, string>>;

/** A thing as it stood from a moment on; `undefined`: it was gone. */
interface Version {
  readonly at: number;
  readonly thing: FakeThing | undefined;
}

/** A thing, with what it was before. */
export interface Row {
  readonly id: string;
  readonly scope: FakeScope;
  /** In order of time, the last one is how it stands; none: its making is not over. */
  versions: Version[];
  revision: number;
  /** A write of it is under way. */
  writes: number;
}

export function referenceOf(given: string | FakeReference): FakeReference {
  return typeof given === 'string' ? { to: given } : given;
}

export function namesIn(
  thing: FakeThing,
  path: string,
  idOf: FakeReference['idOf'] = (value) => value,
): readonly string[] {
  return valuesAt(thing, path)
    .filter(
      (value): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number',
    )
    .map((value) => idOf(String(value)));
}

export function lastOf({ versions }: Row): FakeThing | undefined {
  return versions.at(-1)?.thing;
}

export function asOf({ versions }: Row, at: number): FakeThing | undefined {
  return versions.findLast((version) => version.at <= at)?.thing;
}

export function keyOf(id: string, scope: FakeScope): string {
  return [...Object.values(scope), id].map(encodeURIComponent).join('/');
}

export function isWithin(scope: FakeScope, wanted: FakeScope): boolean {
  return Object.entries(wanted).every(([name, value]) => scope[name] === value);
}
