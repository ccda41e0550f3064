/** The table of keys for a provider's page, made of the schema that its configuration is read by. */
import { isKey, isNamed, type ConfigKey, type ConfigSchema } from './config-schema.ts';

/** Markdown: one table, a row a key, `section.key` where there are sections. */
export function configTable(schema: ConfigSchema): string {
  const rows = rowsOf(schema, '').map((cells) => `| ${cells.map(escape).join(' | ')} |`);
  return ['| Key | Value | Default | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function rowsOf(schema: ConfigSchema, path: string): readonly (readonly string[])[] {
  return Object.entries(schema).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (isKey(member)) return [[`\`${at}\``, ...cellsOf(member)]];
    if (!isNamed(member)) return rowsOf(member, at);
    return [[`\`${at}.<name>\``, 'a section', '', member.meaning], ...rowsOf(member.sections, `${at}.<name>`)];
  });
}

function cellsOf({ byDefault, isRequired, isSecret, kind, meaning }: ConfigKey<unknown>): readonly string[] {
  const value = isSecret ? `${kind.name}; secret` : kind.name;
  if (isRequired) return [value, 'needed', meaning];
  return [value, byDefault === undefined || isSecret ? '' : `\`${JSON.stringify(byDefault)}\``, meaning];
}

function escape(cell: string): string {
  return cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}
