/** The public names of an entry point of a package, as its file lists them, each with what it is. One line a name, so that a change shows in review. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What `index.ts` says of one name. */
interface PublicName {
  readonly name: string;
  /** `class`, `function`, `interface` … */
  readonly kind: string;
}

/** `export { a, type B } from './x.ts';`, also over several lines. */
const PASSED_ON = /^export (?<types>type )?\{(?<names>[^}]*)\} from '(?<from>\.[^']+)';$/gmu;
/** Of an entry point that is one function: a command. */
const OWN_FUNCTION = /^export (?:async )?function (?<name>\w+)/gmu;
const DEFAULT = /^export default \w+;$/gmu;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu;

/** Throws an `Error` for an export that it cannot read: none may be missing from the list. */
export function apiList(index: string): string {
  const text = textOf(index);
  const names = [...passedOnBy(index)];
  const rest = text.replaceAll(PASSED_ON, '').replaceAll(DEFAULT, () => {
    names.push({ name: 'default', kind: 'export' });
    return '';
  });
  for (const { groups = {} } of rest.matchAll(OWN_FUNCTION))
    names.push({ name: groups['name'] ?? '', kind: 'function' });
  const [unread] = /^export .*$/mu.exec(rest.replaceAll(OWN_FUNCTION, '')) ?? [];
  if (unread !== undefined) throw new Error(`${index}: only names from files are listed, which this is not: ${unread}`);
  return names
    .map(({ kind, name }) => `${kind} ${name}\n`)
    .toSorted()
    .join('');
}

/** What a file exports of other files. */
function passedOnBy(file: string): readonly PublicName[] {
  return [...textOf(file).matchAll(PASSED_ON)].flatMap(({ groups = {} }) => {
    const { from = '', names = '', types } = groups;
    const items = names.split(',').map((name) => name.trim());
    return items.filter(Boolean).map((item): PublicName => {
      const [original = '', name = original] = item.replace(/^type /u, '').split(' as ');
      const kind = kindOf(path.resolve(path.dirname(file), from), original);
      return { name, kind: types || item.startsWith('type ') ? asType(kind) : kind };
    });
  });
}

/** Of a class that is exported as a type, no more than the type is public. */
function asType(kind: string): string {
  return kind === 'class' ? 'type of class' : kind;
}

function kindOf(file: string, name: string): string {
  const declaration = String.raw`^export (?:declare |abstract |async )*(?<kind>class|function|interface|type|const|enum)\*? ${name}\b`;
  const declared = new RegExp(declaration, 'mu').exec(textOf(file))?.groups?.['kind'];
  const kind = declared ?? passedOnBy(file).find((each) => each.name === name)?.kind;
  if (kind === undefined) throw new Error(`${file}: it exports no ${name}`);
  return kind;
}

function textOf(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(COMMENT, '');
}
